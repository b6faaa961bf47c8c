//! The writes of the system's store, one entry after the other.

use super::{Command, Conductor};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{PlannedPoint, Side};
use brickbat_scenario::trace::Confidence;

impl Conductor {
    /// Carries out what is planned before or after the write of an entry. A write that has failed is over without an
    /// entry.
    pub(super) fn saving(&mut self, (entry, side): (u32, Side), failed: bool, commands: &mut Vec<Command>) {
        if side == Side::After {
            self.prove_failures();
        }
        if !failed {
            self.tool_point(PlannedPoint::Saved(entry, side), Confidence::Observed, commands);
        }
    }

    /// Proves the failures that the write was to have: the store has reported its end.
    fn prove_failures(&mut self) {
        let turn = self.turn.idx;
        let failing = self.actions.iter_mut().filter(|action| action.turn == turn && action.asked);
        let failing = failing.filter(|action| matches!(action.what, Action::Fail(_)));
        failing.for_each(|action| action.prove(Confidence::Observed));
    }
}
