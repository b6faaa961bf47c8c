//! Every request in the thread is accepted, and every later turn works.
//!
//! A thread is bricked if its last turn fails although nothing goes wrong in that turn. If a turn fails and a
//! later one works, the user loses only the failed turn. A turn may end with an error if one of its tools
//! threw, since some systems pass the error on, or if the model's output was broken: then the turns after it
//! decide. If a tool returned an error, the model must be asked again, so that it reads the error: a turn that
//! returns without that is not over. A failure that is the application's duty is noted as such, because it is not a bricked thread of
//! the system.

use super::*;
use crate::triage::own;
use brickbat_scenario::plan::PlannedTurn;
use brickbat_scenario::scenario::Stop;

pub(super) const CHECK: Check = Check {
    summary: "every request of the thread is accepted, and every later turn works",
    invariants: &[1, 3, 4, 6, 8, 11, 12, 13, 16, 22, 23, 24],
    applies: |_| true,
    find,
    is_about_failure: true,
    ..Check::new("thread-survives", Level::L0, Severity::BrickedByClient)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    // No system can know what its store has lost without an error.
    if given::is_broken(evidence.plan) || evidence.is_store_lossy {
        return Vec::new();
    }
    failures(evidence, &CHECK)
}

/// All failures in a thread, as findings from this check.
pub(super) fn failures(evidence: &Evidence<'_>, check: &Check) -> Vec<Finding> {
    let found = [refused(evidence, check), raised(evidence, check), idle(evidence, check)];
    found.into_iter().flatten().collect()
}

/// Finds a rejected request.
fn refused(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let request = evidence.requests.iter().find(|request| request.refusal.is_some())?;
    let refusal = request.refusal.as_ref()?;
    let refused = evidence.requests.iter().filter(|request| request.refusal.is_some());
    let refused = refused.map(|request| request.exchange);
    let bare = failure(evidence, check, Severity::BrickedByProvider, request.place(&refusal.pointer));
    let bare = bare.of_calls(guilty(request, &refusal.pointer)).resting_on(basis(
        evidence,
        check,
        request,
        &refusal.pointer,
    ));
    Some(Finding {
        message: refusal.message.clone() + &aftermath(evidence, &bare, request.turn),
        rule: Some(refusal.rule),
        expected: "a request that the provider accepts".to_owned(),
        got: format!("status {} for {}", refusal.status, evidence.shape(request)),
        about: About { refused: refused.collect(), ..bare.about },
        ..bare
    })
}

