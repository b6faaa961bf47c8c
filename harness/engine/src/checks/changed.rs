//! The parts of a history that were changed on purpose.

use brickbat_scenario::plan::{CallKey, Change, Mark, Plan, PlannedCall, PlannedPoint, Side};
use brickbat_scenario::trace::{Event, RequestKind, Trace};
use serde_json::Value;

/// The parts of the conversation that may be missing in later requests, and those that must be missing.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// For each turn, true if the user's message in it was cut off, summarised or taken back.
    turns: Vec<bool>,
    /// For each call, true if its result was cut off, summarised or taken back.
    calls: Vec<bool>,
    /// For each message to a running turn, in order, true if it was cut off, summarised or taken back.
    asides: Vec<bool>,
    /// Turns that were taken back, each with the number of requests before that.
    pub(super) taken_back: Vec<(usize, usize)>,
}

impl Changed {
    /// Reads the changes from a trace. Content that comes after a change is not affected by it.
    pub fn of(plan: &Plan, trace: &Trace) -> Changed {
        // Results that do not fit into the window may be cut anywhere.
        let (turns, calls) = (vec![false; plan.turns.len()], vec![plan.window.is_some(); plan.calls.len()]);
        let mut changed = Changed { turns, calls, asides: Vec::new(), taken_back: Vec::new() };
        // Each message to a running turn, as requests write it, and whether the model has received it.
        let mut asides: Vec<(String, bool)> = Vec::new();
        let mut told = vec![false; plan.calls.len()];
        let mut standing: Vec<usize> = Vec::new();
        let (mut is_running, mut n_requests) = (false, 0);
        // A running turn may postpone a change until the results of its step have come. These results may
        // then disappear, too, and so may the content of requests in between.
        let mut is_put_off = false;
        let mut own = OwnCompaction::of(plan);
        // A summary that is requested while a turn runs may also replace the user's message of that turn.
        let mut is_summarised = false;
        for event in trace.events() {
            match event {
                Event::Prompted { turn } => {
                    standing.push(*turn);
                    (is_running, is_put_off, is_summarised) = (true, false, false);
                }
                Event::TurnEnded { .. } | Event::Killed => {
                    (is_running, is_put_off, is_summarised) = (false, false, false);
                }
                Event::Requested { body, kind, compacted, .. } => {
                    n_requests += 1;
                    let body = String::from_utf8_lossy(body);
                    if *compacted {
                        own.apply(&mut changed, &mut standing, is_running);
                        let told = asides.iter().map(|(_, is_told)| is_told);
                        changed.asides.iter_mut().zip(told).for_each(|(gone, is_told)| *gone |= *is_told);
                    }
                    own.requested(plan, *kind, &body, &told);
                    // A message that the model was given to summarise is in the summary, as far as the system
                    // can ensure that.
                    if is_summarised && *kind == RequestKind::Auxiliary {
                        let given = |turn: &usize| body.contains(&as_written(&plan.turns[*turn].user));
                        standing.retain(|turn| {
                            let is_given = given(turn);
                            changed.turns[*turn] |= is_given;
                            !is_given
                        });
                    }
                    for ((text, is_told), gone) in asides.iter_mut().zip(&mut changed.asides) {
                        *is_told |= body.contains(text.as_str());
                        *gone |= *is_told && is_put_off;
                    }
                }
                Event::Said { text, .. } => {
                    asides.push((as_written(text), false));
                    changed.asides.push(false);
                }
                Event::ToolSettled { call, .. } => {
                    told[call.0 as usize] = true;
                    changed.calls[call.0 as usize] |= is_put_off;
                }
                Event::Changed { change: change @ (Change::Trim { .. } | Change::Summarise { .. }) } => {
                    // The user's message of the running turn stays.
                    let n_gone = standing.len() - usize::from(is_running && !standing.is_empty());
                    standing.drain(..n_gone).for_each(|turn| changed.turns[turn] = true);
                    changed.calls.iter_mut().zip(&told).for_each(|(gone, told)| *gone |= *told);
                    // A message that the model has received is history, even in a running turn.
                    let told = asides.iter().map(|(_, is_told)| is_told);
                    changed.asides.iter_mut().zip(told).for_each(|(gone, is_told)| *gone |= *is_told);
                    is_put_off = is_running;
                    is_summarised = is_running && matches!(change, Change::Summarise { .. });
                }
                Event::Changed { change: Change::Rewind { prompts } } => {
                    let from = standing.len().saturating_sub(*prompts as usize);
                    for turn in standing.drain(from..) {
                        changed.turns[turn] = true;
                        changed.taken_back.push((turn, n_requests));
                        let own =
                            plan.calls.iter().zip(&mut changed.calls).filter(|(call, _)| call.turn == turn);
                        own.for_each(|(_, gone)| *gone = true);
                    }
                }
                _ => {}
            }
        }
        changed
    }

