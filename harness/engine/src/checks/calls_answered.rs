//! Every call of a complete reply is run, or answered.
//!
//! The model and the user rely on it: a call that is neither run nor in the next request is gone without a
//! trace. So is a call that was not run and that the next request contains only with other arguments. The check
//! judges a reply that arrived completely, if the turn continued with another request, or ended by itself. A stop, a kill or an error decides otherwise what happens to the calls, and other checks judge
//! that. Calls that a system may leave alone are left out: those that wait for the user or for the client, those
//! that the user denied, those beside a final tool or at the step limit, and those that no system can run. A
//! system may also discard a malformed reply as a whole, and ask again.

use super::*;
use brickbat_scenario::plan::{PlannedPoint, ScriptBlock};
use brickbat_scenario::scenario::Stop;

pub(super) const CHECK: Check = Check {
    summary: "every call of a complete reply is run or answered",
    invariants: &[1, 26],
    rests_on: &[Duty::Loop],
    applies: |evidence| followed(evidence).next().is_some(),
    find,
    ..Check::new("calls-answered", Level::L3, Severity::CallDropped)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = followed(evidence).map(|reply| (dropped(evidence, &reply), reply));
    let found = found.filter(|(keys, _)| !keys.is_empty());
    found
        .map(|(keys, reply)| {
            let names: Vec<&str> = keys.iter().map(|key| evidence.call(*key).name.as_str()).collect();
            let is_altered = reply.next.calls().any(|view| keys.contains(&view.key));
            Finding {
                message: message(&names, is_altered),
                expected: "each call run, or answered with the reason why it was not run".to_owned(),
                got: evidence.shape(reply.next),
                ..CHECK.finding(reply.next.place("")).of_calls(keys).of_turn(reply.turn)
            }
        })
        .collect()
}

fn message(names: &[&str], is_altered: bool) -> String {
    let what = match is_altered {
        true => "contain the same arguments",
        false if names.len() == 1 => "contain it",
        false => "contain them",
    };
    let who = match names {
        [first @ .., last] if !first.is_empty() => {
            format!("calls {} and {last} of a complete reply are", first.join(", "))
        }
        _ => format!("call {} of a complete reply is", names.concat()),
    };
    format!("{who} never run, and the next request does not {what}")
}

/// True if a call was neither run nor answered.
pub(super) fn is_dropped(evidence: &Evidence<'_>, key: CallKey) -> bool {
    followed(evidence).any(|reply| dropped(evidence, &reply).contains(&key))
}

/// A complete reply with calls, and the request that shows what became of them.
struct FollowedReply<'a> {
    turn: usize,
    script: &'a Script,
    next: &'a RequestView,
}

/// The complete replies with calls, each with the next request, if that shows what became of the calls.
fn followed<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = FollowedReply<'a>> {
    evidence.requests.iter().filter_map(|request| {
        let RequestKind::Scripted { turn, reply, .. } = request.kind else { return None };
        let script = evidence.script_of(request).filter(|_| turn == request.turn)?;
        let is_plain = matches!(script.stop, None | Some(Stop::Calls)) && script.indices.is_none();
        let is_judged = is_plain && script.has_calls() && is_past(evidence, turn, reply);
        let next = next(evidence, request, script).filter(|_| is_judged)?;
        Some(FollowedReply { turn, script, next })
    })
}

