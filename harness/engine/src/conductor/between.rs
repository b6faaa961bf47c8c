//! The time between two turns: the system is idle, and the actions that are due before the user speaks again
//! happen one at a time.

use super::pending::Pending;
use super::turn::TurnStage;
use super::{Command, Conductor};
use brickbat_scenario::plan::PlannedPoint;
use brickbat_scenario::trace::Confidence;

impl Conductor {
    /// Starts the next turn when this one has ended and nothing is in progress. No turn is run after one that
    /// the harness itself has stopped, because its results would be a consequence of that stop.
    pub(super) fn next_turn(&mut self, commands: &mut Vec<Command>) {
        let is_busy = self.tools.is_settling() || self.changing.is_some();
        if !self.turn.stage.is_over() || is_busy || commands.contains(&Command::Finish) {
            return;
        }
        if self.turn.idx + 1 == self.plan.turns.len() || self.turn.is_broken_off {
            return commands.push(Command::Finish);
        }
        let due = self.due_between_turns();
        if self.turn.stage == TurnStage::Dead {
            // The new process loads the session with the new list of tools.
            if let Some(index) = due.filter(|index| self.actions[*index].what.changed_tool().is_some()) {
                return self.act_between_turns(index, commands);
            }
            commands.push(Command::Resume);
            self.turn.stage = TurnStage::Resuming;
        }
        match due {
            // A dead process does nothing: due actions wait for the new one.
            Some(_) if self.turn.stage.is_killed() => {}
            Some(index) => self.act_between_turns(index, commands),
            None => commands.extend(self.begin(self.turn.idx + 1)),
        }
    }

    /// True if no process runs, because the last one was killed.
    pub fn is_dead(&self) -> bool {
        self.turn.stage == TurnStage::Dead
    }

    /// Index of the first action that is due before the next turn begins.
    fn due_between_turns(&self) -> Option<usize> {
        let next = self.turn.idx + 1;
        let is_due = |receipt: &Pending| {
            let is_open = !receipt.fired && !receipt.is_forgone;
            receipt.turn == next && receipt.at == PlannedPoint::Prompt && is_open
        };
        self.actions.iter().position(is_due)
    }

    fn act_between_turns(&mut self, index: usize, commands: &mut Vec<Command>) {
        let receipt = &mut self.actions[index];
        if let Some(change) = receipt.what.change() {
            self.changing = Some((index, Confidence::Observed));
            return commands.push(Command::Change(change));
        }
        // The system has reported the end of the turn itself.
        receipt.prove(Confidence::Observed);
        self.turn.stage = TurnStage::Dead;
        commands.push(Command::Kill);
    }
}
