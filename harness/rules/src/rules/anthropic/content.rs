//! The second phase, first half: emptiness, system messages, and which role may hold which block.

use super::super::Rule;
use super::super::violation::{Breach, Breaches};
use super::block::{Block, Kind, Role, Text};
use super::table::*;
use super::turns::{Seen, Turn};

/// Checks a block by itself, and under its role.
pub(super) fn check_block(role: Role, block: &Block, out: &mut Breaches) {
    let n = block.place.message;
    let breach = || Breach::at(block.place.pointer()).with("n", n);
    let text = match (role, block.kind) {
        (Role::System, kind) => return check_system_block(n, kind, block, out),
        (Role::User, Kind::ToolUse) => return out.add(&TOOL_USE_OUTSIDE_ASSISTANT, breach),
        (Role::Assistant, Kind::ToolResult) => return out.add(&TOOL_RESULT_OUTSIDE_USER, breach),
        (_, Kind::Text(text)) => text,
        _ => return,
    };
    match text {
        Text::Empty => out.add(&TEXT_EMPTY, breach),
        // Clients replace an empty string by one space to get it accepted, so the plain form is contested.
        Text::Blank if block.place.is_written_out() => out.add(&TEXT_BLANK, breach),
        Text::Blank => out.warn(&TEXT_BLANK, breach),
        Text::Ragged | Text::Plain => {}
    }
}

/// Checks that a system message says something.
pub(super) fn check_system_message(n: usize, n_blocks: usize, out: &mut Breaches) {
    if n_blocks == 0 {
        at_message(out, &SYSTEM_MESSAGE_CONTENT, n);
    }
}

/// Checks that a turn is not empty, that the user speaks first, and where system messages stand.
pub(super) fn check_turn(turn: &Turn, before: Option<&Turn>, next: Option<Role>, out: &mut Breaches) {
    let n = turn.first;
    match turn.role {
        // The whole run is judged: `[user: [], user: "ping"]` is accepted.
        Role::User if turn.ends.is_none() => at_message(out, &USER_MESSAGE_EMPTY, n),
        Role::Assistant if turn.ends.is_none() && next.is_some() => {
            at_message(out, &ASSISTANT_MESSAGE_EMPTY, n);
        }
        Role::System => check_system_turn(n, before, next, out),
        _ => {}
    }
    if turn.role == Role::Assistant && before.is_none() {
        at_message(out, &FIRST_MESSAGE_NOT_USER, n);
    }
}

fn check_system_turn(n: usize, before: Option<&Turn>, next: Option<Role>, out: &mut Breaches) {
    if n == 0 {
        at_message(out, &SYSTEM_MESSAGE_FIRST, n);
    } else if before.is_some_and(|turn| !may_precede_system(turn)) {
        at_message(out, &SYSTEM_MESSAGE_NOT_AFTER_USER, n);
    }
    if next.is_some_and(|role| role != Role::Assistant) {
        at_message(out, &SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT, n);
    }
}

fn may_precede_system(turn: &Turn) -> bool {
    match turn.role {
        Role::User | Role::Unknown => true,
        Role::Assistant => {
            matches!(turn.last_block(), Some(Seen { kind: Kind::ServerResult | Kind::Other, .. }))
        }
        Role::System | Role::Directive => false,
    }
}

fn check_system_block(n: u32, kind: Kind, block: &Block, out: &mut Breaches) {
    let form = match kind {
        Kind::Text(Text::Empty | Text::Blank) => 1,
        Kind::Text(_) | Kind::Other => return,
        _ => 2,
    };
    out.add(&SYSTEM_MESSAGE_CONTENT, || Breach::at(block.place.pointer()).form(form).with("n", n));
}

fn at_message(out: &mut Breaches, rule: &'static Rule, n: usize) {
    out.add(rule, || Breach::at(format!("/messages/{n}")).with("n", n));
}
