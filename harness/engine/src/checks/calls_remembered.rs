//! A call that had started stays in the history when its turn is broken off.
//!
//! The tool may have had its effect, whether or not a result arrived. If the next request does not mention the call,
//! the model does not know of the effect, and asks for it again. It is enough that the call has a result of any kind,
//! that a text mentions the interruption, or that the user was shown how the call ended. An application that got an
//! error knows that its turn failed, so such a turn is left out.
//! A result that must be kept is another finding ([`super::results_kept`]).

use super::*;
use brickbat_scenario::plan::PlannedPoint;

pub(super) const CHECK: Check = Check {
    summary: "after a stop, a kill or a broken stream, the next request mentions each call that had started",
    invariants: &[17],
    rests_on: &[Duty::Loop],
    applies: |evidence| keys(evidence).any(|key| interruption(evidence, key).is_some()),
    find,
    ..Check::new("calls-remembered", Level::L3, Severity::ForgottenCall)
};

fn keys(evidence: &Evidence<'_>) -> impl Iterator<Item = CallKey> {
    (0..evidence.plan.calls.len() as u32).map(CallKey)
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = |key: CallKey| {
        let call = evidence.call(key);
        let why = interruption(evidence, key)?;
        let next =
            evidence.requests.iter().find(|request| request.turn > call.turn && is_accepted(request))?;
        let is_known = results_kept::is_due(evidence, key)
            || results_kept::is_error_due(evidence, key)
            || mentions(evidence, next, key)
            || speaks_of_interruption(evidence, next)
            || is_shown_as_over(evidence, key);
        (!is_known).then(|| Finding {
            message: format!(
                "call {} had started when {why}, but the next request does not mention it: the model is not told \
                 that the tool may have run",
                call.name
            ),
            expected: format!("call {}, with a result that leaves open what the tool did", call.name),
            got: evidence.shape(next),
            ..CHECK
                .finding(next.place(""))
                .of_calls([key])
                .of_turn(call.turn)
                .resting_on(results_kept::basis(evidence, key))
        })
    };
    keys(evidence).filter_map(found).collect()
}

