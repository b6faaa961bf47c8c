//! The conductor lets replies and tools continue in a turn that does not end at its stop, and it tells the runs of
//! one call apart.

use std::sync::Arc;

use brickbat_engine::conductor::{Command, Conductor, Patience};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{CallKey, Mark, Plan, PlannedPoint, Side};
use brickbat_scenario::trace::{
    Confidence, Ending, Event, ExchangeId, Held, LetGo, RequestKind, TurnOutcome,
};

use super::staging::{key, plan};

/// A conductor of the first turn, while the first reply is being sent.
fn asked(plan: &Arc<Plan>, grace: Option<u32>) -> Conductor {
    let mut conductor = Conductor::new(Arc::clone(plan), Patience { progress: 15, hang: 30, grace }, None);
    conductor.start();
    let kind = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
    conductor.observe(&Event::requested(ExchangeId(0), kind, Vec::new()));
    conductor
}

/// The same, when all tools of the first reply run.
fn running(plan: &Arc<Plan>, grace: Option<u32>) -> Conductor {
    let mut conductor = asked(plan, grace);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    for name in ["a", "b", "c"] {
        conductor.observe(&starts(key(plan, name)));
    }
    conductor
}

fn starts(call: CallKey) -> Event {
    Event::ToolStarted { call: Some(call), args: String::new() }
}

fn settled(plan: &Plan, call: CallKey) -> Event {
    let outcome = plan.calls[call.0 as usize].outcome.clone();
    Event::ToolSettled { call, outcome, grade: Confidence::Observed }
}

fn settle(plan: &Plan, call: CallKey) -> Command {
    Command::Settle { call, outcome: plan.calls[call.0 as usize].outcome.clone() }
}

#[test]
fn a_provider_that_is_silent_by_plan_stays_silent() {
    for dialect in Dialect::ALL {
        for grace in [None, Some(2)] {
            let plan = plan("fault/stall#p=text-1", dialect);
            let PlannedPoint::Stream { mark, side, .. } = plan.turns[0].actions[0].at else { panic!() };
            let mut conductor = asked(&plan, grace);
            let at = Held { mark, side };
            conductor.observe(&Event::Held { exchange: ExchangeId(0), at, grade: Confidence::Observed });
            let commands: Vec<Command> = (0..60).flat_map(|_| conductor.observe(&Event::Quiet)).collect();
            assert_eq!(commands[..3], [Command::Stop, Command::GiveUp, Command::Finish], "{grace:?}");
            let lets_go = |command: &Command| matches!(command, Command::Release(_) | Command::LetGo(_));
            assert!(!commands.iter().any(lets_go), "{} {grace:?}: {commands:?}", plan.id);
        }
    }
}

#[test]
fn a_silent_provider_stays_silent_when_the_turn_has_ended_at_its_stop() {
    for dialect in Dialect::ALL {
        let plan = plan("fault/stall#p=text-1", dialect);
        let PlannedPoint::Stream { mark, side, .. } = plan.turns[0].actions[0].at else { panic!() };
        let mut conductor = asked(&plan, None);
        let at = Held { mark, side };
        conductor.observe(&Event::Held { exchange: ExchangeId(0), at, grade: Confidence::Observed });
        assert_eq!(conductor.observe(&Event::Quiet), [Command::Stop]);
        let ended = Event::TurnEnded { outcome: TurnOutcome::Cancelled };
        assert_eq!(conductor.observe(&ended), [Command::Prompt { turn: 1 }], "{}", plan.id);
    }
}

#[test]
fn tools_continue_in_a_stopped_turn_only_if_its_replies_did_not_end_it() {
    for dialect in Dialect::ALL {
        let plan = plan("abort/mid-batch#k=1", dialect);
        let mut conductor = running(&plan, Some(2));
        assert_eq!(conductor.observe(&settled(&plan, key(&plan, "b"))), [Command::Stop], "{}", plan.id);
        // The reply to a request that crossed the stop is held.
        let exchange = ExchangeId(1);
        conductor.observe(&Event::requested(exchange, RequestKind::Surplus, Vec::new()));
        let at = Held { mark: Mark::Headers, side: Side::Before };
        conductor.observe(&Event::Held { exchange, at, grade: Confidence::Observed });
        assert_eq!(conductor.observe(&Event::Quiet), []);
        let replies = [Command::LetGo(LetGo::Replies), Command::Release(exchange)];
        assert_eq!(conductor.observe(&Event::Quiet), replies);
        assert_eq!(conductor.observe(&Event::Quiet), []);
        let tools = conductor.observe(&Event::Quiet);
        assert_eq!(tools[0], Command::LetGo(LetGo::Tools));
        assert!(matches!(tools[1..], [Command::Settle { .. }]), "{tools:?}");
    }
}

#[test]
fn the_end_of_an_old_run_is_not_the_end_of_the_run_that_the_next_turn_began() {
    for dialect in Dialect::ALL {
        let plan = plan("abort/mid-batch#k=1", dialect);
        let (a, b, c) = (key(&plan, "a"), key(&plan, "b"), key(&plan, "c"));
        let mut conductor = running(&plan, None);
        conductor.observe(&settled(&plan, b));
        let ended = Event::TurnEnded { outcome: TurnOutcome::Cancelled };
        assert_eq!(conductor.observe(&ended), [Command::Prompt { turn: 1 }]);
        // The tools that the stop left running end in the next turn.
        let asks = Event::requested(ExchangeId(1), RequestKind::Surplus, Vec::new());
        assert_eq!(conductor.observe(&asks), [settle(&plan, a)]);
        // The system runs the call again before the result of the old run has arrived.
        assert_eq!(conductor.observe(&starts(a)), []);
        let outcome = Some(plan.calls[a.0 as usize].outcome.clone());
        let old = Event::OldRunEnded { call: a, turn: 0, outcome };
        assert_eq!(conductor.observe(&old), [settle(&plan, a)], "{}", plan.id);
        assert_eq!(conductor.observe(&settled(&plan, a)), [settle(&plan, c)], "{}", plan.id);
    }
}
