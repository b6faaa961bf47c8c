//! Compactions: by the system itself, combined with other changes of the history, and actions at requests for a summary.

use crate::action::Action;
use crate::plan::PlannedPoint;
use crate::scenario::{At, Scenario};

use super::points::BuiltTurn;
use super::problem::{Problem, Problems};

/// The reason why a scenario cannot be run in which both a full context and a commanded change to the history
/// occur. A compaction by the system itself is detected from the parts missing in a request. These would not
/// reveal which of the two removed them.
pub(super) fn impossible(scenario: &Scenario) -> Option<String> {
    let actions = || scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action);
    let mut all = scenario.turns.iter().flat_map(|turn| &turn.at);
    let is_filled = scenario.limits.window.is_some() || all.any(At::fills_context);
    let commanded = actions()
        .find(|action| matches!(action, Action::Trim(_) | Action::Summarise(_) | Action::Rewind(_)))?;
    is_filled.then(|| format!("a full context cannot be combined with `{}`", commanded.spec().name))
}

/// Rejects an action at a request for a summary that is never sent, and one that needs a running turn at a compaction
/// that the application commands: the harness waits for the end of the command.
pub(super) fn check(turn: BuiltTurn<'_>, problems: &mut Problems) {
    let BuiltTurn { context, actions, .. } = turn;
    let may_compact = context.table.scenario().may_compact(context.turn);
    let is_commanded = actions.iter().any(|action| matches!(action.what, Action::Summarise(_)));
    for (index, action) in actions.iter().enumerate() {
        if !matches!(action.at, PlannedPoint::Compaction(..)) {
            continue;
        }
        let pointer = format!("/turns/{}/at/{index}", context.turn);
        problems.add_if(!may_compact, || {
            Problem::new(
                pointer.clone(),
                "nothing makes the system ask for a summary before the end of this turn",
            )
            .with_hint("add `tokens` or `summarise` to this turn, or `window` to the limits")
        });
        problems.add_if(is_commanded && !action.what.is_of_reply(), || {
            let name = action.what.spec().name;
            let message = format!("`{name}` cannot happen while the application changes the history");
            Problem::new(format!("{pointer}/do"), message)
                .with_hint("let the system compact its history by itself, with `tokens`")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn reason(change: &str) -> Option<String> {
        let text = format!(
            "schema: 1\ncomment: A full context.\nclass: [control]\nturns:\n\
             - {{ user: One., replies: [[{{ text: Yes. }}]], at: [{{ before: headers, do: {{ tokens: 190000 }} }}] }}\n\
             - {{ user: Two., replies: [[{{ text: Yes. }}]], at: [{{ before: prompt, do: {change} }}] }}\n"
        );
        let variants = parse::parse("full.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
        impossible(&variants[0].scenario)
    }

    #[test]
    fn a_full_context_is_not_played_with_a_commanded_change() {
        for change in ["trim", "summarise", "rewind"] {
            let n = if change == "rewind" { 1 } else { 2 };
            let said = reason(&format!("{{ {change}: {n} }}"));
            assert_eq!(said, Some(format!("a full context cannot be combined with `{change}`")));
        }
        assert_eq!(reason("kill"), None);
    }
}
