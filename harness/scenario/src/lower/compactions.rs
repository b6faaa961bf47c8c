//! Compactions by the system itself, combined with other changes of the history.

use crate::action::Action;
use crate::scenario::Scenario;

/// The reason why a scenario cannot be run in which both a full context and a commanded change to the history
/// occur. A compaction by the system itself is detected from the parts missing in a request. These would not
/// reveal which of the two removed them.
pub(super) fn impossible(scenario: &Scenario) -> Option<String> {
    let actions = || scenario.turns.iter().flat_map(|turn| &turn.at).map(|at| &at.action);
    let is_filled = scenario.limits.window.is_some() || actions().any(Action::fills_context);
    let commanded = actions()
        .find(|action| matches!(action, Action::Trim(_) | Action::Summarise(_) | Action::Rewind(_)))?;
    is_filled.then(|| format!("a full context cannot be combined with `{}`", commanded.spec().name))
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
