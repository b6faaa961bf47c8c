//! Requests from the past: which request repeats a failed one of an earlier turn, and which does not.

use std::sync::Arc;

use brickbat_engine::provider::Provider;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Event, ExchangeId, RequestKind, TurnOutcome};
use brickbat_scenario::verdict::Severity;
use brickbat_scenario::wire::thread::Message;

use super::staging::{asked, edited, judged, on_each, plan, rebuilt, run};

/// Asks a provider with one message of the user, which says all of this.
fn ask(provider: &mut Provider, plan: &Plan, said: &[&str]) -> RequestKind {
    asked(provider, plan, &[Message::User(said.join("\n"))]).0
}

fn provider(plan: &Arc<Plan>) -> Provider {
    let mut provider = Provider::new(Arc::clone(plan), plan.profile_from(&[]));
    provider.begin_turn(0);
    provider
}

const REPEATED: RequestKind = RequestKind::Repeated { of: ExchangeId(0) };

fn scripted(turn: usize) -> RequestKind {
    RequestKind::Scripted { turn, reply: 0, attempt: 0 }
}

#[test]
fn a_failed_request_of_an_earlier_turn_is_recognised_and_gets_no_reply_of_this_one() {
    for plan in on_each("fault/reset-in-stream#p=text-1") {
        let (first, second) = (plan.turns[0].user.as_str(), plan.turns[1].user.as_str());
        let mut provider = provider(&plan);
        assert_eq!(ask(&mut provider, &plan, &[first]), scripted(0), "{}", plan.id);
        provider.begin_turn(1);
        for _ in 0..2 {
            assert_eq!(ask(&mut provider, &plan, &[first]), REPEATED, "{}", plan.id);
        }
        assert_eq!(ask(&mut provider, &plan, &[first, second]), scripted(1), "{}", plan.id);
    }
}

#[test]
fn a_retry_in_the_same_turn_is_not_a_request_from_the_past() {
    for plan in on_each("fault/reset-in-stream#p=text-1") {
        let first = plan.turns[0].user.as_str();
        let mut provider = provider(&plan);
        ask(&mut provider, &plan, &[first]);
        let again = RequestKind::Scripted { turn: 0, reply: 0, attempt: 1 };
        assert_eq!(ask(&mut provider, &plan, &[first]), again, "{}", plan.id);
    }
}

#[test]
fn a_user_who_says_the_same_again_is_answered() {
    for dialect in Dialect::ALL {
        let edits = [("What happened?", "Look up the three orders."), ("after: $p", "after: { text: 1 }")];
        let vary = "vary:\n  p:\n    - headers\n    - { text: 1 }\n    - { start: a }\n    - { delta: [a, 2] }\n    \
                    - { end: a }\n    - { start: b }\n    - { delta: [b, 2] }\n    - { end: b }\n    - { delta: [c, 2] }\n    \
                    - calls\n    - stop\n";
        let edits = [&edits[..], &[(vary, "")]].concat();
        let plan = edited("fault/reset-in-stream", &edits, dialect);
        let said = plan.turns[0].user.as_str();
        let mut provider = provider(&plan);
        ask(&mut provider, &plan, &[said]);
        provider.begin_turn(1);
        // The system has dropped the turn that failed, so the body is the same.
        assert_eq!(ask(&mut provider, &plan, &[said]), scripted(1), "{}", plan.id);
    }
}

#[test]
fn a_request_whose_reply_was_complete_is_not_taken_for_an_abandoned_one() {
    for dialect in Dialect::ALL {
        let plan = plan("control/plain-batch", dialect);
        let first = plan.turns[0].user.as_str();
        let mut provider = provider(&plan);
        ask(&mut provider, &plan, &[first]);
        provider.begin_turn(1);
        assert_eq!(ask(&mut provider, &plan, &[first]), scripted(1), "{}", plan.id);
    }
}

#[test]
fn a_turn_that_an_old_body_answers_has_lost_what_the_user_said() {
    for plan in on_each("fault/reset-in-stream#p=text-1") {
        let run = run(&plan);
        let mut bodies = run.trace.by_turn().filter_map(|(_, event)| match event {
            Event::Requested { body, .. } => Some(body.clone()),
            _ => None,
        });
        let (first, last) = (bodies.next().unwrap(), plan.turns.len() - 1);
        let of_last = |turn: usize, event: &Event| match event {
            Event::Requested { exchange, .. } if turn == last => {
                vec![Event::requested(*exchange, REPEATED, first.clone())]
            }
            event => vec![event.clone()],
        };
        let found = judged(&plan, &rebuilt(&run, of_last)).findings;
        let found: Vec<Severity> = found.iter().map(|finding| finding.severity).collect();
        assert!(found.contains(&Severity::UserMessageLost), "{}: {found:?}", plan.id);
        assert!(!found.contains(&Severity::AbandonedRequestRepeated), "{}: {found:?}", plan.id);
        // A turn that failed without a request of its own is not answered by it.
        let failed = rebuilt(&run, |turn, event| match event {
            Event::TurnEnded { .. } if turn == last => vec![Event::TurnEnded {
                outcome: TurnOutcome::Raised { class: "E".to_owned(), text: "no".to_owned() },
            }],
            event => of_last(turn, event),
        });
        let found = judged(&plan, &failed).findings;
        assert!(found.iter().any(|found| found.severity == Severity::AbandonedRequestRepeated), "{found:#?}");
        assert!(found.iter().all(|found| found.severity != Severity::UserMessageLost), "{found:#?}");
    }
}
