//! Compactions that a scenario causes.

use super::{At, Scenario, Turn};
use crate::action::Action;
use crate::point::Point;

impl Scenario {
    /// True if something makes the system compact its history in a turn, or before it: a full context or a window that is
    /// too small, in this turn or an earlier one, or a command in this turn.
    pub fn may_compact(&self, turn: usize) -> bool {
        let so_far = self.turns.iter().take(turn + 1).flat_map(|turn| &turn.at);
        self.limits.window.is_some()
            || so_far.into_iter().any(At::fills_context)
            || self.turns.get(turn).is_some_and(Turn::is_summarised)
    }

    /// True if an action can happen to a request for a summary in a turn. While the application has the history
    /// changed, the harness waits for the system, so only the provider can do something.
    pub fn allows_at_summary(&self, turn: usize, action: &Action) -> bool {
        self.may_compact(turn) && (!self.turns[turn].is_summarised() || action.is_of_reply())
    }
}

impl Turn {
    /// True if the application has the history summarised in this turn, or before it.
    pub fn is_summarised(&self) -> bool {
        self.at.iter().any(|at| matches!(at.action, Action::Summarise(_)))
    }
}

impl At {
    /// True if the provider reports here that the thread is too long. A request for a summary is not part of the thread.
    pub fn fills_context(&self) -> bool {
        self.action.fills_context() && !matches!(self.point(), Some(Point::Compaction(_)))
    }
}
