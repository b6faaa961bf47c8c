//! The store of the simulation, which is written entry by entry if something happens between two writes.

use super::{Simulation, Todo};
use crate::agent::SansIo;
use crate::conductor::Command;
use brickbat_scenario::action::WriteFailure;
use brickbat_scenario::plan::Side;
use brickbat_scenario::trace::Event;

/// A store that is written entry by entry.
pub(super) struct Disk {
    pub(super) stored: Vec<u8>,
    /// The number of stored entries.
    pub(super) n_entries: usize,
    /// The number of stored entries when the turn began.
    pub(super) n_before: usize,
}

impl Disk {
    pub(super) fn of<A: SansIo>(agent: &A) -> Disk {
        let n_entries = agent.n_entries();
        Disk { stored: agent.saved(), n_entries, n_before: n_entries }
    }
}

/// The result of writing the store.
pub(super) enum Write {
    Done,
    /// The store reports an error to the agent.
    Refused,
    /// The process is killed while it writes.
    Died,
}

impl<A: SansIo> Simulation<A> {
    /// Writes new entries one by one.
    pub(super) fn write(&mut self) -> Write {
        let Some(disk) = &self.disk else { return Write::Done };
        // A trimmed history has fewer entries than before.
        let entry = |n_entries: usize| n_entries.saturating_sub(disk.n_before) as u32;
        let n_entries = self.agent.n_entries();
        let new = entry(disk.n_entries) + 1..entry(n_entries.max(disk.n_entries)) + 1;
        let n_before = disk.n_before;
        // The next turn is about to begin, and the conductor counts its entries from there. Entries before it
        // are not counted.
        let is_between_turns =
            self.todo.iter().any(|todo| matches!(todo, Todo::Obey(Command::Prompt { .. })));
        if is_between_turns {
            self.disk = Some(Disk { n_before, ..Disk::of(&self.agent) });
            return Write::Done;
        }
        for entry in new.clone() {
            self.observe(Event::Saving { entry, side: Side::Before, failed: false });
            if self.is_dying() {
                return Write::Died;
            }
        }
        let failing = self.failing;
        self.failing = failing.filter(|how| how.lasts());
        // This store keeps a write as a whole or not at all.
        let n_new = new.len() as u32;
        let failed = failing.is_some_and(|how| how.keeps(n_new) < n_new || n_new == 0);
        if !failed {
            self.disk = Some(Disk { n_before, ..Disk::of(&self.agent) });
        }
        for entry in new {
            self.observe(Event::Saving { entry, side: Side::After, failed });
            if self.is_dying() {
                return Write::Died;
            }
        }
        if n_new > 0 && failing.is_some_and(WriteFailure::is_told) { Write::Refused } else { Write::Done }
    }
}
