//! The parts of a history that were changed on purpose, or that the store has lost.

mod summaries;

use crate::provider::has_large_results;
use brickbat_scenario::plan::{CallKey, Change, Mark, Plan, PlannedCall, PlannedPoint, Side};
use brickbat_scenario::trace::{Event, RequestKind, Trace};
use serde_json::Value;
use summaries::Summaries;

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
        let mut standing = Standing::of(plan, trace);
        trace.events().iter().for_each(|event| standing.on(event));
        standing.changed
    }

    /// Notes that the store has lost a turn in which one of its writes failed.
    pub(super) fn lost(&mut self, plan: &Plan, turn: usize) {
        self.turns[turn] = true;
        let calls = plan.calls.iter().zip(&mut self.calls);
        calls.filter(|(call, _)| !call.given && call.turn == turn).for_each(|(_, is_gone)| *is_gone = true);
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

/// The history that the system still has, event by event.
struct Standing<'a> {
    plan: &'a Plan,
    changed: Changed,
    /// The turns with a user message in the history, in order.
    prompts: Vec<usize>,
    /// Each message to a running turn, as requests write it, and true if the model has received it.
    asides: Vec<(String, bool)>,
    /// For each call, true if it has its result.
    answered: Vec<bool>,
    stage: Stage,
    own: OwnCompaction,
    summaries: Summaries,
    n_requests: usize,
}

/// The state of the system, as far as a change of the history depends on it.
///
/// A running turn may postpone a change until the results of its step have come. These results may then
/// disappear, too, and so may the content of requests in between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Running,
    /// A turn runs that may have postponed a trim.
    Trimming,
    /// A turn runs that may have postponed a summary. The summary may also replace the user's message of that
    /// turn.
    Summarising,
}

impl Stage {
    fn is_running(self) -> bool {
        self != Stage::Idle
    }

    fn has_put_off(self) -> bool {
        matches!(self, Stage::Trimming | Stage::Summarising)
    }
}

impl<'a> Standing<'a> {
    fn of(plan: &'a Plan, trace: &Trace) -> Standing<'a> {
        // Results that do not fit into the window may be cut anywhere.
        let (turns, calls) = (vec![false; plan.turns.len()], vec![plan.window.is_some(); plan.calls.len()]);
        Standing {
            plan,
            changed: Changed { turns, calls, asides: Vec::new(), taken_back: Vec::new() },
            prompts: Vec::new(),
            asides: Vec::new(),
            answered: vec![false; plan.calls.len()],
            stage: Stage::Idle,
            own: OwnCompaction::of(plan),
            summaries: Summaries::of(plan, trace),
            n_requests: 0,
        }
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Prompted { turn } => {
                self.prompts.push(*turn);
                self.stage = Stage::Running;
            }
            Event::TurnEnded { .. } | Event::Killed => self.stage = Stage::Idle,
            Event::Requested { exchange, body, kind, compacted, summary, .. } => {
                let replaces = summary.is_some() && self.summaries.asked(*exchange);
                self.requested(*kind, &String::from_utf8_lossy(body), *compacted);
                if replaces {
                    self.shortened(Stage::Summarising);
                }
            }
            Event::Said { text, .. } => {
                self.asides.push((as_written(text), false));
                self.changed.asides.push(false);
            }
            Event::ToolSettled { call, .. } => {
                self.answered[call.0 as usize] = true;
                self.changed.calls[call.0 as usize] |= self.stage.has_put_off();
            }
            Event::Changed { change } => match change {
                Change::Trim { .. } => self.shortened(Stage::Trimming),
                Change::Summarise { .. } => {
                    if self.summaries.commanded(self.plan) {
                        self.shortened(Stage::Summarising);
                    }
                }
                Change::Rewind { prompts } => self.taken_back(*prompts as usize),
                Change::Aside { .. }
                | Change::Thinking { .. }
                | Change::Provider { .. }
                | Change::Tools { .. } => {}
            },
            _ => {}
        }
    }

