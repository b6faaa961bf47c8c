//! Copilot CLI's send model, as far as it is known.
//!
//! Older versions do not resume a file with an unreadable line: `Session file is corrupted`
//! (<https://github.com/github/copilot-cli/issues/2012>). Later ones skip it. Brickbat still judges what can be read of it,
//! which a repair restores. Calls without a result were sent unchanged
//! (<https://github.com/github/copilot-cli/issues/3366>). Later releases recover interrupted calls and reorder late results
//! (<https://github.com/github/copilot-cli/issues/3183>, comment of 2026-07-31). Measured by resuming edited sessions with a
//! provider of the user's: 1.0.44 leaves out results without a call and second results, and 1.0.57 to 1.0.102 also fill and
//! reorder.
//!
//! A reply without text and calls is sent with `content: null` over Chat Completions, and is left out over Responses and
//! Messages: <https://github.com/github/copilot-sdk/issues/2469>, and measured on 1.0.102 with a provider of the user's.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::dialect::Dialect;
use brickbat_rules::histories::{self, Role};

use serde_json::Value;

use super::lines::{SKIPPED, parsed};
use crate::clients::{self, Quirk};
use crate::{Block, Ending, Message, Sent, Session};

/// The first version that is known to leave out results.
const FIRST_THAT_LEAVES_OUT: [u64; 3] = [1, 0, 44];
/// The newest version that is known to send interrupted calls unchanged.
const LAST_WITHOUT_RECOVERY: [u64; 3] = [1, 0, 44];

/// Returns whether a version recovers interrupted calls.
pub(super) fn recovers(version: Option<&str>) -> bool {
    version.and_then(parsed).is_some_and(|version| version > LAST_WITHOUT_RECOVERY)
}

fn leaves_out(version: Option<&str>) -> bool {
    version.and_then(parsed).is_some_and(|version| version >= FIRST_THAT_LEAVES_OUT)
}

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    send_empty_replies(session.dialect, &mut sent);
    if let Some(trouble) = session.troubles.iter().find(|trouble| !trouble.words.ends_with(SKIPPED)) {
        sent.gives_up =
            Some((format!("Session file is corrupted ({})", trouble.place), trouble.place.clone()));
    }
    if recovers(session.version.as_deref()) {
        recover(&mut sent);
    } else if leaves_out(session.version.as_deref()) {
        leave_out(&mut sent);
    }
    sent
}

/// Sends a reply without text and calls as null, or leaves it out.
fn send_empty_replies(dialect: Option<Dialect>, sent: &mut Sent) {
    match dialect.filter(|_| clients::of(dialect).have(Quirk::CopilotCliSendsEmptyReplies)) {
        None => sent.messages.retain(|message| !message.blocks.is_empty()),
        Some(dialect) => {
            for message in sent.messages.iter_mut().filter(|message| message.blocks.is_empty()) {
                let content = histories::Block::Native { dialect, value: Value::Null };
                message.blocks.push(Block { place: message.place.clone(), content, state: None });
            }
        }
    }
}

/// Leaves out results without an earlier call, and all but the first result of a call.
fn leave_out(sent: &mut Sent) {
    let mut open: BTreeSet<String> = BTreeSet::new();
    for message in &mut sent.messages {
        message.blocks.retain(|block| match &block.content {
            histories::Block::Call(call) => {
                open.insert(call.id.clone());
                true
            }
            histories::Block::Result(result) => open.remove(&result.call),
            _ => true,
        });
    }
    sent.messages.retain(|message| message.role != Role::Tool || !message.blocks.is_empty());
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
