//! Every call is answered by a tool message directly after, and every tool message has its call.

use std::collections::{HashMap, HashSet};

use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Role, calls};
use crate::json::Json;

/// Checks the pairing, in the order of the conversation.
pub(super) fn check(messages: &[Json], out: &mut Breaches) {
    let mut n = 0;
    while let Some(message) = messages.get(n) {
        let calls = calls(message);
        let after = n + 1;
        match Role::of(message) {
            Some(Role::Assistant) if !calls.is_empty() => {
                let is_tool = |message: &&Json| Role::of(message) == Some(Role::Tool);
                let n_answers = messages[after..].iter().take_while(is_tool).count();
                check_batch(Batch { n, calls, answers: &messages[after..after + n_answers] }, out);
                n = after + n_answers;
            }
            Some(Role::Tool) => {
                out.add(&TOOL_MESSAGE_ORPHAN, || {
                    Breach::at(
                        format!("/messages/{n}"),
                        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message \
                         with 'tool_calls'."
                            .to_owned(),
                    )
                    .param(format!("messages.[{n}].role"))
                });
                n = after;
            }
            _ => n = after,
        }
    }
}

/// An assistant message with calls, and the run of tool messages directly after it.
struct Batch<'a> {
    n: usize,
    calls: &'a [Json<'a>],
    answers: &'a [Json<'a>],
}

fn check_batch(batch: Batch, out: &mut Breaches) {
    let mut asked = HashSet::new();
    for (k, call) in batch.calls.iter().enumerate() {
        let Some(id) = call.get("id").and_then(Json::as_str) else { continue };
        if !asked.insert(id) {
            refuse_duplicate_call(batch.n, k, id, out);
        }
    }
    let mut answered = HashMap::new();
    for (index, answer) in batch.answers.iter().enumerate() {
        let n = batch.n + 1 + index;
        let Some(id) = answer.get("tool_call_id").and_then(Json::as_str) else { continue };
        if !asked.contains(id) {
            refuse_unknown_id(n, id, out);
        } else if let Some(first) = answered.insert(id, n) {
            refuse_duplicate_answer(first, n, id, out);
        }
    }
    check_all_answered(&batch, &answered, out);
}

fn check_all_answered(batch: &Batch, answered: &HashMap<&str, usize>, out: &mut Breaches) {
    let mut seen = HashSet::new();
    let missing: Vec<_> = batch
        .calls
        .iter()
        .enumerate()
        .filter_map(|(k, call)| Some((k, call.get("id")?.as_str()?)))
        .filter(|(_, id)| !answered.contains_key(id) && seen.insert(*id))
        .collect();
    let Some((first, _)) = missing.first() else { return };
    // The provider names the message that stands where an answer should; at the end it is the one to come.
    let place = batch.n + 1 + batch.answers.len();
    out.add(&TOOL_MESSAGE_MISSING, || {
        let ids = missing.iter().map(|(_, id)| *id).collect::<Vec<_>>().join(", ");
        Breach::at(
            format!("/messages/{}/tool_calls/{first}", batch.n),
            format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
            ),
        )
        .param(format!("messages.[{place}].role"))
    });
}

fn refuse_duplicate_call(n: usize, k: usize, id: &str, out: &mut Breaches) {
    out.add(&TOOL_CALL_ID_DUPLICATE, || {
        Breach::at(
            format!("/messages/{n}/tool_calls/{k}/id"),
            format!("Duplicate value for 'tool_call_id' of {id} in message[{n}]"),
        )
        .param(format!("messages.[{n}].tool_calls"))
    });
}

fn refuse_unknown_id(n: usize, id: &str, out: &mut Breaches) {
    out.add(&TOOL_MESSAGE_UNKNOWN_ID, || {
        Breach::at(
            format!("/messages/{n}/tool_call_id"),
            format!(
                "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
            ),
        )
        .param(format!("messages.[{n}].tool_call_id"))
    });
}

fn refuse_duplicate_answer(first: usize, n: usize, id: &str, out: &mut Breaches) {
    out.add(&TOOL_MESSAGE_DUPLICATE, || {
        Breach::at(
            format!("/messages/{n}/tool_call_id"),
            format!(
                "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and \
                 messages[{n}]."
            ),
        )
        .param(format!("messages.[{n}].tool_call_id"))
    });
}
