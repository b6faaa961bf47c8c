//! Points that a system cannot reach, as its control plan has shown.

use super::*;
use crate::run::Receipt;
use brickbat_scenario::history::Item;
use brickbat_scenario::plan::{Mark, PlannedPoint, SearchKey, ServerBlock, Side};
use brickbat_scenario::trace::Compaction;

/// The result of a system's control plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concurrency {
    /// The maximum number of tools that ran at once.
    pub max_parallel_tools: usize,
    /// True if a tool started before its reply ended.
    pub eager: bool,
    /// True if the provider rejected one of its requests.
    pub is_refused: bool,
}

impl Concurrency {
    /// The maximum number of tools that ran at once. `None` if no tool ran.
    pub fn n_at_once(&self) -> Option<usize> {
        Some(self.max_parallel_tools).filter(|width| *width > 0)
    }

    /// Reads the result from the trace of a control plan.
    pub fn of(plan: &Plan, trace: &Trace) -> Concurrency {
        let mut concurrency = Concurrency { max_parallel_tools: 0, eager: false, is_refused: false };
        let mut open = vec![false; plan.calls.len()];
        let mut streaming: Vec<ExchangeId> = Vec::new();
        for event in trace.events() {
            match event {
                Event::Requested { exchange, kind: RequestKind::Scripted { .. }, .. } => {
                    streaming.push(*exchange)
                }
                Event::Requested { kind: RequestKind::Refused { .. }, .. } => concurrency.is_refused = true,
                Event::Replied { exchange, .. } | Event::PeerClosed { exchange } => {
                    streaming.retain(|known| known != exchange);
                }
                // A sub-agent does not wait at a gate, but its calls do.
                Event::ToolStarted { call: Some(call), .. } if plan.sub_agent(*call).is_none() => {
                    open[call.0 as usize] = true;
                    concurrency.max_parallel_tools =
                        concurrency.max_parallel_tools.max(open.iter().filter(|open| **open).count());
                    concurrency.eager |= !streaming.is_empty();
                }
                Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => {
                    open[call.0 as usize] = false
                }
                _ => {}
            }
        }
        concurrency
    }
}

/// The reason why an action could not happen on this system, if there is one.
pub(super) fn why(
    evidence: &Evidence<'_>,
    receipt: &Receipt,
    concurrency: Option<&Concurrency>,
) -> Option<String> {
    if receipt.fired {
        return None;
    }
    if concurrency.is_some_and(|concurrency| concurrency.is_refused) && is_refused_anyway(evidence, receipt) {
        return Some("the provider refuses this conversation earlier, even in the control plan".to_owned());
    }
    let width = concurrency.map_or(usize::MAX, |concurrency| concurrency.max_parallel_tools);
    let (reply, attempt, mark) = match receipt.at {
        PlannedPoint::Stream { reply, attempt, mark, .. } => (reply, attempt, mark),
        PlannedPoint::StartedCount(count) if count as usize > width => return Some(one_by_one(width)),
        PlannedPoint::SettledCount(0) if largest_batch(evidence.plan, receipt.turn) > width => {
            return Some(one_by_one(width));
        }
        PlannedPoint::SettledCount(_) | PlannedPoint::Settled(..) => {
            return gives_up(evidence, receipt.turn);
        }
        PlannedPoint::Compaction(number, side) => return no_summary(evidence, receipt.turn, (number, side)),
        PlannedPoint::Asked(call) => return over_before_asked(evidence, receipt.turn, call),
        PlannedPoint::Prompt
        | PlannedPoint::StartedCount(_)
        | PlannedPoint::Started(_)
        | PlannedPoint::Saved(..)
        | PlannedPoint::Step(_) => return None,
    };
    if let Action::Settle(call) = receipt.what {
        let (planned, account) = (evidence.call(call), evidence.account(call));
        if concurrency.is_some_and(|concurrency| !concurrency.eager) && planned.turn == receipt.turn {
            return Some("this system starts its tools only after the reply is complete".to_owned());
        }
        if planned.turn < receipt.turn && (account.settled.is_some() || account.cancelled) {
            return Some("this system ends its turn only after the tool has finished".to_owned());
        }
    }
    let is_proven_stop =
        |other: &Receipt| other.turn == receipt.turn && other.fired && other.what.ends_turn();
    if receipt.what.tokens().is_some() && evidence.run.receipts.iter().any(is_proven_stop) {
        return Some("this system discards what was reported in a turn that was stopped".to_owned());
    }
    let is_asked =
        |request: &&RequestView| request.kind == RequestKind::Scripted { turn: receipt.turn, reply, attempt };
    let request = evidence.requests.iter().find(is_asked);
    if mark == Mark::Stop && request.is_some_and(|request| leaves_at_the_stop(evidence, request)) {
        return Some("this system closes the connection once the reply has stopped".to_owned());
    }
    if let (Mark::Found(key), Some(request)) = (mark, request)
        && !knows_search(evidence, request, key)
    {
        return Some("this system sends its request without the unfinished search".to_owned());
    }
    let served = request.is_some();
    if !served && ends_at_a_pause(evidence, receipt.turn, reply) {
        return Some("this system does not continue after the provider pauses".to_owned());
    }
    let after_another = evidence.run.receipts.iter().any(|other| other.turn == receipt.turn && other.fired);
    let asked_for = "after the earlier events, this system does not request that reply";
    (!served && after_another).then(|| asked_for.to_owned())
}

