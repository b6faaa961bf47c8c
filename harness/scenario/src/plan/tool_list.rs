//! The tools that a system has at some moment of a plan in which the list of tools changes.

use super::{Change, Plan, PlannedTool};
use crate::action::{DETAIL, ToolChange};

impl Plan {
    /// The changes of the list of tools, in the order of the plan.
    pub fn tool_changes(&self) -> impl Iterator<Item = ToolChange> {
        let actions = self.turns.iter().flat_map(|turn| &turn.actions);
        actions.filter_map(|action| match action.what.change() {
            Some(Change::Tools { change }) => Some(change),
            _ => None,
        })
    }

    /// The tools that a system has after these changes, which begin with the first of the plan.
    pub fn tools_after(&self, made: &[ToolChange]) -> Vec<PlannedTool> {
        let planned: Vec<ToolChange> = self.tool_changes().collect();
        let now = |tool: &PlannedTool| {
            let of_tool = |change: &&ToolChange| change.tool() == tool.name;
            let first = ToolChange::is_there_before(planned.iter().filter(of_tool));
            let made = || made.iter().filter(of_tool);
            let is_there = made().filter_map(ToolChange::presence).next_back().unwrap_or(first);
            let is_extended = made().any(|change| matches!(change, ToolChange::Extend(_)));
            is_there.then(|| if is_extended { extended(tool) } else { tool.clone() })
        };
        self.tools.iter().filter_map(now).collect()
    }
}

fn extended(tool: &PlannedTool) -> PlannedTool {
    let mut tool = tool.clone();
    tool.params.push((DETAIL.to_owned(), "string"));
    tool
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::plan::{PlanId, PlannedAction, PlannedPoint, PlannedTurn};
    use brickbat_rules::dialect::Dialect;

    #[test]
    fn a_tool_that_is_offered_first_is_missing_until_then() {
        let change = |what: fn(String) -> ToolChange, tool: &str| what(tool.to_owned());
        let changes = [
            change(ToolChange::Offer, "late"),
            change(ToolChange::Withdraw, "early"),
            change(ToolChange::Extend, "late"),
            change(ToolChange::Offer, "early"),
        ];
        let actions = changes.iter().map(|change| PlannedAction {
            words: String::new(),
            at: PlannedPoint::Prompt,
            what: Action::Tools(change.clone()),
        });
        let turn = PlannedTurn { actions: actions.collect(), ..PlannedTurn::new("hello", Vec::new()) };
        let tools = ["early", "late"].map(|name| PlannedTool::new(name, Vec::new()));
        let id = PlanId::new("a", Dialect::OpenaiChat);
        let plan = Plan { tools: tools.into(), turns: vec![turn], ..Plan::new(id, 1) };
        let names = |n: usize| -> Vec<String> {
            let tools = plan.tools_after(&changes[..n]);
            tools.iter().map(|tool| format!("{}{}", tool.name, tool.params.len())).collect()
        };
        assert_eq!(names(0), ["early0"]);
        assert_eq!(names(1), ["early0", "late0"]);
        assert_eq!(names(2), ["late0"]);
        assert_eq!(names(3), ["late1"]);
        assert_eq!(names(4), ["early0", "late1"]);
    }
}