    fn requested(&mut self, kind: RequestKind, body: &str, is_compacted: bool) {
        self.n_requests += 1;
        if is_compacted && !self.summaries.is_interrupted() {
            let spared = self.prompts.last().copied().filter(|_| self.stage.is_running());
            let spared = spared.filter(|_| !self.summaries.is_given());
            self.own.apply(&mut self.changed, &mut self.prompts, (self.stage.is_running(), spared));
            self.received_asides_are_gone();
        }
        self.own.requested(self.plan, kind, body, &self.answered);
        // A message that the model was given to summarise is in the summary, as far as the system can ensure
        // that.
        if self.stage == Stage::Summarising && kind == RequestKind::Auxiliary {
            let (plan, gone) = (self.plan, &mut self.changed.turns);
            self.prompts.retain(|turn| {
                let is_given = body.contains(&as_written(&plan.turns[*turn].user));
                gone[*turn] |= is_given;
                !is_given
            });
        }
        for ((text, is_received), gone) in self.asides.iter_mut().zip(&mut self.changed.asides) {
            *is_received |= body.contains(text.as_str());
            *gone |= *is_received && self.stage.has_put_off();
        }
    }

    /// Takes a trim or a summary. While a turn runs, the stage becomes `put_off`.
    fn shortened(&mut self, put_off: Stage) {
        // The user's message of the running turn stays.
        let n_gone = self.prompts.len() - usize::from(self.stage.is_running() && !self.prompts.is_empty());
        self.prompts.drain(..n_gone).for_each(|turn| self.changed.turns[turn] = true);
        self.changed.calls.iter_mut().zip(&self.answered).for_each(|(gone, is_there)| *gone |= *is_there);
        self.received_asides_are_gone();
        if self.stage.is_running() {
            self.stage = put_off;
        }
    }

    /// A message that the model has received is history, even in a running turn.
    fn received_asides_are_gone(&mut self) {
        let received = self.asides.iter().map(|(_, is_received)| is_received);
        self.changed.asides.iter_mut().zip(received).for_each(|(gone, is_received)| *gone |= *is_received);
    }

    /// Takes the user's last `n_prompts` messages back.
    fn taken_back(&mut self, n_prompts: usize) {
        let from = self.prompts.len().saturating_sub(n_prompts);
        for turn in self.prompts.drain(from..) {
            self.changed.turns[turn] = true;
            self.changed.taken_back.push((turn, self.n_requests));
            let calls = self.plan.calls.iter().zip(&mut self.changed.calls);
            calls.filter(|(call, _)| call.turn == turn).for_each(|(_, gone)| *gone = true);
        }
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

    /// Takes a request that is sent. `answered` marks the calls that have their results.
    fn requested(&mut self, plan: &Plan, kind: RequestKind, body: &str, answered: &[bool]) {
        // With results as large as a context, the system may have counted the tokens itself.
        let is_due = self.is_due || has_large_results(plan);
        for (turn, planned) in plan.turns.iter().enumerate() {
            if body.contains(&as_written(&planned.user)) {
                self.sent_turns[turn] = true;
                self.summarised_turns[turn] |= is_due && kind == RequestKind::Auxiliary;
            }
        }
        // A fast system sends a result on before the harness has noted that it was delivered, so the body counts,
        // too. A call's arguments contain its marker as well, so the marker is not enough for that.
        let has_text = |call: &PlannedCall| {
            let text = call.outcome.text();
            text.contains(call.marker.as_str()) && body.contains(&as_written(text))
        };
        for ((call, is_answered), is_sent) in plan.calls.iter().zip(answered).zip(&mut self.sent_results) {
            *is_sent |= body.contains(call.marker.as_str()) && (*is_answered || has_text(call));
        }
        self.is_due |= reports_full(plan, kind);
    }

    /// Notes that the history is shorter: anything that was sent may be missing. The user's message of the
    /// running turn may be missing only if it was sent to be summarised. The message of `spared` must not be missing.
    fn apply(
        &self,
        changed: &mut Changed,
        prompts: &mut Vec<usize>,
        (is_running, spared): (bool, Option<usize>),
    ) {
        let last = prompts.last().copied().filter(|_| is_running);
        prompts.retain(|turn| {
            let is_gone =
                if last == Some(*turn) { self.summarised_turns[*turn] } else { self.sent_turns[*turn] };
            let is_gone = is_gone && spared != Some(*turn);
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
        | RequestKind::Repeated { .. }
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
