//! The events that the conductor waits for, and those that it does not wait for.

use std::sync::Arc;

use brickbat_engine::conductor::{Command, Conductor, Patience};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{CallKey, Mark, Plan, Side};
use brickbat_scenario::trace::{Confidence, Ending, Event, ExchangeId, Held, RequestKind, TurnOutcome};

use super::staging::{key, plan};

const PATIENCE: Patience = Patience { progress: 8, hang: 60, grace: None };

/// A conductor, and the calls of its plan.
struct Rehearsal {
    plan: Arc<Plan>,
    conductor: Conductor,
}

impl Rehearsal {
    /// The first reply has ended; its tools are about to start.
    fn new(plan: Arc<Plan>, width: Option<usize>) -> Rehearsal {
        let mut conductor = Conductor::new(Arc::clone(&plan), PATIENCE, width);
        conductor.start();
        let mut rehearsal = Rehearsal { plan, conductor };
        rehearsal.asks(0, 0);
        let exchange = ExchangeId(0);
        rehearsal.hears(Event::Replied { exchange, ending: Ending::Complete });
        rehearsal
    }

    fn hears(&mut self, event: Event) -> Vec<Command> {
        self.conductor.observe(&event)
    }

    fn asks(&mut self, exchange: u32, turn: usize) -> Vec<Command> {
        let kind = RequestKind::Scripted { turn, reply: 0, attempt: 0 };
        self.hears(Event::requested(ExchangeId(exchange), kind, Vec::new()))
    }

    fn starts(&mut self, name: &str) -> Vec<Command> {
        let call = Some(self.key(name));
        self.hears(Event::ToolStarted { call, args: String::new() })
    }

    fn settles(&mut self, name: &str) -> Vec<Command> {
        let call = self.key(name);
        let outcome = self.plan.calls[call.0 as usize].outcome.clone();
        self.hears(Event::ToolSettled { call, outcome, grade: Confidence::Observed })
    }

    fn cancels(&mut self, name: &str) -> Vec<Command> {
        let call = self.key(name);
        self.hears(Event::ToolCancelled { call })
    }

    fn quiet(&mut self, n_spells: u32) -> Vec<Command> {
        (0..n_spells).flat_map(|_| self.hears(Event::Quiet)).collect()
    }

    fn key(&self, name: &str) -> CallKey {
        key(&self.plan, name)
    }

    fn settling(&self, name: &str) -> Command {
        let call = self.key(name);
        Command::Settle { call, outcome: self.plan.calls[call.0 as usize].outcome.clone() }
    }

    fn fired(&self) -> Vec<bool> {
        self.conductor.receipts().iter().map(|receipt| receipt.fired).collect()
    }
}

#[test]
fn the_stop_before_any_result_waits_for_all_calls() {
    for dialect in Dialect::ALL {
        let mut rehearsal = Rehearsal::new(plan("abort/mid-batch#k=0", dialect), None);
        assert_eq!(rehearsal.starts("a"), []);
        assert_eq!(rehearsal.starts("b"), []);
        assert_eq!(rehearsal.starts("c"), [Command::Stop]);
        assert_eq!(rehearsal.fired(), [true]);
    }
}

#[test]
fn the_stop_before_any_result_does_not_come_on_a_system_that_runs_one_tool_at_a_time() {
    for dialect in Dialect::ALL {
        for (width, n_spells) in [(Some(1), 0), (None, PATIENCE.progress)] {
            let mut rehearsal = Rehearsal::new(plan("abort/mid-batch#k=0", dialect), width);
            let mut commands = rehearsal.starts("a");
            commands.extend(rehearsal.quiet(n_spells));
            assert_eq!(commands, [rehearsal.settling("a")], "width {width:?}");
            assert_eq!(rehearsal.fired(), [false], "width {width:?}");
        }
    }
}

/// The user has stopped the turn in which the deaf tool c still runs.
fn stopped(dialect: Dialect) -> Rehearsal {
    let mut rehearsal = Rehearsal::new(plan("reorder/late-result", dialect), Some(3));
    for name in ["a", "b", "c"] {
        rehearsal.starts(name);
    }
    assert_eq!(rehearsal.settles("b"), [Command::Stop]);
    assert_eq!(rehearsal.cancels("a"), []);
    rehearsal
}

#[test]
fn a_system_that_waits_for_its_deaf_tool_before_it_ends_the_stopped_turn_does_not_hang() {
    for dialect in Dialect::ALL {
        let mut rehearsal = stopped(dialect);
        assert_eq!(rehearsal.quiet(PATIENCE.progress - 1), []);
        assert_eq!(rehearsal.quiet(1), [rehearsal.settling("c")]);
        assert_eq!(rehearsal.settles("c"), []);
        let outcome = TurnOutcome::Cancelled;
        assert_eq!(rehearsal.hears(Event::TurnEnded { outcome }), [Command::Prompt { turn: 1 }]);
    }
}

#[test]
fn a_system_that_does_not_end_the_stopped_turn_with_its_last_tool_hangs() {
    for dialect in Dialect::ALL {
        let mut rehearsal = stopped(dialect);
        rehearsal.quiet(PATIENCE.progress);
        rehearsal.settles("c");
        assert_eq!(rehearsal.quiet(PATIENCE.hang), [Command::GiveUp, Command::Finish]);
    }
}

#[test]
fn a_held_reply_continues_when_the_call_that_was_to_settle_there_is_gone() {
    for dialect in Dialect::ALL {
        let mut rehearsal = stopped(dialect);
        rehearsal.cancels("c");
        let outcome = TurnOutcome::Cancelled;
        assert_eq!(rehearsal.hears(Event::TurnEnded { outcome }), [Command::Prompt { turn: 1 }]);
        assert_eq!(rehearsal.asks(1, 1), []);
        let exchange = ExchangeId(1);
        let at = Held { mark: Mark::Headers, side: Side::Before };
        let held = Event::Held { exchange, at, grade: Confidence::Observed };
        assert_eq!(rehearsal.hears(held), [rehearsal.settling("c")]);
        assert_eq!(rehearsal.cancels("c"), [Command::Release(exchange)]);
        assert_eq!(rehearsal.fired(), [true, false]);
    }
}
