//! The load of the machine does not change which checks are applicable.

use brickbat_scenario::trace::{Confidence, Event, RequestKind};

use super::staging::*;
use brickbat_engine::run::Run;
use brickbat_scenario::plan::{CallKey, Plan};

fn applicable(plan: &Plan, run: &Run) -> Vec<&'static str> {
    let asked = judged(plan, run).asked;
    asked.iter().filter(|asked| asked.spoke).map(|asked| asked.check).collect()
}

fn is_settling(event: &Event, of: Option<CallKey>) -> bool {
    matches!(event, Event::ToolSettled { call, .. } if of.is_none_or(|of| of == *call))
}

#[test]
fn results_noted_after_their_turn_count_if_a_request_of_the_turn_has_them() {
    for plan in on_each("control/plain-batch") {
        let original = run(&plan);
        let settled: Vec<Event> = original
            .trace
            .by_turn()
            .filter(|(turn, event)| *turn == 0 && is_settling(event, None))
            .map(|(_, event)| event.clone())
            .collect();
        assert!(!settled.is_empty());
        let noted_late = rebuilt(&original, |turn, event| match event {
            event if turn == 0 && is_settling(event, None) => Vec::new(),
            Event::TurnEnded { .. } if turn == 0 => {
                [std::slice::from_ref(event), settled.as_slice()].concat()
            }
            event => vec![event.clone()],
        });
        let expected = applicable(&plan, &original);
        assert!(expected.contains(&"results-kept") && expected.contains(&"views-agree"), "{expected:?}");
        assert_eq!(applicable(&plan, &noted_late), expected, "{}", plan.id);
    }
}

/// Requests and the records of tools take different ways to the trace, so their order is a race.
#[test]
fn a_result_counts_as_sent_before_a_compaction_whenever_it_was_noted() {
    for plan in on_each("transform/overflow#r=2") {
        let original = run(&plan);
        let events = original.trace.by_turn();
        let settled: Vec<Event> = events
            .filter(|(turn, event)| *turn == 1 && is_settling(event, None))
            .map(|(_, event)| event.clone())
            .collect();
        assert_eq!(settled.len(), 2);
        let noted = |is_after: fn(&Event) -> bool| {
            rebuilt(&original, |turn, event| match event {
                event if turn == 1 && is_settling(event, None) => Vec::new(),
                event if turn == 1 && is_after(event) => {
                    [settled.as_slice(), std::slice::from_ref(event)].concat()
                }
                event => vec![event.clone()],
            })
        };
        let early =
            noted(|event| matches!(event, Event::Requested { kind: RequestKind::Faulted { .. }, .. }));
        let late = noted(|event| matches!(event, Event::TurnEnded { .. }));
        let expected = applicable(&plan, &early);
        assert_eq!(applicable(&plan, &late), expected, "{}", plan.id);
        assert_eq!(applicable(&plan, &original), expected, "{}", plan.id);
    }
}

#[test]
fn no_verdict_depends_on_the_race_between_a_tools_end_and_a_stop() {
    // The user stops when asked about one call, while the tool of the other runs.
    for plan in on_each("approval/stop-in-mixed-batch") {
        let original = run(&plan);
        let a = key(&plan, "a");
        let is_a = |event: &Event| is_settling(event, Some(a));
        assert!(
            !original.trace.by_turn().any(|(_, event)| is_a(event)),
            "{}: the other side of the race",
            plan.id
        );
        let outcome = plan.calls[a.0 as usize].outcome.clone();
        let settled = Event::ToolSettled { call: a, outcome, grade: Confidence::Read };
        let ended = rebuilt(&original, |turn, event| match event {
            Event::Stopped if turn == 0 => vec![settled.clone(), event.clone()],
            event => vec![event.clone()],
        });
        assert_eq!(applicable(&plan, &ended), applicable(&plan, &original), "{}", plan.id);
    }
    // If the plan stops at a result, there is one.
    for plan in on_each("abort/mid-batch#k=1") {
        assert!(applicable(&plan, &run(&plan)).contains(&"results-kept"), "{}", plan.id);
    }
}
