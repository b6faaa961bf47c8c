//! What is said to a running turn: by the user, or by a hook.

use crate::plan::{PlannedAction, PlannedFault, PlannedPoint, PlannedTurn, Side};

use crate::scenario::{Action, At, Scenario};

use super::header;
use super::problem::{Problem, Problems};

/// A text that is said while a turn runs.
pub(super) fn text(pointer: &str, said: &str) -> Result<String, Problem> {
    let mut problems = Problems::default();
    header::text(pointer, "what is said here", said, &mut problems);
    match problems.settle() {
        Ok(()) => Ok(said.to_owned()),
        Err(mut problems) => Err(problems.remove(0)),
    }
}

/// Whether a hook can speak there, or a question be left open.
pub(super) fn fits(pointer: &str, at: &PlannedPoint, what: &PlannedFault) -> Result<(), Problem> {
    let is_behind_result = match at {
        PlannedPoint::Settled(_, Side::After) => true,
        PlannedPoint::SettledCount(count) => *count > 0,
        _ => false,
    };
    match what {
        PlannedFault::Inject(_) if !is_behind_result => {
            Err(Problem::new(pointer, "a hook adds its context behind a result")
                .with_hint("use `after: { settled: … }`".to_owned()))
        }
        PlannedFault::Ignore if !matches!(at, PlannedPoint::Asked(_)) => {
            Err(Problem::new(pointer, "no question waits for an answer at this point")
                .with_hint("use `after: { asked: … }`".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Everything that is said can be known again in a request, and of several prompts beside a turn it could not be told
/// which of them was refused.
pub(super) fn once(turns: &[PlannedTurn], problems: &mut Problems) {
    let mut said: Vec<&str> = turns.iter().map(|turn| turn.user.as_str()).collect();
    for (index, turn) in turns.iter().enumerate() {
        let mut n_prompts = 0;
        for (action, planned) in turn.actions.iter().enumerate() {
            let Some((key, text)) = words(planned) else { continue };
            let pointer = format!("/turns/{index}/at/{action}/do/{key}");
            problems.add_if(said.iter().any(|other| other.contains(text) || text.contains(*other)), || {
                Problem::new(&pointer, "this is said twice, so it would not be known again")
                    .with_hint("use other words".to_owned())
            });
            n_prompts += u32::from(key == "prompt");
            problems.add_if(key == "prompt" && n_prompts > 1, || {
                Problem::new(&pointer, "a turn has one prompt beside its own")
            });
            said.push(text);
        }
    }
}

/// What is said to a running turn is a message of the user as well, so it would not be known how many of them take the
/// turn back.
pub(super) fn taken_back(scenario: &Scenario, problems: &mut Problems) {
    let is_said = |at: &&At| matches!(at.action, Action::Steer(_) | Action::Prompt(_) | Action::Inject(_));
    for (index, turn) in scenario.turns.iter().enumerate() {
        for (action, at) in turn.at.iter().enumerate() {
            let Action::Rewind(first) = at.action else { continue };
            let first = (first as usize).saturating_sub(1);
            let gone = scenario.turns.iter().enumerate().take(index).skip(first);
            let spoken = gone.into_iter().find(|(_, turn)| turn.at.iter().any(|at| is_said(&at)));
            if let Some((spoken, _)) = spoken {
                let pointer = format!("/turns/{index}/at/{action}/do/rewind");
                let message = format!("something is said to turn {} while it runs", spoken + 1);
                problems.add(
                    Problem::new(pointer, message)
                        .with_hint("take back turns in which the user spoke once".to_owned()),
                );
            }
        }
    }
}

fn words(planned: &PlannedAction) -> Option<(&'static str, &str)> {
    match &planned.what {
        PlannedFault::Steer(text) => Some(("steer", text)),
        PlannedFault::Prompt(text) => Some(("prompt", text)),
        PlannedFault::Inject(text) => Some(("inject", text)),
        _ => None,
    }
}
