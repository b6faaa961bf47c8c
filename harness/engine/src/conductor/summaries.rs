//! Requests for a summary, and the actions that happen to them.

use super::Conductor;
use super::pending::Pending;
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::trace::{Compaction, Confidence, Ending, ExchangeId};

impl Conductor {
    /// Ends a change after which the system reports that nothing has changed. A system that asked for a summary and got
    /// none has carried out the command.
    pub(super) fn forgo(&mut self, index: usize, grade: Confidence) {
        let turn = self.actions[index].turn;
        if self.summaries.values().any(|summary| summary.turn == turn) {
            self.actions[index].prove(grade);
        } else {
            self.actions[index].forgo();
        }
    }

    /// Notes a request for a summary. An HTTP error or a poor summary needs no hold, and neither does the end of a reply
    /// while the application has the history changed: the harness then waits for the system.
    pub(super) fn asked_for_summary(&mut self, exchange: ExchangeId, summary: Compaction) {
        let Compaction { turn, number } = summary;
        self.summaries.insert(exchange, summary);
        let is_told = |action: &Pending| action.turn == turn && matches!(action.what, Action::Summarise(_));
        let may_hold = !self.actions.iter().any(is_told);
        for action in &mut self.actions {
            let is_here = matches!(action.at, PlannedPoint::Compaction(of, _) if of == number);
            if action.turn != turn || !is_here || action.fired {
                continue;
            }
            let is_at_once = action.what.http().is_some() || matches!(action.what, Action::Summary(_));
            let ending = action.what.spec().ending.or(Some(Ending::Complete));
            if is_at_once {
                // Nothing comes before it but the request.
                action.arm(exchange, Confidence::Observed, ending);
            } else if !may_hold {
                action.arm_unheld(exchange, ending);
            }
        }
    }
}
