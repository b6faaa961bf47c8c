//! Anthropic Messages: the rules, and the order in which they are checked.
//!
//! A live measurement of August 2026 found that one error is returned, and that the types of known fields are
//! checked before the shape of the conversation. The order inside the second phase is not published; ours is
//! messages, system messages, roles of blocks, ids, pairing, thinking, and the final message.

mod content;
mod ending;
mod history;
mod pairing;
mod schema;
mod table;

use super::profile::AnthropicSwitches;
use super::violation::{Breach, Breaches};
use crate::json::Json;
use history::History;

pub(super) use table::*;

/// Checks a parsed body.
pub(super) fn check(switches: &AnthropicSwitches, body: &Json, out: &mut Breaches) {
    let Some(messages) = schema::messages(body, out) else { return };
    schema::check_messages(switches, messages, out);
    schema::check_tools(body, out);

    let history = History::read(messages);
    content::check_messages(&history, out);
    content::check_system_messages(&history, out);
    content::check_block_roles(&history, out);
    pairing::check_ids(&history, out);
    pairing::check_calls(&history, out);
    pairing::check_results(&history, out);
    ending::check_thinking(body, &history, out);
    ending::check_final_message(switches, body, &history, out);
}

/// Refuses a body that is not JSON.
///
/// "The request body is not valid JSON: no low surrogate in string: line 1 column 604829 (char 604828)"
/// (<https://github.com/anthropics/claude-code/issues/8165>). The reason before the position is our parser's.
pub(super) fn refuse_unreadable(body: &[u8], error: &serde_json::Error, out: &mut Breaches) {
    let (line, column) = (error.line(), error.column());
    let before: usize =
        body.split(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(|l| l.len() + 1).sum();
    let position = (before + column).saturating_sub(1);
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    out.add(&BODY_NOT_JSON, || {
        Breach::at(
            String::new(),
            format!(
                "The request body is not valid JSON: {reason}: line {line} column {column} (char {position})"
            ),
        )
    });
}