/// The reason why nothing happened at a request for a summary: none was sent, or none with an answer in parts.
fn no_summary(evidence: &Evidence<'_>, turn: usize, (number, side): (u32, Side)) -> Option<String> {
    let of = Compaction { turn, number };
    let is_it = |event: &Event| matches!(event, Event::Requested { summary: Some(it), .. } if *it == of);
    if !evidence.run.trace.events().iter().any(is_it) {
        return Some("this system sends no such request for a summary".to_owned());
    }
    (side == Side::After).then(|| "this system does not ask for its summary in parts".to_owned())
}

/// True if a request was rejected before any planned action had happened.
fn is_refused_anyway(evidence: &Evidence<'_>, receipt: &Receipt) -> bool {
    let is_before = |turn: usize| turn <= receipt.turn;
    let was_disturbed = evidence.run.receipts.iter().any(|other| other.fired && is_before(other.turn));
    let is_refused = |request: &RequestView| request.refusal.is_some() && is_before(request.turn);
    !was_disturbed && evidence.requests.iter().any(is_refused)
}

/// The reason why not all tools of a turn have settled, if the system itself gave up the others when one
/// failed.
fn gives_up(evidence: &Evidence<'_>, turn: usize) -> Option<String> {
    let was_disturbed = evidence.run.receipts.iter().any(|receipt| receipt.turn == turn && receipt.fired)
        || evidence.events_of(turn).any(is_ours);
    let of_turn = || evidence.calls().filter(|(call, _)| call.turn == turn).map(|(_, account)| account);
    let has_failed =
        of_turn().any(|account| account.settled.as_ref().is_some_and(|outcome| !outcome.is_success()));
    let is_given_up = of_turn().any(|account| account.cancelled && account.settled.is_none());
    let words = "this system cancels the other tools of a batch when one fails";
    (!was_disturbed && has_failed && is_given_up).then(|| words.to_owned())
}

/// The reason why the user was not asked about a call, if the harness ended the turn first.
fn over_before_asked(evidence: &Evidence<'_>, turn: usize, call: CallKey) -> Option<String> {
    let is_asked = |event: &Event| matches!(event, Event::Asked { call: Some(asked), .. } if *asked == call);
    let first = evidence.events_of(turn).find(|event| is_ours(event) || is_asked(event));
    first.is_some_and(is_ours).then(|| "the turn was over before this system asked the user".to_owned())
}

/// True if a turn ended on its own although the previous reply had paused.
fn ends_at_a_pause(evidence: &Evidence<'_>, turn: usize, reply: usize) -> bool {
    let before = reply.checked_sub(1).and_then(|before| evidence.plan.turns[turn].replies.get(before));
    let pauses = before.is_some_and(|before| before.attempts.iter().any(Script::pauses));
    pauses && evidence.outcomes().any(|(at, outcome)| at == turn && *outcome != TurnOutcome::Cancelled)
}

/// True if a search with a result in the reply to a request was called in that reply, or is in the request.
fn knows_search(evidence: &Evidence<'_>, request: &RequestView, key: SearchKey) -> bool {
    let is_call = |block| block == ServerBlock::Search(key);
    let id = &evidence.plan.searches[key.0 as usize].id;
    let is_there =
        |item: &Item| matches!(&item.content, Content::Raw { value } if value["id"] == id.as_str());
    evidence.script_of(request).is_some_and(|script| script.server_blocks().any(is_call))
        || request.history.items.iter().any(is_there)
}

/// True if the client disconnected while the provider held the end of a reply after its stop reason.
fn leaves_at_the_stop(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let of_turn = || evidence.events_of(request.turn);
    let is_held = |event: &Event| match event {
        Event::Held { exchange, at, .. } => *exchange == request.exchange && at.mark == Mark::Stop,
        _ => false,
    };
    let leaves = |event: &Event| *event == Event::PeerClosed { exchange: request.exchange };
    let left = of_turn().skip_while(|event| !is_held(event)).find(|event| is_ours(event) || leaves(event));
    left.is_some_and(leaves)
}

/// True if the harness ended the turn with this event.
fn is_ours(event: &Event) -> bool {
    matches!(event, Event::Stopped | Event::Interrupted { .. } | Event::Killed)
}

fn one_by_one(width: usize) -> String {
    match width {
        1 => "this system runs one tool at a time".to_owned(),
        _ => format!("this system runs at most {width} tools at once"),
    }
}

/// The maximum number of calls in one reply of a turn.
fn largest_batch(plan: &Plan, turn: usize) -> usize {
    let attempts = plan.turns[turn].replies.iter().flat_map(|reply| &reply.attempts);
    attempts.map(|script| script.calls().count()).max().unwrap_or(0)
}
