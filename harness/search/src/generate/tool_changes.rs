//! Draws changes of the list of tools, and removes those that a changed scenario no longer allows.

use super::Source;
use brickbat_scenario::action::ToolChange;
use brickbat_scenario::lower::{has_call_without_tool, impossible_tool_change};
use brickbat_scenario::scenario::{At, Scenario};

/// A change of the list that is possible at a point of a turn (from 0) and leaves each call its tool. `at` makes the action
/// at the point. `None` if no change is possible there.
pub(super) fn draw(
    source: &mut Source<'_>,
    scenario: &Scenario,
    index: usize,
    at: impl Fn(ToolChange) -> At,
) -> Option<ToolChange> {
    let is_possible = |change: &ToolChange| {
        let mut changed = scenario.clone();
        changed.turns[index].at.push(at(change.clone()));
        impossible_tool_change(&changed).is_none() && !has_call_without_tool(&changed)
    };
    let all = [ToolChange::Withdraw, ToolChange::Offer, ToolChange::Extend];
    let named = |name: &String| all.map(|change| change(name.clone()));
    let possible: Vec<ToolChange> = scenario.tools.keys().flat_map(named).filter(is_possible).collect();
    source.pick(&possible).cloned()
}
