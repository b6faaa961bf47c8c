//! Between two turns: the system is idle, and what is due before the user speaks again happens, one thing at a time.

use super::pending::Pending;
use super::{Command, Conductor};
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::trace::Grade;

impl Conductor {
    /// Goes on to the next turn when this one is over and nothing is under way.
    pub(super) fn next_turn(&mut self, commands: &mut Vec<Command>) {
        let is_busy = self.batch.is_settling() || self.changing.is_some();
        if !self.ended || is_busy || commands.contains(&Command::Finish) {
            return;
        }
        if self.turn + 1 == self.plan.turns.len() {
            return commands.push(Command::Finish);
        }
        let due = self.due_between_turns();
        if self.killed && !self.resuming {
            commands.push(Command::Resume);
            self.resuming = true;
        }
        match due {
            // A dead process does nothing: what is due waits for the new one.
            Some(_) if self.killed => {}
            Some(index) => self.act_between_turns(index, commands),
            None => commands.extend(self.begin(self.turn + 1)),
        }
    }

    /// The first action that is due before the next turn begins.
    fn due_between_turns(&self) -> Option<usize> {
        let next = self.turn + 1;
        let is_due =
            |receipt: &Pending| receipt.turn == next && receipt.at == PlannedPoint::Prompt && !receipt.fired;
        self.actions.iter().position(is_due)
    }

    fn act_between_turns(&mut self, index: usize, commands: &mut Vec<Command>) {
        let receipt = &mut self.actions[index];
        if let Some(change) = receipt.what.change() {
            self.changing = Some((index, Grade::Observed));
            return commands.push(Command::Change(change));
        }
        // The turn is over, and its outcome has been told: the system has said so itself.
        receipt.prove(Grade::Observed);
        self.killed = true;
        commands.push(Command::Kill);
    }
}
