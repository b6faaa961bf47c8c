//! Messages to a running turn: from the user, or from a hook.

use crate::plan::PlannedTurn;
use crate::scenario::{Action, At, Scenario};

use super::problem::{Problem, Problems};

/// Checks that every text can be recognised in a request. If one turn had several extra prompts, it would be
/// unclear which of them was refused.
pub(super) fn unique(turns: &[PlannedTurn], problems: &mut Problems) {
    let mut said: Vec<&str> = turns.iter().map(|turn| turn.user.as_str()).collect();
    for (index, turn) in turns.iter().enumerate() {
        let mut n_prompts = 0;
        for (action, planned) in turn.actions.iter().enumerate() {
            let Some(text) = planned.what.text().filter(|_| !planned.what.changes_history()) else {
                continue;
            };
            let pointer = format!("/turns/{index}/at/{action}/do/{}", planned.what.spec().name);
            problems.add_if(said.iter().any(|other| other.contains(text) || text.contains(*other)), || {
                Problem::new(&pointer, "this text duplicates another message")
                    .with_hint("each must be unique, so that it can be recognised in requests")
            });
            let is_prompt = matches!(planned.what, Action::Prompt(_));
            n_prompts += u32::from(is_prompt);
            problems.add_if(is_prompt && n_prompts > 1, || {
                Problem::new(&pointer, "at most one extra `prompt` per turn")
            });
            said.push(text);
        }
    }
}

/// Rejects a rewind past messages to a running turn. They are user messages too, so the number of messages to
/// take back would be unclear.
pub(super) fn rewound(scenario: &Scenario, problems: &mut Problems) {
    let is_said = |at: &&At| at.action.adds_message();
    for (index, turn) in scenario.turns.iter().enumerate() {
        for (action, at) in turn.at.iter().enumerate() {
            let Action::Rewind(first) = at.action else { continue };
            let first = (first as usize).saturating_sub(1);
            let gone = scenario.turns.iter().enumerate().take(index).skip(first);
            let spoken = gone.into_iter().find(|(_, turn)| turn.at.iter().any(|at| is_said(&at)));
            if let Some((spoken, _)) = spoken {
                let pointer = format!("/turns/{index}/at/{action}/do/rewind");
                let message = format!(
                    "turn {} gets a second message while it runs, so it cannot be rewound",
                    spoken + 1
                );
                problems.add(
                    Problem::new(pointer, message)
                        .with_hint("rewind only turns with a single message from the user"),
                );
            }
        }
    }
}
