//! The load of the machine does not change which checks are applicable.

use brickbat::trace::{Confidence, Event};

use super::staging::*;
use brickbat::plan::{CallKey, Plan};
use brickbat::run::Run;

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
