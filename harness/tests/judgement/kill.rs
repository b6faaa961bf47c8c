//! A process that is killed: what the next process may be required to do, and what not.

use brickbat_engine::conductor::{Command, Conductor, Patience};
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::{Plan, Side};
use brickbat_scenario::trace::{
    Confidence, Consent, Ending, Event, ExchangeId, Held, Ledger, RequestKind, ShownState, TurnOutcome,
};
use brickbat_scenario::verdict::Verdict;

use super::staging::*;

const FORGOTTEN: &str = "the result of call b is missing: the process was killed after it had shown the call as completed, \
                         so the tool ran, but the thread has no record of it";

/// The run without the updates about its calls.
fn unshown(run: &Run) -> Run {
    without(run, |_, event| matches!(event, Event::CallShown { .. }))
}

#[test]
fn a_result_that_was_shown_before_the_kill_must_be_kept() {
    for plan in on_each("kill/mid-batch#k=1") {
        let run = run_canary(&plan, crate::plans::canary("kill-loses-results"));
        expect_failure(&plan, &run, "results-kept", &[FORGOTTEN]);
    }
}

#[test]
fn a_result_that_replaces_a_delivered_one_is_printed_as_made_up() {
    for plan in on_each("kill/mid-batch#k=1") {
        let judgement = judged(&plan, &run_canary(&plan, crate::plans::canary("kill-loses-results")));
        let lost = judgement.findings.iter().find(|finding| finding.check == "results-kept").unwrap();
        let marked = ["made-up b", "made-up error b"].iter().any(|words| lost.got.contains(words));
        assert!(marked && !lost.got.contains("result b") && !lost.got.contains(",error b"), "{}", lost.got);
    }
}

#[test]
fn a_result_that_was_only_read_before_the_kill_is_not_required() {
    for plan in on_each("kill/mid-batch#k=1") {
        let run = unshown(&run_canary(&plan, crate::plans::canary("kill-loses-results")));
        expect_unaccused(&plan, &run, Verdict::Pass);
    }
}

#[test]
fn a_result_that_was_sent_before_the_kill_must_be_kept() {
    for plan in on_each("kill/before-second-step") {
        let run = unshown(&run_canary(&plan, crate::plans::canary("kill-forgets")));
        let judgement = judged(&plan, &run);
        let lost = judgement.findings.iter().filter(|finding| finding.check == "results-kept");
        let sent = lost.filter(|finding| finding.message.contains("after it had sent it to the provider"));
        assert_eq!(sent.count(), 3, "{judgement:#?}");
    }
}

#[test]
fn a_result_of_a_turn_that_had_ended_must_be_kept_whatever_was_shown() {
    for plan in on_each("kill/mid-batch#k=1") {
        let ended =
            rebuilt(&unshown(&run_canary(&plan, crate::plans::canary("kill-loses-results"))), |_, event| {
                match event {
                    Event::Killed => {
                        vec![Event::TurnEnded { outcome: TurnOutcome::Cancelled }, Event::Killed]
                    }
                    event => vec![event.clone()],
                }
            });
        let lost = "the last request does not contain what the tool of call b returned";
        expect_failure(&plan, &ended, "results-kept", &[lost]);
    }
}

#[test]
fn a_dead_process_is_not_accused_of_what_it_shows() {
    for plan in on_each("kill/mid-batch#k=1") {
        let run = run(&plan);
        let last = |name: &str| {
            let id = &plan.calls[key(&plan, name).0 as usize].id;
            let shown = run.trace.events().iter().rev().find_map(|event| match event {
                Event::CallShown { id: shown, state } if shown == id => Some(*state),
                _ => None,
            });
            shown.unwrap()
        };
        assert_eq!([last("a"), last("b")], [ShownState::InProgress, ShownState::Completed]);
        expect_unaccused(&plan, &run, Verdict::Pass);
        // In a process that lives, the same is a stuck part.
        let alive = rebuilt(&run, |_, event| match event {
            Event::Killed => vec![Event::TurnEnded { outcome: TurnOutcome::Cancelled }],
            Event::Resumed => Vec::new(),
            event => vec![event.clone()],
        });
        let stuck = "calls a and c are still shown as `in_progress` after their turn is over";
        expect_failure(&plan, &alive, "parts-settled", &[stuck]);
    }
}

#[test]
fn the_death_of_a_process_is_not_an_action_of_the_system() {
    for plan in on_each("kill/mid-batch#k=1") {
        let run = run(&plan);
        let ledger = Ledger::of(&run.trace, plan.calls.len());
        let account = |name: &str| ledger.calls[key(&plan, name).0 as usize].clone();
        assert!(account("b").settled.is_some() && !account("b").settled_late);
        for name in ["a", "c"] {
            let account = account(name);
            assert_eq!((account.starts.len(), account.settled, account.cancelled), (1, None, false));
        }
        let of_first_turn = run.trace.by_turn().filter(|(turn, _)| *turn == 0);
        let told = of_first_turn
            .filter(|(_, event)| matches!(event, Event::PeerClosed { .. } | Event::TurnEnded { .. }));
        assert_eq!(told.count(), 0);
    }
}