/// The interruption of a call that had started. None if the history was changed on purpose.
fn interruption(evidence: &Evidence<'_>, key: CallKey) -> Option<&'static str> {
    let call = evidence.call(key);
    let is_of_thread = !call.given && call.within.is_none() && !evidence.is_astray(key);
    let may_be_gone = evidence.changed.may_be_gone(call.turn) || evidence.changed.result_may_be_gone(key);
    if !is_of_thread || may_be_gone || evidence.is_left_to_client(key) || !has_started(evidence, key) {
        return None;
    }
    let is_stopped = evidence.events_of(call.turn).any(|event| *event == Event::Stopped);
    if evidence.died_in(call.turn) || is_stopped {
        let why =
            if evidence.died_in(call.turn) { "the process was killed" } else { "the user stopped the turn" };
        return is_start_sure(evidence, key).then_some(why);
    }
    let is_returned =
        evidence.outcomes().any(|(turn, outcome)| turn == call.turn && *outcome == TurnOutcome::Returned);
    (is_returned && has_run(evidence, key) && has_broken_reply(evidence, call))
        .then_some("its reply broke off")
}

/// True if a tool started before its turn was broken off. A system may show a call as running while its reply arrives,
/// and run no call of a reply that breaks off.
fn has_run(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let is_start = |event: &Event| matches!(event, Event::ToolStarted { call, .. } if *call == Some(key));
    before_the_end(evidence, key).any(is_start)
}

/// True if a tool started, or was shown as running, before its turn was broken off.
fn has_started(evidence: &Evidence<'_>, key: CallKey) -> bool {
    before_the_end(evidence, key).any(|event| begins(evidence, key, event))
}

/// True if the start of a call is certain and not a race with the interruption: the turn was broken off at a point
/// that depends on the start, or at a result that was delivered after the start. A check must not apply by machine load.
fn is_start_sure(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let mut since = before_the_end(evidence, key).skip_while(|event| !begins(evidence, key, event));
    let is_before_a_result = since.any(|event| matches!(event, Event::ToolSettled { .. }));
    let rests_on_start = |at: &PlannedPoint| match *at {
        // This point is reached when all tools have started.
        PlannedPoint::SettledCount(0) => true,
        PlannedPoint::Started(of) => of == key,
        PlannedPoint::SettledCount(_) | PlannedPoint::Settled(..) => is_before_a_result,
        // Which of the tools have started at a count of starts is a race.
        PlannedPoint::StartedCount(_)
        | PlannedPoint::Prompt
        | PlannedPoint::Stream { .. }
        | PlannedPoint::Asked(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..)
        | PlannedPoint::Step(_) => false,
    };
    let actions = &evidence.plan.turns[evidence.call(key).turn].actions;
    actions.iter().any(|action| action.what.ends_turn() && rests_on_start(&action.at))
}

/// The events of a call's turn before it was broken off.
fn before_the_end<'e>(evidence: &'e Evidence<'_>, key: CallKey) -> impl Iterator<Item = &'e Event> {
    let is_end = |event: &&Event| {
        matches!(
            event,
            Event::Stopped
                | Event::Interrupted { .. }
                | Event::Killed
                | Event::TurnEnded { .. }
                | Event::GaveUp
        )
    };
    evidence.events_of(evidence.call(key).turn).take_while(move |event| !is_end(event))
}

fn begins(evidence: &Evidence<'_>, key: CallKey, event: &Event) -> bool {
    match event {
        Event::ToolStarted { call, .. } => *call == Some(key),
        Event::CallShown { id, state: ShownState::InProgress } => evidence.plan.call_with_id(id) == Some(key),
        _ => false,
    }
}

fn has_broken_reply(evidence: &Evidence<'_>, call: &PlannedCall) -> bool {
    let kind = RequestKind::Scripted { turn: call.turn, reply: call.reply, attempt: call.attempt };
    let exchanges =
        evidence.requests.iter().filter(|request| request.kind == kind).map(|request| request.exchange);
    let is_cut = |of: ExchangeId| {
        evidence.run.trace.events().iter().any(|event| match event {
            Event::Replied { exchange, ending } => *exchange == of && *ending != Ending::Complete,
            _ => false,
        })
    };
    exchanges.into_iter().any(is_cut)
}

fn is_accepted(request: &RequestView) -> bool {
    request.is_read && matches!(request.kind, RequestKind::Scripted { .. } | RequestKind::Surplus)
}

fn mentions(evidence: &Evidence<'_>, request: &RequestView, key: CallKey) -> bool {
    request.calls().any(|call| call.key == key)
        || request.results().any(|result| evidence.answered(request, result.id) == Some(key))
        || evidence.shows_result(request, key, |_| true)
}

/// Words of a note about a turn that was broken off. A system may tell the model of the interruption without naming
/// the calls.
const INTERRUPTION: [&str; 4] = ["interrupt", "abort", "cancel", "stopped"];

/// True if a text that neither the user nor the model wrote speaks of an interruption.
fn speaks_of_interruption(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let said: Vec<&str> = evidence.plan.turns.iter().map(|turn| turn.user.trim()).collect();
    request.history.items.iter().any(|item| match &item.content {
        Content::Text { text } => {
            let rest = said.iter().fold(text.clone(), |rest, said| rest.replace(said, "")).to_lowercase();
            INTERRUPTION.iter().any(|word| rest.contains(word))
        }
        _ => false,
    })
}

/// True if the user was shown that the call has ended.
fn is_shown_as_over(evidence: &Evidence<'_>, key: CallKey) -> bool {
    evidence.run.trace.events().iter().any(|event| match event {
        Event::CallShown { id, state } => state.is_final() && evidence.plan.call_with_id(id) == Some(key),
        _ => false,
    })
}
