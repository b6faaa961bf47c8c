//! What a check is applicable to does not depend on how busy the machine was.

use brickbat::trace::Event;

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
fn results_that_the_harness_notes_after_the_end_of_their_turn_are_those_that_a_request_of_it_has() {
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
            Event::TurnEnded { .. } if turn == 0 => [&[event.clone()], settled.as_slice()].concat(),
            event => vec![event.clone()],
        });
        let expected = applicable(&plan, &original);
        assert!(expected.contains(&"results-kept") && expected.contains(&"views-agree"), "{expected:?}");
        assert_eq!(applicable(&plan, &noted_late), expected, "{}", plan.id);
    }
}

#[test]
fn whether_a_tool_had_ended_when_the_user_stopped_is_a_race_on_which_nothing_rests() {
    // The user stops when asked about one call, while the tool of the other runs.
    let mut n_settled = 0;
    for plan in on_each("approval/stop-in-mixed-batch") {
        let original = run(&plan);
        let a = key(&plan, "a");
        // In some dialects the simulated tool is still running then, which is the other side of the race.
        if !original.trace.by_turn().any(|(_, event)| is_settling(event, Some(a))) {
            continue;
        }
        n_settled += 1;
        let open = without(&original, |_, event| is_settling(event, Some(a)));
        assert_eq!(applicable(&plan, &open), applicable(&plan, &original), "{}", plan.id);
    }
    assert!(n_settled > 0);
    // Where the plan stops at a result, there is one.
    for plan in on_each("abort/mid-batch#k=1") {
        assert!(applicable(&plan, &run(&plan)).contains(&"results-kept"), "{}", plan.id);
    }
}
