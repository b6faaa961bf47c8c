//! What of a history was changed on purpose.

use brickbat_scenario::plan::{CallKey, Change, Mark, Plan, PlannedPoint, Side};
use brickbat_scenario::trace::{Event, RequestKind, Trace};
use serde_json::Value;

/// What of the conversation need not be in later requests, and what must not be.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// For each turn, whether what the user said in it was cut off, summarised or taken back.
    turns: Vec<bool>,
    /// The same for the result of each call.
    calls: Vec<bool>,
    /// The same for what was said to running turns, in the order in which it was said.
    asides: Vec<bool>,
    /// Turns that were taken back, with the number of requests that had come by then.
    pub(super) taken_back: Vec<(usize, usize)>,
}

impl Changed {
    /// Reads it off a trace. What comes after a change is not touched by it.
    pub fn of(plan: &Plan, trace: &Trace) -> Changed {
        // What the window does not hold may be cut, wherever it stands.
        let (turns, calls) = (vec![false; plan.turns.len()], vec![plan.window.is_some(); plan.calls.len()]);
        let mut changed = Changed { turns, calls, asides: Vec::new(), taken_back: Vec::new() };
        // What was said to a running turn, as requests write it, and whether the model has been told.
        let mut asides: Vec<(String, bool)> = Vec::new();
        let mut told = vec![false; plan.calls.len()];
        let mut standing: Vec<usize> = Vec::new();
        let (mut is_running, mut n_requests) = (false, 0);
        // A running turn may put a change off until the results of its step have come, which then go with it, and
        // so does what requests tell the model meanwhile.
        let mut is_put_off = false;
        let mut own = OwnCompaction::of(plan);
        // A summary that is asked for while a turn runs may stand for what the user said in it, too.
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
                    // What the model was given to summarise is in the summary, as far as the system can see to it.
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
                    // What the user said in the running turn stays.
                    let n_gone = standing.len() - usize::from(is_running && !standing.is_empty());
                    standing.drain(..n_gone).for_each(|turn| changed.turns[turn] = true);
                    changed.calls.iter_mut().zip(&told).for_each(|(gone, told)| *gone |= *told);
                    // What the model has been told of is history, also in a running turn.
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

    /// Whether what the user said in a turn need not be there.
    pub fn may_be_gone(&self, turn: usize) -> bool {
        self.turns.get(turn).copied().unwrap_or_default()
    }

    /// Whether what was said to a running turn need not be there. It is known by its number among all that was.
    pub fn aside_may_be_gone(&self, nth: usize) -> bool {
        self.asides.get(nth).copied().unwrap_or_default()
    }

    /// Whether the result of a call need not be there.
    pub fn result_may_be_gone(&self, call: CallKey) -> bool {
        self.calls.get(call.0 as usize).copied().unwrap_or_default()
    }
}

/// What the system has sent of the conversation, by which it is known what its own compaction may take away:
/// nothing that neither the model nor a summary has been given.
struct OwnCompaction {
    /// Whether a full context was reported, so that a summary may be asked for.
    is_due: bool,
    /// The turns whose words were sent, to whomever.
    sent_turns: Vec<bool>,
    /// The same to be summarised.
    summarised_turns: Vec<bool>,
    /// Calls that were sent when they had their results.
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

    /// A request is sent; `told` are the calls that have their results.
    fn requested(&mut self, plan: &Plan, kind: RequestKind, body: &str, told: &[bool]) {
        for (turn, planned) in plan.turns.iter().enumerate() {
            if body.contains(&as_written(&planned.user)) {
                self.sent_turns[turn] = true;
                self.summarised_turns[turn] |= self.is_due && kind == RequestKind::Auxiliary;
            }
        }
        for ((call, is_told), is_sent) in plan.calls.iter().zip(told).zip(&mut self.sent_results) {
            *is_sent |= *is_told && body.contains(call.marker.as_str());
        }
        self.is_due |= reports_full(plan, kind);
    }

    /// The history is shorter: what was sent may be gone. What the user said in the running turn is a part of it
    /// only if a summary stands for it.
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

/// Whether the answer to a request says that the context is full, or too long.
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

/// A text as it stands in a body, without the quotes.
fn as_written(text: &str) -> String {
    let written = Value::from(text.trim()).to_string();
    written[1..written.len() - 1].to_owned()
}