#[test]
fn a_call_that_the_next_process_runs_again_is_executed_again() {
    for plan in on_each("kill/mid-batch#k=1") {
        let run = run(&plan);
        let a = key(&plan, "a");
        let args = Ledger::of(&run.trace, plan.calls.len()).calls[a.0 as usize].starts[0].clone();
        let again = rebuilt(&run, |_, event| match event {
            Event::Prompted { turn: 1 } => {
                vec![event.clone(), Event::ToolStarted { call: Some(a), args: args.clone() }]
            }
            event => vec![event.clone()],
        });
        expect_failure(&plan, &again, "executed-once", &["call a ran 2 times"]);
    }
}

#[test]
fn a_call_that_was_not_to_run_may_run_once_the_user_has_allowed_it() {
    for plan in on_each("approval/kill-while-asked") {
        let run = run(&plan);
        let b = key(&plan, "b");
        let started = Event::ToolStarted { call: Some(b), args: plan.calls[b.0 as usize].args.to_string() };
        let question = run.trace.events().iter().find_map(|event| match event {
            Event::Asked { question, call: Some(call), .. } if *call == b => Some(*question),
            _ => None,
        });
        let allowed = Event::Answered { question: question.unwrap(), call: Some(b), consent: Consent::Given };
        let with = |before: Vec<Event>| {
            rebuilt(&run, |_, event| match event {
                Event::Killed => before.iter().chain([event]).cloned().collect(),
                event => vec![event.clone()],
            })
        };
        expect_failure(&plan, &with(vec![started.clone()]), "executed-once", &["call b ran 1 times"]);
        let judgement = judged(&plan, &with(vec![allowed, started]));
        let again = judgement.findings.iter().find(|finding| finding.check == "executed-once");
        assert_eq!(again, None, "{judgement:#?}");
    }
}

#[test]
fn a_kill_without_a_receipt_is_vacuous() {
    for plan in on_each("kill/mid-batch#k=1") {
        let mut run = run(&plan);
        run.receipts[0].grade = Some(Confidence::Written);
        expect_unaccused(&plan, &run, Verdict::Vacuous);
        run.receipts[0].fired = false;
        expect_unaccused(&plan, &run, Verdict::Vacuous);
    }
}

/// A conductor with a first reply that is being streamed.
fn conductor(plan: &std::sync::Arc<Plan>) -> Conductor {
    let mut conductor =
        Conductor::new(std::sync::Arc::clone(plan), Patience { progress: 8, hang: 60, grace: None }, Some(3));
    conductor.start();
    let kind = RequestKind::Scripted { turn: 0, reply: 0, attempt: 0 };
    conductor.observe(&Event::requested(ExchangeId(0), kind, Vec::new()));
    conductor
}

#[test]
fn the_conductor_pauses_while_a_process_dies_and_another_takes_the_next_turn() {
    let plan = plan("kill/mid-batch#k=1", Dialect::OpenaiChat);
    let mut conductor = conductor(&plan);
    conductor.observe(&Event::Replied { exchange: ExchangeId(0), ending: Ending::Complete });
    for name in ["a", "b", "c"] {
        conductor.observe(&Event::ToolStarted { call: Some(key(&plan, name)), args: String::new() });
    }
    let outcome = plan.calls[key(&plan, "b").0 as usize].outcome.clone();
    let settled = Event::ToolSettled { call: key(&plan, "b"), outcome, grade: Confidence::Read };
    assert_eq!(conductor.observe(&settled), [Command::Kill]);
    assert_eq!(
        (conductor.receipts()[0].fired, conductor.receipts()[0].grade),
        (true, Some(Confidence::Read))
    );
    for event in [Event::Quiet, Event::TurnEnded { outcome: TurnOutcome::Returned }, settled] {
        assert_eq!(conductor.observe(&event), []);
    }
    assert_eq!(conductor.observe(&Event::Killed), [Command::Resume, Command::Prompt { turn: 1 }]);
    assert_eq!(conductor.observe(&Event::Resumed), []);
}

#[test]
fn a_reply_that_is_held_at_the_kill_is_never_released() {
    let plan = plan("kill/in-text#p=text-1", Dialect::OpenaiChat);
    let mut conductor = conductor(&plan);
    let brickbat_scenario::plan::PlannedPoint::Stream { mark, side, .. } = plan.turns[0].actions[0].at else {
        panic!()
    };
    let held = Event::Held { exchange: ExchangeId(0), at: Held { mark, side }, grade: Confidence::Observed };
    assert_eq!(conductor.observe(&held), [Command::Kill]);
    assert_eq!(conductor.observe(&Event::Killed), [Command::Resume, Command::Prompt { turn: 1 }]);
}

/// A message to a running turn is lost if the process dies while writing it, which no system can prevent.
#[test]
fn a_note_is_required_if_its_write_ended_before_the_kill() {
    let text = include_str!("../../../corpora/accusations/killed-in-the-write-of-a-note.yaml");
    let plans = brickbat_scenario::lower::plans("note", "note", text, &Dialect::ALL, 0).unwrap();
    for plan in plans.into_iter().filter(|plan| plan.impossible.is_none()).map(std::sync::Arc::new) {
        let run = run(&plan);
        expect_unaccused(&plan, &run, Verdict::Pass);
        let written = rebuilt(&run, |_, event| match event {
            Event::Killed => {
                vec![Event::Saving { entry: 3, side: Side::After, failed: false }, Event::Killed]
            }
            event => vec![event.clone()],
        });
        let wrong = "what the user said during turn 1 is missing from the last request";
        expect_failure(&plan, &written, "user-message-kept", &[wrong]);
    }
}
