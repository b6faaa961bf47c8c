//! The circumstances of a finding: what interrupted the system before, and the state of the calls concerned.
//!
//! Only actions that happened count, according to the receipts. A finding about a call that never got its
//! result looks at the turn of that call; any other looks at all turns up to its own. Where a race decides
//! whether a call had its result, the call counts as unanswered, so that machine load changes no cause.

use super::*;
use brickbat_rules::{Family, Rule};
use brickbat_scenario::plan::{Mark, PlannedPoint, Side};
use brickbat_scenario::surrogate::HALF_CHARACTER;
use brickbat_scenario::trigger::{CallState, Trigger};

/// The finding with its circumstances.
pub(super) fn entered(evidence: &Evidence<'_>, finding: Finding) -> Finding {
    let (trigger, calls) = (trigger(evidence, &finding), state(evidence, &finding));
    Finding { trigger, calls, ..finding }
}

fn trigger(evidence: &Evidence<'_>, finding: &Finding) -> Trigger {
    let keys = &finding.about.calls;
    if evidence.plan.id.control {
        return Trigger::Nothing;
    }
    if !keys.is_empty() && keys.iter().all(|key| evidence.call(*key).given) {
        return Trigger::Given;
    }
    let last = finding.about.turn.unwrap_or(usize::MAX);
    if has_asked(evidence, keys) {
        return Trigger::Approval;
    }
    // A provider that refuses an open call for another reason would refuse an answered one as well.
    let is_about_answers = family(finding).is_none_or(|family| family == Family::UnansweredCall);
    let open = keys.iter().filter(|key| is_about_answers && evidence.is_open(**key));
    let open: Vec<usize> = open.map(|key| evidence.call(*key).turn).collect();
    let fired = || evidence.run.receipts.iter().filter(|receipt| receipt.fired && receipt.turn <= last);
    // A new list of tools leaves the history as it is, so whatever else happened is more likely to be the reason.
    let is_of_list = |receipt: &&Receipt| receipt.what.changed_tool().is_some();
    let counts = |receipt: &&Receipt| finding.check == tools_current::CHECK.id || !is_of_list(receipt);
    let happened: Vec<Trigger> =
        fired().filter(counts).map(|receipt| Trigger::of_action(&receipt.what)).collect();
    let in_their_turns = fired().filter(counts).filter(|receipt| open.contains(&receipt.turn));
    let in_their_turns: Vec<Trigger> =
        in_their_turns.map(|receipt| Trigger::of_action(&receipt.what)).collect();
    first_of(&INTERRUPTIONS, &in_their_turns)
        .or_else(|| first_of(&CHANGES, &happened))
        .or_else(|| first_of(&INTERRUPTIONS, &happened))
        .or_else(|| fired().find(is_of_list).map(|receipt| Trigger::of_action(&receipt.what)))
        .or_else(|| of_plan(evidence, keys, last))
        .unwrap_or(Trigger::Nothing)
}

/// The strongest of the triggers that happened.
fn first_of(order: &[Trigger], happened: &[Trigger]) -> Option<Trigger> {
    order.iter().find(|trigger| happened.contains(trigger)).copied()
}

/// The unusual event in a plan without an interruption.
fn of_plan(evidence: &Evidence<'_>, keys: &[CallKey], last: usize) -> Option<Trigger> {
    let plan = evidence.plan;
    let is_concerned = |key: CallKey, call: &PlannedCall| {
        !call.given && call.turn <= last && (keys.is_empty() || keys.contains(&key))
    };
    let calls = || (0..).map(CallKey).zip(&plan.calls).filter(|(key, call)| is_concerned(*key, call));
    let is_odd_model = calls().any(|(_, call)| is_odd_reply(evidence, call))
        || (keys.is_empty() && has_odd_reply(evidence, last));
    if is_odd_model {
        Some(Trigger::Model)
    } else if calls().any(|(_, call)| is_odd_tool(call)) {
        Some(Trigger::Tool)
    } else if plan.window.is_some() {
        Some(Trigger::Transform)
    } else {
        (!plan.given.is_empty()).then_some(Trigger::Given)
    }
}

/// The interruptions of a turn, the strongest first. If a tool failed in a stopped turn, the turn was stopped.
const INTERRUPTIONS: [Trigger; 9] = [
    Trigger::Stop,
    Trigger::Kill,
    Trigger::Write,
    Trigger::Exception,
    Trigger::Stream,
    Trigger::Refusal,
    Trigger::Approval,
    Trigger::Message,
    Trigger::Tool,
];