    /// True if the user's message of a turn may be missing.
    pub fn may_be_gone(&self, turn: usize) -> bool {
        self.turns.get(turn).copied().unwrap_or_default()
    }

    /// True if a message to a running turn may be missing. `nth` is its number among all such messages.
    pub fn aside_may_be_gone(&self, nth: usize) -> bool {
        self.asides.get(nth).copied().unwrap_or_default()
    }

    /// True if the result of a call may be missing.
    pub fn result_may_be_gone(&self, call: CallKey) -> bool {
        self.calls.get(call.0 as usize).copied().unwrap_or_default()
    }
}

/// The parts of the conversation that the system has sent. They limit what its own compaction may remove:
/// nothing that neither the model nor a summary has received.
struct OwnCompaction {
    /// True if a full context was reported, so that a summary may be requested.
    is_due: bool,
    /// For each turn, true if its message was sent in any request.
    sent_turns: Vec<bool>,
    /// For each turn, true if its message was sent to be summarised.
    summarised_turns: Vec<bool>,
    /// For each call, true if it was sent with its result.
    sent_results: Vec<bool>,
}

impl OwnCompaction {
    fn of(plan: &Plan) -> OwnCompaction {
        let (turns, calls) = (vec![false; plan.turns.len()], vec![false; plan.calls.len()]);
        OwnCompaction {
            is_due: false,
            sent_turns: turns.clone(),
            summarised_turns: turns,
            sent_results: calls,
        }
    }

    /// Takes a request that is sent. `told` marks the calls that have their results.
    fn requested(&mut self, plan: &Plan, kind: RequestKind, body: &str, told: &[bool]) {
        for (turn, planned) in plan.turns.iter().enumerate() {
            if body.contains(&as_written(&planned.user)) {
                self.sent_turns[turn] = true;
                self.summarised_turns[turn] |= self.is_due && kind == RequestKind::Auxiliary;
            }
        }
        // A fast system sends a result on before the harness has noted that it was delivered, so the body counts,
        // too. A call's arguments contain its marker as well, so the marker is not enough for that.
        let has_text = |call: &PlannedCall| {
            let text = call.outcome.text();
            text.contains(call.marker.as_str()) && body.contains(&as_written(text))
        };
        for ((call, is_told), is_sent) in plan.calls.iter().zip(told).zip(&mut self.sent_results) {
            *is_sent |= body.contains(call.marker.as_str()) && (*is_told || has_text(call));
        }
        self.is_due |= reports_full(plan, kind);
    }

    /// Notes that the history is shorter: anything that was sent may be missing. The user's message of the
    /// running turn may be missing only if it was sent to be summarised.
    fn apply(&self, changed: &mut Changed, standing: &mut Vec<usize>, is_running: bool) {
        let last = standing.last().copied().filter(|_| is_running);
        standing.retain(|turn| {
            let is_gone =
                if last == Some(*turn) { self.summarised_turns[*turn] } else { self.sent_turns[*turn] };
            changed.turns[*turn] |= is_gone;
            !is_gone
        });
        changed.calls.iter_mut().zip(&self.sent_results).for_each(|(gone, is_sent)| *gone |= *is_sent);
    }
}

/// True if the answer to a request reports that the context is full or the request too long.
pub(super) fn reports_full(plan: &Plan, kind: RequestKind) -> bool {
    let (turn, reply, attempt, is_refused) = match kind {
        RequestKind::Scripted { turn, reply, attempt } => (turn, reply, attempt, false),
        RequestKind::Faulted { turn, reply, attempt, .. } => (turn, reply, attempt, true),
        RequestKind::Refused { .. }
        | RequestKind::Surplus
        | RequestKind::Auxiliary
        | RequestKind::OfSubAgent { .. } => return false,
    };
    let here = PlannedPoint::Stream { reply, attempt, mark: Mark::Headers, side: Side::Before };
    let actions = plan.turns.get(turn).map(|turn| turn.actions.as_slice()).unwrap_or_default();
    let is_window = is_refused && plan.window.is_some();
    is_window
        || actions.iter().any(|action| {
            let is_it = action.what.fills_context() && action.what.http().is_some() == is_refused;
            action.at == here && is_it
        })
}

/// A text as written in a body, without the quotes.
fn as_written(text: &str) -> String {
    let written = Value::from(text.trim()).to_string();
    written[1..written.len() - 1].to_owned()
}
