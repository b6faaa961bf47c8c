//! The cleaning that pydantic-ai 2.x applies to a history before it sends it.
//!
//! Source: pydantic-ai-slim 2.68.0 (<https://pypi.org/project/pydantic-ai-slim/2.68.0/>):
//! `_clean_message_history` in `messages.py`, and `_repair_interrupted_tail` in `_agent_graph.py`.

use brickbat_rules::histories::{Block as Content, Role};
use serde_json::json;

use super::send::is_object;
use crate::stores::pairs;
use crate::{Ending, Message, Session};

/// `INTERRUPTED_TOOL_RETURN_CONTENT`.
const INTERRUPTED: &str = "The tool call was interrupted before a result was produced.";

const DROPS: &str = "leaves out results without a call";
const FILLS: &str = "fills calls without a result";
const KEEPS: &str = "wraps arguments that are not a JSON object in one";

/// The cleaned messages and the count for each change.
pub(super) fn cleaned(session: &Session) -> (Vec<Message>, Vec<(&'static str, usize)>) {
    // `_drop_orphaned_tool_results`.
    let (mut messages, n_dropped) = pairs::without_orphans(&session.messages);
    let n_filled = fill(&mut messages);
    let n_kept = wrap_arguments(&mut messages);
    let mended = [(DROPS, n_dropped), (FILLS, n_filled), (KEEPS, n_kept)];
    (messages, mended.into_iter().filter(|(_, n)| *n > 0).collect())
}

/// `_repair_dangling_tool_calls`: adds a result for each unanswered call. Calls of the last response are left
/// open, unless the last message was interrupted.
fn fill(messages: &mut Vec<Message>) -> usize {
    let mut dangling = pairs::dangling(messages);
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    let is_interrupted = messages.last().is_some_and(|last| last.ending == Ending::Aborted);
    if let Some(last) = last.filter(|_| !is_interrupted) {
        dangling.remove(&last);
    }
    pairs::fill(messages, dangling, INTERRUPTED)
}

/// `ToolCallPart.args_as_dict`: arguments that are not an object are wrapped in one, under `INVALID_JSON`.
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
