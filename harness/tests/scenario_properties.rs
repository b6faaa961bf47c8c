//! Every text gets an answer.

use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower::{control, plans};
use brickbat_scenario::plan::CallKey;
use proptest::prelude::*;

const GOOD: [&str; 3] = [
    include_str!("scenarios/mid-batch.yaml"),
    include_str!("scenarios/plain-batch.yaml"),
    include_str!("scenarios/reset-in-stream.yaml"),
];

/// Pieces with a meaning, so that mutations pass the first check.
const PIECES: [&str; 24] = [
    "$k",
    "0",
    "99",
    "-1",
    "[",
    "]",
    "{",
    "}",
    ": ",
    "- ",
    "\n",
    "é",
    "&a ",
    "*a",
    "settled",
    "reset",
    "abort",
    "reply: 2, ",
    "attempt: 2, ",
    "{ settle: a }",
    "{ end: b }",
    "interleave: true",
    "deltas: 16",
    "\u{feff}",
];

/// Lowers a text. Renders its mistake if it has one, otherwise checks the result.
fn check(text: &str) {
    match plans("x", "x.yaml", text, &Dialect::ALL, 1) {
        Err(error) => {
            let shown = error.to_string();
            assert!(shown.contains(&error.message), "{shown}");
            assert!(!error.message.contains(char::is_control), "{shown}");
        }
        Ok(plans) => {
            for plan in plans {
                let n_points: usize =
                    (0..plan.turns.len()).map(|turn| crate::plans::points(&plan, turn).len()).sum();
                assert!(n_points > 0);
                let known = |key: &CallKey| (key.0 as usize) < plan.calls.len();
                for turn in &plan.turns {
                    assert!(turn.settle.iter().all(known));
                    let calls =
                        turn.replies.iter().flat_map(|reply| &reply.attempts).map(|it| it.calls().count());
                    assert_eq!(calls.sum::<usize>(), turn.settle.len());
                }
                for call in &plan.calls {
                    assert_eq!(call.deltas.concat(), call.args.to_string());
                    assert_eq!(plan.calls.iter().filter(|other| other.marker == call.marker).count(), 1);
                    assert_eq!(plan.calls.iter().filter(|other| other.id == call.id).count(), 1);
                }
                assert!(control(&plan).calls.len() <= plan.calls.len());
            }
        }
    }
}

#[test]
fn a_key_with_a_line_break_is_quoted_on_one_line() {
    check("{'\n\n'}");
    check("{\"a\\tb\"}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_yaml_like_text_has_an_answer(text in "[ \\-\\[\\]{}:,&*|>'\"#$a-c0-2\n]{0,80}") {
        check(&text);
    }

    #[test]
    fn a_changed_scenario_has_an_answer(
        which in 0..GOOD.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0..6_usize), 1..4),
    ) {
        let mut chars: Vec<char> = GOOD[which].chars().collect();
        for (at, piece, removed) in changes {
            let at = at.index(chars.len());
            let end = (at + removed).min(chars.len());
            chars.splice(at..end, PIECES[piece].chars());
        }
        check(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn a_scenario_with_two_lines_swapped_has_an_answer(
        which in 0..GOOD.len(),
        first in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
    ) {
        let mut lines: Vec<&str> = GOOD[which].lines().collect();
        let (first, second) = (first.index(lines.len()), second.index(lines.len()));
        lines.swap(first, second);
        check(&lines.join("\n"));
    }
}
