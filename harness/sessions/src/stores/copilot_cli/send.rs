//! Copilot CLI's send model, as far as it is known.
//!
//! A file with an unreadable line is not resumed: `Session file is corrupted`
//! (<https://github.com/github/copilot-cli/issues/2012>). Calls without a result were sent unchanged
//! (<https://github.com/github/copilot-cli/issues/3366>). Since July 2026, releases recover interrupted calls
//! and reorder late results (<https://github.com/github/copilot-cli/issues/3183>, comment of 2026-07-31). The
//! first such release is not documented. The model assumes the first one after 1.0.71, of 2026-07-12.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{self, Role};

use super::lines::parsed;
use crate::{Block, Ending, Message, Sent, Session};

const LAST_WITHOUT_RECOVERY: [u64; 3] = [1, 0, 71];

/// Returns whether a version recovers interrupted calls.
pub(super) fn recovers(version: Option<&str>) -> bool {
    version.and_then(parsed).is_some_and(|version| version > LAST_WITHOUT_RECOVERY)
}

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    if let Some(trouble) = session.troubles.first() {
        sent.gives_up =
            Some((format!("Session file is corrupted ({})", trouble.place), trouble.place.clone()));
    }
    if recovers(session.version.as_deref()) {
        recover(&mut sent);
    }
    sent
}

/// Moves the first result of each call behind the call, fills missing results, and leaves out results without
/// a call.
fn recover(sent: &mut Sent) {
    let mut results: BTreeMap<String, Block> = BTreeMap::new();
    for block in sent.messages.iter().flat_map(|message| &message.blocks) {
        if let histories::Block::Result(result) = &block.content {
            results.entry(result.call.clone()).or_insert_with(|| block.clone());
        }
    }
    let before = std::mem::take(&mut sent.messages);
    let mut answered = BTreeSet::new();
    let mut n_filled = 0;
    for message in before.iter().filter(|message| message.role != Role::Tool) {
        sent.messages.push(message.clone());
        let calls = message.blocks.iter().filter_map(|block| match &block.content {
            histories::Block::Call(call) if answered.insert(call.id.clone()) => Some((call, &block.place)),
            _ => None,
        });
        let blocks: Vec<Block> = calls
            .map(|(call, place)| {
                results.remove(&call.id).unwrap_or_else(|| {
                    n_filled += 1;
                    let content = histories::Block::Result(call.failed(crate::NOT_RECORDED));
                    Block { place: place.clone(), content, state: None }
                })
            })
            .collect();
        if let Some(first) = blocks.first() {
            let place = first.place.clone();
            sent.messages.push(Message { role: Role::Tool, blocks, id: None, place, ending: Ending::Whole });
        }
    }
    if n_filled > 0 {
        sent.mended.push(("recovers interrupted calls", n_filled));
    }
}