/// True if nothing was planned to break the turn off before the step with this reply was over. Otherwise it may
/// depend on the machine whether the next request is sent in time.
fn is_past(evidence: &Evidence<'_>, turn: usize, reply: usize) -> bool {
    let is_later_call = |key: CallKey| evidence.call(key).reply > reply;
    let is_later = |at: &PlannedPoint| match *at {
        PlannedPoint::Stream { reply: at, .. } => at > reply,
        PlannedPoint::Asked(key) | PlannedPoint::Started(key) | PlannedPoint::Settled(key, _) => {
            is_later_call(key)
        }
        PlannedPoint::Prompt => true,
        PlannedPoint::Step(_)
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::SettledCount(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Compaction(..) => false,
    };
    let mut ends = evidence.plan.turns[turn].actions.iter().filter(|action| action.what.ends_turn());
    ends.all(|action| is_later(&action.at))
}

/// The request after a reply, if the reply arrived completely and nothing but the system decided what came next.
fn next<'a>(evidence: &'a Evidence<'_>, request: &RequestView, script: &Script) -> Option<&'a RequestView> {
    let (mut is_asked, mut is_whole, mut is_over) = (false, false, false);
    for event in evidence.run.trace.events() {
        match event {
            Event::Requested { exchange, .. } if *exchange == request.exchange => is_asked = true,
            _ if !is_asked => {}
            Event::Replied { exchange, ending } if *exchange == request.exchange => {
                is_whole = *ending == Ending::Complete;
            }
            Event::Requested { exchange, compacted, .. } => {
                let is_it = |view: &&RequestView| view.exchange == *exchange && view.is_read;
                let of_thread = |view: &&RequestView| view.kind.is_of_thread();
                let next = evidence.requests.iter().find(is_it).filter(of_thread);
                if next.is_some() {
                    return next
                        .filter(|_| is_whole && !compacted && !(is_over && may_end(evidence, script)));
                }
            }
            Event::TurnEnded { outcome: TurnOutcome::Returned } => is_over = true,
            Event::TurnEnded { .. }
            | Event::Stopped
            | Event::Interrupted { .. }
            | Event::Killed
            | Event::GaveUp
            | Event::PromptRefused
            | Event::Said { way: Aside::Prompted, .. }
            | Event::Changed { .. } => return None,
            _ => {}
        }
    }
    None
}

/// True if a turn may end with this reply although its calls have no results: a limit or a final tool ends it, or
/// a call waits for the user or for the client.
pub(super) fn may_end(evidence: &Evidence<'_>, script: &Script) -> bool {
    let plan = evidence.plan;
    let of_tool = |call: &PlannedCall| plan.tools.iter().find(|tool| tool.name == call.tool);
    plan.step_limit.is_some()
        || script.calls().any(|key| {
            let ends = of_tool(evidence.call(key)).is_some_and(|tool| tool.ends || tool.client);
            let is_denied = evidence.account(key).consent == Some(Consent::Refused);
            ends || is_denied || evidence.has_open_question(key)
        })
}

/// The calls of a reply that were neither run nor answered.
fn dropped(evidence: &Evidence<'_>, reply: &FollowedReply<'_>) -> Vec<CallKey> {
    let FollowedReply { script, next, .. } = reply;
    let calls = &evidence.plan.calls;
    let is_missing =
        |key: &CallKey| evidence.account(*key).starts.is_empty() && !mentions(next, evidence.call(*key));
    let is_due = |key: &CallKey| {
        let is_denied = evidence.account(*key).consent == Some(Consent::Refused);
        let may_be_left = is_denied || evidence.has_open_question(*key) || evidence.is_left_to_client(*key);
        !evidence.call(*key).is_invalid()
            && !may_be_left
            && !evidence.is_skipped_handoff(*key)
            && !evidence.changed.result_may_be_gone(*key)
    };
    let missing: Vec<CallKey> = script.calls().filter(is_missing).filter(is_due).collect();
    // A call that ran with other arguments cannot be told from its neighbours.
    let is_explained = missing.len() <= evidence.ledger.strangers.len();
    let is_discarded = script.is_wrong(calls) && !keeps_any(evidence, next, script);
    if is_explained || is_discarded { Vec::new() } else { missing }
}

/// True if a request contains a call with its arguments, its result, or a text about it.
fn mentions(request: &RequestView, call: &PlannedCall) -> bool {
    let marker = call.marker.as_str();
    let is_told = |content: &Content| match content {
        Content::Text { text } | Content::Result { text, .. } => text.contains(marker),
        Content::Raw { value } | Content::Thought { value } => value.to_string().contains(marker),
        Content::Call { args, .. } => args.to_string().contains(marker),
    };
    request.history.items.iter().any(|item| is_told(&item.content))
}

/// True if a request contains any text or any call of a reply.
fn keeps_any(evidence: &Evidence<'_>, request: &RequestView, script: &Script) -> bool {
    let texts = healthy_untouched::squeezed(&healthy_untouched::texts(request));
    script.blocks.iter().any(|block| match block {
        ScriptBlock::Text(fragments) => {
            let text = healthy_untouched::squeezed(&fragments.concat());
            !text.is_empty() && texts.contains(&text)
        }
        ScriptBlock::Call(key) => mentions(request, evidence.call(*key)),
        ScriptBlock::Think(_) | ScriptBlock::Server(_) => false,
    })
}