/// The duties on which the acceptance of a request depends: running the tools, and keeping the questions to the user. In
/// a given history, only the part that the system added is the system's.
fn basis(evidence: &Evidence<'_>, check: &Check, request: &RequestView, pointer: &str) -> &'static [Duty] {
    if is_of_another_provider(evidence, request, &guilty(request, pointer)) {
        return &[Duty::Store];
    }
    if given::is_broken(evidence.plan) {
        return if given::has_additions(evidence, request) { &[] } else { check.rests_on };
    }
    if request.unanswered().next().is_none() {
        check.rests_on
    } else if request.unanswered().any(|call| evidence.has_open_question(call.key)) {
        // A complete batch may wait for the answer about one call.
        &[Duty::Loop, Duty::Questions]
    } else if request.unanswered().all(|call| evidence.is_left_to_client(call.key)) {
        &[Duty::Loop, Duty::Client]
    } else {
        &[Duty::Loop]
    }
}

/// Returns whether the provider rejects a stored call because of an id that only another provider accepts. The owner of
/// the store moves the thread to this provider, as stated in vercel/ai#5171.
fn is_of_another_provider(evidence: &Evidence<'_>, request: &RequestView, guilty: &[CallKey]) -> bool {
    let dialect = evidence.plan.dialect_of(request.turn);
    let is_foreign = |call: &PlannedCall| call.given || evidence.plan.dialect_of(call.turn) != dialect;
    let is_refused = |call: &PlannedCall| !(dialect.codec().takes_id)(&call.id);
    guilty.iter().map(|key| evidence.call(*key)).any(|call| is_foreign(call) && is_refused(call))
}

/// The duties that the application left undone before a turn that failed for that reason: a call waits for the
/// user's answer, or for a result of the client.
pub(super) fn left_undone(evidence: &Evidence<'_>, turn: usize) -> &'static [Duty] {
    let basis = basis_of_turn(evidence, &CHECK, turn);
    let is_left = basis.iter().all(|duty| matches!(duty, Duty::Questions | Duty::Client));
    if is_left { basis } else { &[] }
}

/// The duties on which a turn depends, if no request shows why it failed: a call may wait for the user's answer, all open
/// calls may run in the client, or the user may have refused one.
fn basis_of_turn(evidence: &Evidence<'_>, check: &Check, turn: usize) -> &'static [Duty] {
    if given::is_broken(evidence.plan) {
        return check.rests_on;
    }
    let calls = || (0..).map(CallKey).zip(&evidence.plan.calls).filter(|(_, call)| call.turn <= turn);
    let mut open = calls().map(|(key, _)| key).filter(|key| evidence.is_open(*key)).peekable();
    if calls().any(|(key, _)| evidence.has_open_question(key)) {
        &[Duty::Questions]
    } else if open.peek().is_some() && open.all(|key| evidence.is_left_to_client(key)) {
        &[Duty::Client]
    } else if was_refused(evidence, turn) {
        &[Duty::Refusals]
    } else {
        check.rests_on
    }
}

/// True if the user refused a call of a turn.
fn was_refused(evidence: &Evidence<'_>, turn: usize) -> bool {
    let is_it = |event: &Event| matches!(event, Event::Answered { consent: Consent::Refused, .. });
    evidence.events_of(turn).any(is_it)
}

/// The calls that caused a rejection: the one at the pointer, and those without a result.
fn guilty(request: &RequestView, pointer: &str) -> Vec<CallKey> {
    let is_there = |call: &&CallView| {
        pointer
            .strip_prefix(call.pointer.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut calls: Vec<CallKey> = request.unanswered().map(|call| call.key).collect();
    calls.extend(request.calls().filter(is_there).map(|call| call.key));
    calls.sort();
    calls.dedup();
    calls
}

/// Finds a turn that failed although nothing went wrong in it and all its requests were accepted.
fn raised(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let (turn, outcome) = evidence
        .outcomes()
        .find(|(turn, outcome)| ended_badly(evidence, *turn, outcome) && !is_refused_in(evidence, *turn))?;
    let n_requests = evidence.requests.iter().filter(|request| request.turn == turn).count();
    let is_sent = |request: &RequestView| request.turn == turn && request.kind != RequestKind::Auxiliary;
    let sent = if evidence.requests.iter().any(is_sent) {
        format!("requests sent: {n_requests}")
    } else {
        "no request was sent".to_owned()
    };
    // An SDK refers by their ids to calls for which something is missing.
    let named = match outcome {
        TurnOutcome::Raised { text, .. } => called_in(evidence, text),
        TurnOutcome::Cancelled | TurnOutcome::Returned => Vec::new(),
    };
    let (message, got) = match outcome {
        TurnOutcome::Raised { class, text } => (format!("{class}: {text}"), format!("{class}; {sent}")),
        TurnOutcome::Cancelled => ("the turn was given up".to_owned(), format!("cancelled; {sent}")),
        TurnOutcome::Returned => ("the turn returned".to_owned(), sent),
    };
    let lasting = match is_of_provider(evidence, turn) {
        true => Severity::BrickedByProvider,
        false => Severity::BrickedByClient,
    };
    let bare = failure(evidence, check, lasting, in_turn(turn));
    let bare = bare.of_calls(named).resting_on(basis_of_turn(evidence, check, turn));
    Some(Finding {
        message: message + &aftermath(evidence, &bare, turn),
        expected: "a turn that works".to_owned(),
        got,
        ..bare
    })
}

/// True if the error of a turn without faults is the provider's: its last request did not fit into the window.
fn is_of_provider(evidence: &Evidence<'_>, turn: usize) -> bool {
    let of_turn = |request: &&RequestView| request.turn == turn && request.kind != RequestKind::Auxiliary;
    let last = evidence.requests.iter().rfind(of_turn);
    last.is_some_and(|last| matches!(last.kind, RequestKind::Faulted { .. }))
}

/// Finds a turn without faults that returned, although the model was not asked for all its replies or tools
/// never ran.
fn idle(evidence: &Evidence<'_>, check: &Check) -> Option<Finding> {
    let returned = evidence.outcomes().filter(|(_, outcome)| **outcome == TurnOutcome::Returned);
    let mut quiet = returned.filter(|(turn, _)| is_quiet(&evidence.plan.turns[*turn]));
    let (turn, message, severity, rests_on) = quiet.find_map(|(turn, _)| {
        if let Some(reply) = replies_due(evidence, turn).find(|reply| !is_served(evidence, turn, *reply)) {
            return Some((turn, own::never_requested(reply), Severity::BrickedByClient, check.rests_on));
        }
        // The next turn sends the results, so the thread continues. The loop may be the application's.
        if let Some(reply) = unread_failure(evidence, turn) {
            let message = own::never_requested_after_failure(reply);
            return Some((turn, message, Severity::TurnFailed, &[Duty::Loop]));
        }
        // The thread continues without the call.
        let call = never_ran(evidence, turn)?;
        Some((turn, own::never_finished(&call.name), Severity::TurnFailed, check.rests_on))
    })?;
    let bare = failure(evidence, check, severity, in_turn(turn)).resting_on(rests_on);
    Some(Finding {
        message: message + &aftermath(evidence, &bare, turn),
        expected: "a turn that works".to_owned(),
        got: "the turn returned".to_owned(),
        ..bare
    })
}

/// The end of the sentence about a turn that failed once: what happened in it, and why the thread recovered, if
/// it is only because the conversation went back to another provider.
fn aftermath(evidence: &Evidence<'_>, bare: &Finding, turn: usize) -> String {
    if bare.severity != Severity::TurnFailed {
        return String::new();
    }
    let back = turn_events::returned_to(evidence, turn)
        .map_or_else(String::new, |dialect| format!("; the last turn works because it is back on {dialect}"));
    turn_events::clause(evidence, turn) + &back
}

/// A finding about a turn that fails. It has the severity `lasting` only if the last turn also fails.
fn failure(evidence: &Evidence<'_>, check: &Check, lasting: Severity, place: Place) -> Finding {
    let last = last_failure(evidence, check).filter(|_| lasting != Severity::TurnFailed);
    // A turn on another provider does not prove that the thread works again on this one.
    let is_back = place.turn.is_some_and(|turn| turn_events::returned_to(evidence, turn).is_some());
    let (severity, permanence) = match last {
        Some(_) => (lasting, Some(Permanence::Permanent)),
        None if is_back => (Severity::TurnFailed, None),
        None => (Severity::TurnFailed, Some(Permanence::Transient)),
    };
    let bare = check.finding(place);
    let lasts_on = last.unwrap_or_default().to_vec();
    Finding { severity, permanence, about: About { lasts_on, ..bare.about }, ..bare }
}

/// The duties that a failure of the last prompted turn rests on. `None` if that turn works.
fn last_failure(evidence: &Evidence<'_>, check: &Check) -> Option<&'static [Duty]> {
    let prompted = |event: &Event| match event {
        Event::Prompted { turn } => Some(*turn),
        _ => None,
    };
    let Some(last) = evidence.run.trace.events().iter().rev().find_map(prompted) else {
        return Some(check.rests_on);
    };
    let is_sent = |request: &&RequestView| request.turn == last && request.kind != RequestKind::Auxiliary;
    let sent = evidence.requests.iter().rev().find(is_sent);
    if let Some((request, refusal)) = sent.and_then(|request| Some((request, request.refusal.as_ref()?))) {
        return Some(basis(evidence, check, request, &refusal.pointer));
    }
    let is_idle = |outcome: &TurnOutcome| {
        *outcome == TurnOutcome::Returned
            && is_quiet(&evidence.plan.turns[last])
            && !is_served(evidence, last, 0)
    };
    let mut outcomes = evidence.outcomes().filter(|(turn, _)| *turn == last);
    outcomes.find_map(|(turn, outcome)| match outcome {
        _ if ended_badly(evidence, turn, outcome) => Some(basis_of_turn(evidence, check, turn)),
        _ if is_idle(outcome) => Some(check.rests_on),
        _ => None,
    })
}

/// True if a turn did not end on its own, and nothing in it explains that.
fn ended_badly(evidence: &Evidence<'_>, turn: usize, outcome: &TurnOutcome) -> bool {
    let is_explained = match outcome {
        TurnOutcome::Returned => true,
        TurnOutcome::Raised { .. } => is_upset(evidence, turn),
        TurnOutcome::Cancelled => false,
    };
    !is_explained && is_quiet(&evidence.plan.turns[turn]) && !evidence.was_stopped(turn)
}

/// True if something happened in a turn that a system may pass on as an error: a tool threw, the model's
/// output was broken, or the results are larger than the window.
fn is_upset(evidence: &Evidence<'_>, turn: usize) -> bool {
    let threw = evidence.calls().any(|(call, account)| {
        call.turn == turn && !call.given && matches!(account.settled, Some(ToolOutcome::Throw(_)))
    });
    let is_broken = |request: &RequestView| {
        let script = evidence.script_of(request);
        request.turn == turn && script.is_some_and(|script| script.is_wrong(&evidence.plan.calls))
    };
    threw || evidence.requests.iter().any(is_broken) || is_too_long(evidence, turn)
}

/// True if a request of a turn did not fit into the window, and the thread continued after it. The last turn
/// must fit.
fn is_too_long(evidence: &Evidence<'_>, turn: usize) -> bool {
    let is_it =
        |request: &RequestView| request.turn == turn && matches!(request.kind, RequestKind::Faulted { .. });
    let is_last = turn + 1 == evidence.plan.turns.len();
    evidence.plan.window.is_some() && !is_last && evidence.requests.iter().any(is_it)
}

fn is_refused_in(evidence: &Evidence<'_>, turn: usize) -> bool {
    evidence.requests.iter().any(|request| request.turn == turn && request.refusal.is_some())
}

/// True if nothing goes wrong in a turn, from the system's point of view. Faults in earlier turns no longer
/// count. A reply that the provider cuts short may end a turn, like an error.
fn is_quiet(turn: &PlannedTurn) -> bool {
    let cut = |script: &Script| {
        !script.pauses() && matches!(script.stop, Some(Stop::Length | Stop::Pause | Stop::Refusal))
    };
    let is_harmless = |action: &PlannedAction| {
        action.is_between_turns() || action.what.is_harmless() || action.what.changes_history()
    };
    let mut scripts = turn.replies.iter().flat_map(|reply| &reply.attempts);
    !scripts.any(cut) && turn.actions.iter().all(is_harmless)
}

fn is_served(evidence: &Evidence<'_>, turn: usize, reply: usize) -> bool {
    evidence.requests.iter().any(|request| {
        matches!(request.kind, RequestKind::Scripted { turn: t, reply: r, .. } if (t, r) == (turn, reply))
    })
}

/// True if a system has no reason to end a turn early. It has one if a tool fails or cannot be run. It has
/// none if all tools succeed and the provider ends its replies normally.
fn is_whole(evidence: &Evidence<'_>, turn: usize) -> bool {
    let mut replies = evidence.plan.turns[turn].replies.iter().flat_map(|reply| &reply.attempts);
    let is_told = replies.all(|script| script.stop.is_none() || script.pauses());
    let mut calls = evidence.plan.calls.iter().filter(|call| call.turn == turn && !call.given);
    evidence.plan.id.control
        || (is_told && !evidence.was_stopped(turn) && calls.all(|call| call.outcome.is_success()))
}

/// The replies that a turn requires.
fn replies_due(evidence: &Evidence<'_>, turn: usize) -> std::ops::Range<usize> {
    let n_replies = evidence.plan.turns[turn].replies.len();
    0..if is_whole(evidence, turn) { n_replies } else { 1 }
}

/// The first reply of a turn that was not requested although the step before it was over: each of its calls has a
/// result in a later request, but a tool had returned an error, or is unknown. Tools that throw do not count,
/// since some systems end the turn then.
fn unread_failure(evidence: &Evidence<'_>, turn: usize) -> Option<usize> {
    let planned = &evidence.plan.turns[turn];
    let unasked = (1..planned.replies.len()).find(|reply| !is_served(evidence, turn, *reply))?;
    let step = evidence.requests.iter().rfind(|request| {
        matches!(request.kind, RequestKind::Scripted { turn: t, reply, .. } if (t, reply + 1) == (turn, unasked))
    })?;
    let script = evidence.script_of(step)?;
    let is_plain = matches!(script.stop, None | Some(Stop::Calls)) && script.indices.is_none();
    let may_end = evidence.was_stopped(turn) || calls_answered::may_end(evidence, script);
    let is_over = |key: CallKey| {
        let (call, account) = (evidence.call(key), evidence.account(key));
        let is_plain = !call.hands_over && evidence.plan.sub_agent(key).is_none();
        let is_told = matches!(account.settled, Some(ToolOutcome::Return(_) | ToolOutcome::Error(_)));
        is_plain && (is_unknown(call) || (is_told && !account.settled_late && !call.is_invalid()))
    };
    let is_answered = |later: &RequestView| {
        let has_result = |key| later.results().any(|it| evidence.answered(later, it.id) == Some(key));
        later.exchange > step.exchange && later.kind.is_of_thread() && script.calls().all(has_result)
    };
    let is_due = is_plain && script.has_calls() && !may_end && script.calls().all(is_over);
    (is_due && evidence.requests.iter().any(is_answered)).then_some(unasked)
}

/// True if only the tool of a call is wrong: the system was never given it.
fn is_unknown(call: &PlannedCall) -> bool {
    call.is_malformed(|it| it.tool) && !call.is_malformed(|it| it.args || it.no_id)
}

/// A call of a turn that should have run and did not. A call that is missing from the history is left to
/// other checks.
fn never_ran<'a>(evidence: &Evidence<'a>, turn: usize) -> Option<&'a PlannedCall> {
    let calls = (0..).map(CallKey).zip(evidence.calls());
    let mut idle = calls
        .filter(|(_, (call, account))| call.turn == turn && !call.given && account.settled.is_none())
        .filter(|(key, _)| !evidence.is_skipped_handoff(*key) && !calls_answered::is_dropped(evidence, *key))
        .filter(|(key, (call, _))| !is_sub_agent_denied(evidence, call.within.unwrap_or(*key)));
    idle.next()
        .map(|(_, (call, _))| call)
        .filter(|call| is_whole(evidence, turn) && !healthy_untouched::is_dropped(evidence, call))
}

/// True if a call that starts a sub-agent is answered with an error. A system may not support a second
/// sub-agent of the same kind at the same time, and reports that to the model.
fn is_sub_agent_denied(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let is_denied = |last: &RequestView| {
        let mut own = last.results().filter(|result| evidence.answered(last, result.id) == Some(key));
        own.any(|result| success_honest::admits_failure(&result, evidence.account(key)))
    };
    evidence.plan.sub_agent(key).is_some() && evidence.last_request().is_some_and(is_denied)
}

/// The calls with an id that occurs in a text.
fn called_in(evidence: &Evidence<'_>, text: &str) -> Vec<CallKey> {
    let calls = evidence.plan.calls.iter().zip((0..).map(CallKey));
    calls.filter(|(call, _)| !call.id.is_empty() && text.contains(&call.id)).map(|(_, key)| key).collect()
}
