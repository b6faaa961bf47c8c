//! The second phase, first half: emptiness, system messages, and which role may hold which block.

use super::super::Rule;
use super::super::violation::{Breach, Breaches};
use super::history::{Block, History, Kind, Role, Turn};
use super::table::*;

/// Checks that texts and turns are not empty, and that the user speaks first.
pub(super) fn check_messages(history: &History, out: &mut Breaches) {
    for block in &history.blocks {
        if history.messages[block.message].role != Role::System {
            check_text(block, out);
        }
    }
    for (t, turn) in history.turns.iter().enumerate() {
        let is_last = t + 1 == history.turns.len();
        let n = turn.first;
        match turn.role {
            // The prefix of the whole run is judged: `[user: [], user: "ping"]` is accepted.
            Role::User if turn.blocks.is_empty() => at_message(out, &USER_MESSAGE_EMPTY, n, || {
                format!("messages.{n}: user messages must have non-empty content")
            }),
            Role::Assistant if turn.blocks.is_empty() && !is_last => {
                at_message(out, &ASSISTANT_MESSAGE_EMPTY, n, || {
                    format!(
                        "messages.{n}: all messages must have non-empty content except for the optional final \
                         assistant message"
                    )
                })
            }
            _ => {}
        }
    }
    if let Some(Turn { role: Role::Assistant, first, .. }) = history.turns.first() {
        at_message(out, &FIRST_MESSAGE_NOT_USER, *first, || {
            "messages: first message must use the \"user\" role".to_owned()
        });
    }
}

/// Checks where system messages stand and what they hold.
pub(super) fn check_system_messages(history: &History, out: &mut Breaches) {
    for (t, turn) in history.turns.iter().enumerate() {
        if turn.role != Role::System {
            continue;
        }
        let n = turn.first;
        let previous = t.checked_sub(1).map(|t| &history.turns[t]);
        let next = history.turns.get(t + 1);
        if n == 0 {
            at_message(out, &SYSTEM_MESSAGE_FIRST, n, || {
                format!(
                    "messages.{n}: use the top-level 'system' parameter for the initial system prompt; {DIRECTIVE}"
                )
            });
        } else if previous.is_some_and(|turn| !may_precede_system(history, turn)) {
            at_message(out, &SYSTEM_MESSAGE_NOT_AFTER_USER, n, || {
                "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
                    .to_owned()
            });
        }
        if next.is_some_and(|turn| turn.role != Role::Assistant) {
            at_message(out, &SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT, n, || {
                format!(
                    "messages.{n}: role 'system' must precede an 'assistant' message or end the array; {DIRECTIVE}"
                )
            });
        }
    }
    for (n, message) in history.messages.iter().enumerate() {
        if message.role == Role::System {
            check_system_content(n, &history.blocks[message.blocks.clone()], out);
        }
    }
}

/// Checks that calls stand in assistant messages and results in user messages.
pub(super) fn check_block_roles(history: &History, out: &mut Breaches) {
    for block in &history.blocks {
        let (rule, kind, role) = match (block.kind, history.messages[block.message].role) {
            (Kind::ToolUse(_), Role::User) => (&TOOL_USE_OUTSIDE_ASSISTANT, "tool_use", "assistant"),
            (Kind::ToolResult(_), Role::Assistant) => (&TOOL_RESULT_OUTSIDE_USER, "tool_result", "user"),
            _ => continue,
        };
        out.add(rule, || {
            let n = block.message;
            Breach::at(
                block.pointer(),
                format!("messages.{n}: `{kind}` blocks can only be in `{role}` messages"),
            )
        });
    }
}

/// The end of two of the sentences about system messages.
const DIRECTIVE: &str =
    "the directive-only form (content: [] with output_config) is accepted at any position";

fn check_text(block: &Block, out: &mut Breaches) {
    let Kind::Text(text) = block.kind else { return };
    if text.is_empty() {
        out.add(&TEXT_EMPTY, || {
            Breach::at(block.pointer(), "messages: text content blocks must be non-empty".to_owned())
        });
    } else if text.trim().is_empty() {
        let breach = || {
            Breach::at(
                block.pointer(),
                "messages: text content blocks must contain non-whitespace text".to_owned(),
            )
        };
        // Clients replace an empty string by one space to get it accepted, so the plain form is contested.
        match block.is_written_out() {
            true => out.add(&TEXT_BLANK, breach),
            false => out.warn(&TEXT_BLANK, breach),
        }
    }
}

fn may_precede_system(history: &History, turn: &Turn) -> bool {
    match turn.role {
        Role::User | Role::Unknown => true,
        Role::Assistant => {
            matches!(
                history.blocks_of(turn).last(),
                Some(Block { kind: Kind::ServerResult | Kind::Other, .. })
            )
        }
        Role::System | Role::Directive => false,
    }
}

fn check_system_content(n: usize, blocks: &[Block], out: &mut Breaches) {
    if blocks.is_empty() {
        at_message(out, &SYSTEM_MESSAGE_CONTENT, n, || {
            format!("messages.{n}: system content must contain at least one block")
        });
    }
    for block in blocks {
        let complaint = match block.kind {
            Kind::Text(text) if text.trim().is_empty() => {
                "system text blocks must contain non-whitespace text"
            }
            Kind::Text(_) | Kind::Other => continue,
            _ => "role 'system' supports text, tool_addition and tool_removal blocks only",
        };
        out.add(&SYSTEM_MESSAGE_CONTENT, || {
            Breach::at(block.pointer(), format!("messages.{n}: {complaint}"))
        });
    }
}

fn at_message(out: &mut Breaches, rule: &'static Rule, n: usize, message: impl FnOnce() -> String) {
    out.add(rule, || Breach::at(format!("/messages/{n}"), message()));
}
