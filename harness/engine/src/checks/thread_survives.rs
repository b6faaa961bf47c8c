//! Does the thread survive?

use super::*;
use brickbat_scenario::plan::PlannedTurn;
use brickbat_scenario::scenario::Stop;

pub(super) const CHECK: Check = Check {
    id: "thread-survives",
    summary: "every request of the thread is accepted, and every later turn works",
    level: Level::L0,
    invariants: &[1, 3, 4, 6, 8, 11, 12, 13, 16, 22, 23, 24],
    severity: Severity::BrickedByClient,
    applies: |_| true,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    if given::is_broken(evidence.plan) { Vec::new() } else { failures(evidence, &CHECK) }
}

/// Every way in which a thread does not go on, as findings of a check.
pub(super) fn failures(evidence: &Evidence<'_>, check: &Check) -> Vec<Finding> {
    let found = [refused(evidence, check), raised(evidence, check), idle(evidence, check)];
    found.into_iter().flatten().collect()
}

/// Whether nothing goes wrong in a turn, seen from the system's side. What happened before it is over. A reply that is
/// cut short by its provider may end a turn as an error does.
fn is_quiet(turn: &PlannedTurn) -> bool {
    let cut = |script: &Script| matches!(script.stop, Some(Stop::Length | Stop::Pause | Stop::Refusal));
    let is_harmless = |action: &PlannedAction| {
        action.is_between_turns() || action.what.is_harmless() || action.what.changes_history()
    };
    let mut scripts = turn.replies.iter().flat_map(|reply| &reply.attempts);
    !scripts.any(cut) && turn.actions.iter().all(is_harmless)
}

/// A turn in which nothing goes wrong returned, but the model was never asked, or tools never ran.
fn idle(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let served = |turn: usize, reply: usize| {
        evidence.requests.iter().any(|request| {
            matches!(request.kind, RequestKind::Scripted { turn: t, reply: r, .. } if (t, r) == (turn, reply))
        })
    };
    // Where a tool fails, or cannot be run, a system may end the turn early; where all succeed, and the provider says
    // what it means, it has no reason to.
    let is_whole = |turn: usize| {
        let mut replies = evidence.plan.turns[turn].replies.iter().flat_map(|reply| &reply.attempts);
        let is_told = replies.all(|script| script.stop.is_none());
        let mut calls = evidence.plan.calls.iter().filter(|call| call.turn == turn && !call.given);
        evidence.plan.id.control
            || (is_told && !evidence.was_stopped(turn) && calls.all(|call| call.outcome.is_success()))
    };
    let returned = evidence.outcomes().filter(|(_, outcome)| **outcome == TurnOutcome::Returned);
    let missing = |turn: usize| -> Option<String> {
        let planned = &evidence.plan.turns[turn];
        let n_replies = if is_whole(turn) { planned.replies.len() } else { 1 };
        if let Some(reply) = (0..n_replies).find(|reply| !served(turn, *reply)) {
            return Some(format!("reply {} was never asked for", reply + 1));
        }
        let mut idle = evidence
            .calls()
            .filter(|(call, account)| call.turn == turn && !call.given && account.settled.is_none());
        idle.next()
            .filter(|_| is_whole(turn))
            .map(|(call, _)| format!("call {} never ran to its end", call.name))
    };
    let quiet = returned.filter(|(turn, _)| is_quiet(&evidence.plan.turns[*turn]));
    let (turn, message) = quiet.filter_map(|(turn, _)| Some((turn, missing(turn)?))).next()?;
    Some(Finding {
        message,
        expected: "a turn that works".to_owned(),
        got: "the turn returned".to_owned(),
        ..check.finding(in_turn(turn))
    })
}

fn refused(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let request = evidence.requests.iter().find(|request| request.refusal.is_some())?;
    let refusal = request.refusal.as_ref()?;
    let last = evidence.requests.iter().rev().find(|request| request.kind != RequestKind::Auxiliary);
    let last_refused = last.is_some_and(|last| last.refusal.is_some());
    Some(Finding {
        harm: Severity::BrickedByProvider,
        permanence: Some(permanence(last_refused)),
        message: refusal.message.clone(),
        rule: Some(refusal.rule),
        expected: "a request that the provider accepts".to_owned(),
        got: format!("status {} for {}", refusal.status, evidence.shape(request)),
        ..check.finding(request.place(&refusal.pointer))
    })
}

/// A turn in which nothing goes wrong, and whose requests were all accepted, ended badly all the same.
fn raised(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let bad = |turn: usize, outcome: &TurnOutcome| {
        let quiet = is_quiet(&evidence.plan.turns[turn]) && !evidence.was_stopped(turn);
        let refused =
            evidence.requests.iter().any(|request| request.turn == turn && request.refusal.is_some());
        quiet && !refused && *outcome != TurnOutcome::Returned
    };
    let (turn, outcome) = evidence.outcomes().find(|(turn, outcome)| bad(*turn, outcome))?;
    let last = evidence.plan.turns.len() - 1;
    let last_bad = evidence.outcomes().any(|(turn, outcome)| turn == last && bad(turn, outcome));
    let n_requests = evidence.requests.iter().filter(|request| request.turn == turn).count();
    let is_sent = |request: &RequestView| request.turn == turn && request.kind != RequestKind::Auxiliary;
    let sent = if evidence.requests.iter().any(is_sent) {
        format!("requests sent: {n_requests}")
    } else {
        "no request was sent".to_owned()
    };
    let (message, got) = match outcome {
        TurnOutcome::Raised { class, text } => (format!("{class}: {text}"), format!("{class}; {sent}")),
        TurnOutcome::Cancelled => ("the turn was given up".to_owned(), format!("cancelled; {sent}")),
        TurnOutcome::Returned => ("the turn returned".to_owned(), sent),
    };
    Some(Finding {
        permanence: Some(permanence(last_bad)),
        message,
        expected: "a turn that works".to_owned(),
        got,
        ..check.finding(in_turn(turn))
    })
}

fn permanence(last_failed: bool) -> Permanence {
    if last_failed { Permanence::Permanent } else { Permanence::Transient }
}
