//! Ids for calls in stores that give them none.

use std::collections::VecDeque;

use brickbat_rules::histories::{Block as Content, Call};

use crate::Session;

/// The beginning of an id that a call gets here because the file has none for it.
const MADE_UP: &str = "without_id_";

/// True if the file has an id for a call, so that a result can name it.
pub(super) fn has_stored_id(call: &Call) -> bool {
    !call.id.starts_with(MADE_UP)
}

/// Gives an id to each call without one. The results follow in the order of their calls.
pub(super) fn with_ids(session: &mut Session) {
    let mut open: VecDeque<String> = VecDeque::new();
    let mut n = 0;
    for block in session.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match &mut block.content {
            Content::Call(call) if call.id.is_empty() => {
                n += 1;
                call.id = format!("{MADE_UP}{n}");
                open.push_back(call.id.clone());
            }
            Content::Result(result) if result.call.is_empty() => {
                result.call = open.pop_front().unwrap_or_else(|| format!("{MADE_UP}0"));
            }
            _ => {}
        }
    }
}
