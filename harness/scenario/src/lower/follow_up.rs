//! The turns that the harness adds to see whether the thread survives the faults.

use crate::plan::{PlannedAction, PlannedCall, PlannedReply, PlannedTurn, Script};

use super::fragments::fragments;
use brickbat_rules::dialect::Dialect;

/// The number of turns that follow the last one in which something goes wrong: a thread that fails twice is
/// permanently bricked, and a thread that fails once has recovered.
const AFTER_ACTIONS: usize = 2;

/// The number of trouble-free turns that the harness adds to a scenario.
const WHEN_PLAIN: usize = 1;

/// The user's messages and the model's answers.
const SAID: [(&str, &str); 3] = [
    ("Go on.", "There is nothing left to do."),
    ("Anything else?", "No, that was all."),
    ("Are you sure?", "Yes, quite sure."),
];

/// Adds the missing turns. `calls` are the plan's calls.
pub(super) fn append(turns: &mut Vec<PlannedTurn>, calls: &[PlannedCall]) {
    let says_wrongly = |turn: &PlannedTurn| {
        let mut scripts = turn.replies.iter().flat_map(|reply| &reply.attempts);
        scripts.any(|script| script.is_wrong(calls))
    };
    let hands_over = |turn: &PlannedTurn| {
        let mut scripts = turn.replies.iter().flat_map(|reply| &reply.attempts);
        scripts.any(|script| script.hands_over(calls))
    };
    let is_wrong = |turn: &PlannedTurn| !turn.actions.is_empty() || says_wrongly(turn) || hands_over(turn);
    let missing = match turns.iter().rposition(is_wrong) {
        Some(last) => {
            // If everything happens before the turn, the turn itself already shows the consequences.
            let is_before = turns[last].actions.iter().all(PlannedAction::is_between_turns)
                && !says_wrongly(&turns[last])
                && !hands_over(&turns[last]);
            AFTER_ACTIONS.saturating_sub(turns.len() - 1 - last + usize::from(is_before))
        }
        None => WHEN_PLAIN,
    };
    let mut added = 0;
    let mut round = 0;
    while added < missing {
        let (user, answer) = SAID[round % SAID.len()];
        // Authors rarely use the same messages; if they do, a number distinguishes them.
        let lap = round / SAID.len();
        let user = if lap == 0 { user.to_owned() } else { format!("{user} ({lap})") };
        round += 1;
        if turns.iter().any(|turn| turn.user == user) {
            continue;
        }
        let dialect = turns.last().and_then(|last| last.dialect);
        turns.push(turn(user, dialect, answer));
        added += 1;
    }
}

fn turn(user: String, dialect: Option<Dialect>, answer: &str) -> PlannedTurn {
    let script = Script::saying(fragments(answer));
    PlannedTurn {
        dialect,
        follow_up: true,
        ..PlannedTurn::new(user, vec![PlannedReply { attempts: vec![script] }])
    }
}