/// Later changes of a history.
const CHANGES: [Trigger; 2] = [Trigger::Switch, Trigger::Transform];

/// True if the user was asked about one of these calls, or about any call if there are none.
fn has_asked(evidence: &Evidence<'_>, keys: &[CallKey]) -> bool {
    evidence.run.trace.events().iter().any(|event| match event {
        Event::Asked { call: Some(call), .. } => keys.is_empty() || keys.contains(call),
        _ => false,
    })
}

/// True if the reply with a call was unusual.
fn is_odd_reply(evidence: &Evidence<'_>, call: &PlannedCall) -> bool {
    let reply = evidence.plan.turns.get(call.turn).and_then(|turn| turn.replies.get(call.reply));
    let script = reply.and_then(|reply| reply.attempts.get(call.attempt));
    call.within.is_none() && script.is_some_and(|script| is_odd(evidence, script))
}

/// True if an unusual reply was requested, up to a turn.
fn has_odd_reply(evidence: &Evidence<'_>, last: usize) -> bool {
    let mut asked = evidence.requests.iter().filter(|request| request.turn <= last);
    asked.any(|request| evidence.script_of(request).is_some_and(|script| is_odd(evidence, script)))
}

fn is_odd(evidence: &Evidence<'_>, script: &Script) -> bool {
    script.is_wrong(&evidence.plan.calls) || (!script.has_calls() && script.text().is_empty())
}

fn is_odd_tool(call: &PlannedCall) -> bool {
    let text = call.outcome.text();
    !call.outcome.is_success() || call.hangs || text.is_empty() || text.contains(HALF_CHARACTER)
}

/// The state that matters depends on the damage: a provider that complains of a missing result has the same
/// complaint wherever the turn was stopped.
fn state(evidence: &Evidence<'_>, finding: &Finding) -> CallState {
    let keys = &finding.about.calls;
    let is_cut = || keys.iter().any(|key| is_cut(evidence, *key));
    let of_arguments = || if is_cut() { CallState::Cut } else { CallState::Complete };
    match family(finding) {
        Some(Family::UnansweredCall) => CallState::Unanswered,
        Some(Family::Arguments) => of_arguments(),
        Some(_) => CallState::NoCall,
        None if keys.is_empty() => CallState::NoCall,
        None if Check::find(finding.check).is_some_and(|check| check.is_about_arguments) => of_arguments(),
        // A client names the calls for which something is missing.
        None if is_failure(finding) => CallState::Unanswered,
        None if keys.iter().any(|key| evidence.is_open(*key) || !evidence.is_sure(*key)) => {
            CallState::Unanswered
        }
        None => CallState::Answered,
    }
}

/// The family of the broken rule, if the finding is a refused request.
fn family(finding: &Finding) -> Option<Family> {
    finding.rule.and_then(Rule::find).and_then(Rule::family)
}

fn is_failure(finding: &Finding) -> bool {
    Check::find(finding.check).is_some_and(|check| check.is_about_failure)
}

/// True if the reply broke off, or was stopped, within a call.
fn is_cut(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let call = evidence.call(key);
    let is_within = |mark: Mark, side: Side| match mark {
        Mark::Start(of) | Mark::Delta(of, _) => of == key,
        Mark::End(of) => of == key && side == Side::Before,
        Mark::Headers
        | Mark::Think(_)
        | Mark::Text(_)
        | Mark::Search(_)
        | Mark::Found(_)
        | Mark::Calls
        | Mark::Stop
        | Mark::Reply => false,
    };
    evidence.run.receipts.iter().any(|receipt| match receipt.at {
        PlannedPoint::Stream { reply, attempt, mark, side } => {
            let is_its = (receipt.turn, reply, attempt) == (call.turn, call.reply, call.attempt);
            receipt.fired && is_its && is_within(mark, side)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::action::ActionSpec;

    #[test]
    fn the_trigger_of_every_action_is_recognised() {
        for spec in ActionSpec::ALL {
            let lists = [INTERRUPTIONS.contains(&spec.trigger), CHANGES.contains(&spec.trigger)];
            assert_eq!(lists.iter().filter(|is_in| **is_in).count(), 1, "{}", spec.name);
        }
    }
}
