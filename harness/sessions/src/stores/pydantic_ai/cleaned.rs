//! What pydantic-ai 2.x makes of a history before it sends it.
//!
//! Read in pydantic-ai-slim 2.68.0 (<https://pypi.org/project/pydantic-ai-slim/2.68.0/>): `_clean_message_history` in
//! `messages.py`, and `_repair_interrupted_tail` in `_agent_graph.py`.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Call, CallResult, Role};
use serde_json::json;

use super::send::is_object;
use crate::{Block, Ending, Message, Session};

/// `INTERRUPTED_TOOL_RETURN_CONTENT`.
const INTERRUPTED: &str = "The tool call was interrupted before a result was produced.";

const DROPS: &str = "leaves out results without a call";
const FILLS: &str = "fills calls without a result";
const KEEPS: &str = "sends arguments that are no JSON object in one";

/// The messages, and what was changed.
pub(super) fn cleaned(session: &Session) -> (Vec<Message>, Vec<(&'static str, usize)>) {
    let (mut messages, n_dropped) = without_orphans(&session.messages);
    let n_filled = fill(&mut messages);
    let n_kept = wrap_arguments(&mut messages);
    let mended = [(DROPS, n_dropped), (FILLS, n_filled), (KEEPS, n_kept)];
    (messages, mended.into_iter().filter(|(_, n)| *n > 0).collect())
}

/// `_drop_orphaned_tool_results`: without the results whose call does not stand before them.
fn without_orphans(messages: &[Message]) -> (Vec<Message>, usize) {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut n_dropped = 0;
    let mut kept = Vec::with_capacity(messages.len());
    for message in messages {
        called.extend(message.calls().map(|call| call.id.as_str()));
        let is_kept = |block: &&Block| match &block.content {
            Content::Result(result) => called.contains(result.call.as_str()),
            _ => true,
        };
        let blocks: Vec<Block> = message.blocks.iter().filter(is_kept).cloned().collect();
        let n = message.blocks.len() - blocks.len();
        n_dropped += n;
        if n == 0 || !blocks.is_empty() {
            kept.push(Message { blocks, ..message.clone() });
        }
    }
    (kept, n_dropped)
}

/// `_repair_dangling_tool_calls`: a result for each call that none answers, but for those of the last response. Those
/// too where what stands last was interrupted.
fn fill(messages: &mut Vec<Message>) -> usize {
    let mut dangling = dangling(messages);
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    let is_interrupted = messages.last().is_some_and(|last| last.ending == Ending::Aborted);
    if let Some(last) = last.filter(|_| !is_interrupted) {
        dangling.remove(&last);
    }
    let n_filled = dangling.values().map(Vec::len).sum();
    // From the end, so that the places before stay.
    for (at, blocks) in dangling.into_iter().rev() {
        let results: Vec<Block> =
            blocks.into_iter().filter_map(|n| interrupted(&messages[at].blocks[n])).collect();
        let tools = messages[at + 1..].iter().take_while(|message| message.role == Role::Tool).count();
        match tools {
            0 => {
                let place = messages[at].place.clone();
                let message =
                    Message { role: Role::Tool, blocks: results, id: None, place, ending: Ending::Whole };
                messages.insert(at + 1, message);
            }
            n => messages[at + n].blocks.extend(results),
        }
    }
    n_filled
}

/// The calls that no later result answers, as message and block. A result answers the oldest open call of its id; a call
/// with the id of an earlier one closes that.
fn dangling(messages: &[Message]) -> BTreeMap<usize, Vec<usize>> {
    let mut open: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    let mut dangling: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (n, block) in message.blocks.iter().enumerate() {
            match &block.content {
                Content::Call(call) => {
                    let same = open.entry(&call.id).or_default();
                    if same.last().is_some_and(|(before, _)| *before != at) {
                        same.drain(..).for_each(|(at, n)| dangling.entry(at).or_default().push(n));
                    }
                    same.push((at, n));
                }
                Content::Result(result) => {
                    if let Some(same) = open.get_mut(result.call.as_str()).filter(|same| !same.is_empty()) {
                        same.remove(0);
                    }
                }
                _ => {}
            }
        }
    }
    open.into_values().flatten().for_each(|(at, n)| dangling.entry(at).or_default().push(n));
    dangling.values_mut().for_each(|blocks| blocks.sort_unstable());
    dangling
}

/// The result that stands for a call that was interrupted.
fn interrupted(block: &Block) -> Option<Block> {
    let Content::Call(Call { id, name, .. }) = &block.content else { return None };
    let output = vec![Content::Text(INTERRUPTED.to_owned())];
    let result = CallResult { call: id.clone(), name: name.clone(), output, is_error: true };
    Some(Block { place: block.place.clone(), content: Content::Result(result), state: None })
}

/// `ToolCallPart.args_as_dict`: arguments that are no object stand in one, under `INVALID_JSON`.
fn wrap_arguments(messages: &mut [Message]) -> usize {
    let mut n_kept = 0;
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Content::Call(call) = &mut block.content
            && !is_object(&call.arguments)
        {
            call.arguments = json!({ "INVALID_JSON": call.arguments }).to_string();
            n_kept += 1;
        }
    }
    n_kept
}
