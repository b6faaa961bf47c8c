//! The second phase, second half: every call is answered once, directly after, and every answer has its call.
//!
//! Only client tools are paired. The provider runs server tools itself, and their results stand in the same turn.

use std::collections::{HashMap, HashSet};

use super::super::violation::{Breach, Breaches};
use super::history::{Block, History, Kind, Role, Turn};
use super::table::*;

/// Checks that no two calls have the same id.
pub(super) fn check_ids(history: &History, out: &mut Breaches) {
    let mut last_turn_of = HashMap::new();
    for (t, turn) in history.turns.iter().enumerate() {
        for (block, id) in calls(history, turn) {
            let breach =
                || Breach::at(block.pointer(), format!("{}: `tool_use` ids must be unique", block.path()));
            match last_turn_of.insert(id, t) {
                None => {}
                Some(earlier) if earlier == t => out.add(&TOOL_USE_ID_DUPLICATE, breach),
                Some(_) => out.add(&TOOL_USE_ID_REUSED, breach),
            }
        }
    }
}

/// Checks that every call is answered at the beginning of the next turn, and that nothing follows the calls.
pub(super) fn check_calls(history: &History, out: &mut Breaches) {
    for (t, turn) in history.turns.iter().enumerate() {
        let calls: Vec<_> = calls(history, turn).collect();
        if calls.is_empty() {
            continue;
        }
        check_answers(history, &calls, history.turns.get(t + 1), out);
        check_nothing_follows(history.blocks_of(turn), out);
    }
}

/// Checks that every result answers a call of the turn before, and that no call has two.
pub(super) fn check_results(history: &History, out: &mut Breaches) {
    for turn in history.turns.iter().filter(|turn| turn.role == Role::User) {
        let mut answered = HashSet::new();
        for (block, id) in results(history.blocks_of(turn)) {
            if !answered.insert(id) {
                out.add(&TOOL_RESULT_DUPLICATE, || {
                    let path = block.path();
                    Breach::at(
                        block.pointer(),
                        format!(
                            "{path}: each tool_use must have a single result. Found multiple `tool_result` blocks \
                             with id: {id}"
                        ),
                    )
                });
            }
        }
    }
    for (t, turn) in history.turns.iter().enumerate().filter(|(_, turn)| turn.role == Role::User) {
        if results(history.blocks_of(turn)).next().is_none() {
            continue;
        }
        let asked: HashSet<_> = match t.checked_sub(1) {
            Some(previous) => calls(history, &history.turns[previous]).map(|(_, id)| id).collect(),
            None => HashSet::new(),
        };
        for (block, id) in results(history.blocks_of(turn)).filter(|(_, id)| !asked.contains(id)) {
            out.add(&TOOL_RESULT_ORPHAN, || {
                let path = block.path();
                Breach::at(
                    block.pointer(),
                    format!(
                        "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
                         block must have a corresponding `tool_use` block in the previous message."
                    ),
                )
            });
        }
    }
}

fn check_answers(history: &History, calls: &[(&Block, &str)], next: Option<&Turn>, out: &mut Breaches) {
    let answers = match next {
        Some(turn) if turn.role == Role::User => history.blocks_of(turn),
        _ => &[],
    };
    let n_leading = answers.iter().take_while(|block| matches!(block.kind, Kind::ToolResult(_))).count();
    let (leading, rest) = answers.split_at(n_leading);
    let in_place: HashSet<_> = results(leading).map(|(_, id)| id).collect();
    let missing: Vec<_> = calls.iter().filter(|(_, id)| !in_place.contains(id)).collect();
    let Some((first, _)) = missing.first() else { return };

    let too_late: HashSet<_> = results(rest).map(|(_, id)| id).collect();
    let rule = match missing.iter().all(|(_, id)| too_late.contains(id)) {
        true => &TOOL_RESULT_NOT_FIRST,
        false => &TOOL_RESULT_MISSING,
    };
    out.add(rule, || unanswered(first.message, first.pointer(), missing.iter().map(|(_, id)| *id)));
}

/// Text and attachments may not follow a call. Thinking and server tools may: interleaved thinking and mixed
/// replies put them there.
fn check_nothing_follows(blocks: &[Block], out: &mut Breaches) {
    let mut run = Vec::new();
    for block in blocks {
        match block.kind {
            Kind::ToolUse(id) => run.extend(id),
            Kind::Text(_) | Kind::Attachment if !run.is_empty() => {
                let ids = std::mem::take(&mut run);
                out.add(&TEXT_AFTER_TOOL_USE, || unanswered(block.message, block.pointer(), ids.into_iter()));
            }
            _ => {}
        }
    }
}

/// The sentence that three rules share.
fn unanswered<'a>(n: usize, pointer: String, ids: impl Iterator<Item = &'a str>) -> Breach {
    let ids = ids.collect::<Vec<_>>().join(", ");
    Breach::at(
        pointer,
        format!(
            "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message."
        ),
    )
}

/// The calls of an assistant turn, with their ids.
fn calls<'h, 'a>(history: &'h History<'a>, turn: &Turn) -> impl Iterator<Item = (&'h Block<'a>, &'a str)> {
    let blocks = match turn.role {
        Role::Assistant => history.blocks_of(turn),
        _ => &[],
    };
    blocks.iter().filter_map(|block| match block.kind {
        Kind::ToolUse(Some(id)) => Some((block, id)),
        _ => None,
    })
}

/// The results among some blocks, with the ids that they answer.
fn results<'h, 'a>(blocks: &'h [Block<'a>]) -> impl Iterator<Item = (&'h Block<'a>, &'a str)> {
    blocks.iter().filter_map(|block| match block.kind {
        Kind::ToolResult(Some(id)) => Some((block, id)),
        _ => None,
    })
}
