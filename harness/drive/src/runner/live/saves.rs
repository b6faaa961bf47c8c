//! Writes to a system's store. Each one waits, before and after it, until the harness lets it continue.

use std::collections::VecDeque;

use crate::driver::{DriverError, StoreWrite};
use crate::server::GateId;
use brickbat_scenario::plan::Side;
use brickbat_scenario::trace::Event;

/// The writes of the turn, and the next steps for the one that waits.
#[derive(Debug, Default)]
pub(super) struct Saves {
    /// Entries of the running turn that have been written, or are being written; none between two turns.
    n_entries: Option<u32>,
    due: VecDeque<Due>,
}

/// The next step for a write that waits.
#[derive(Debug, PartialEq)]
pub(super) enum Due {
    /// Report the event to the conductor, which may kill the process.
    Happened(Event),
    /// Let the store continue.
    GoesOn(GateId),
}

impl Saves {
    /// Restarts the count of entries.
    pub(super) fn begin_turn(&mut self) {
        self.n_entries = Some(0);
    }

    /// Stops the count: writes until the next turn are not entries of a turn, and a write that waits only
    /// continues.
    pub(super) fn end_turn(&mut self) {
        self.n_entries = None;
        self.due.retain(|due| matches!(due, Due::GoesOn(_)));
    }

    /// Records a write that waits. Each of its entries is one point in the plan.
    pub(super) fn held(&mut self, gate: GateId, write: &str) -> Result<(), DriverError> {
        let StoreWrite { entries, side } = StoreWrite::of(write)?;
        if let Some(n_entries) = &mut self.n_entries {
            // The kits begin a write only after the previous one has ended.
            let first = match side {
                Side::Before => n_entries.saturating_add(1),
                Side::After => n_entries.saturating_add(1).saturating_sub(entries).max(1),
            };
            let entries = first..first.saturating_add(entries);
            if side == Side::Before {
                *n_entries = entries.end - 1;
            }
            self.due.extend(entries.map(|entry| Due::Happened(Event::Saving { entry, side })));
        }
        self.due.push_back(Due::GoesOn(gate));
        Ok(())
    }

    pub(super) fn next(&mut self) -> Option<Due> {
        self.due.pop_front()
    }

    /// Forgets the write that waited: its process is dead.
    pub(super) fn forget(&mut self) {
        *self = Saves::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_due(saves: &mut Saves) -> Vec<Due> {
        std::iter::from_fn(|| saves.next()).collect()
    }

    #[test]
    fn each_entry_of_a_write_is_a_point_before_the_store_continues() {
        let mut saves = Saves::default();
        saves.begin_turn();
        let saving = |entry, side| Due::Happened(Event::Saving { entry, side });
        let mut hears = |gate, write: &str| {
            saves.held(GateId(gate), write).unwrap();
            all_due(&mut saves)
        };
        let first = hears(0, r#"{"entries":1,"side":"before"}"#);
        assert_eq!(first, [saving(1, Side::Before), Due::GoesOn(GateId(0))]);
        let first = hears(1, r#"{"entries":1,"side":"after"}"#);
        assert_eq!(first, [saving(1, Side::After), Due::GoesOn(GateId(1))]);
        let second = hears(2, r#"{"entries":2,"side":"before"}"#);
        assert_eq!(second, [saving(2, Side::Before), saving(3, Side::Before), Due::GoesOn(GateId(2))]);
        let second = hears(3, r#"{"entries":2,"side":"after"}"#);
        assert_eq!(second, [saving(2, Side::After), saving(3, Side::After), Due::GoesOn(GateId(3))]);
        saves.begin_turn();
        saves.held(GateId(4), r#"{"entries":1,"side":"before"}"#).unwrap();
        assert_eq!(all_due(&mut saves)[0], saving(1, Side::Before));
    }

    #[test]
    fn a_write_between_two_turns_continues_at_once() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.end_turn();
        saves.held(GateId(0), r#"{"entries":1,"side":"before"}"#).unwrap();
        assert_eq!(all_due(&mut saves), [Due::GoesOn(GateId(0))]);
    }

    #[test]
    fn a_write_that_waits_when_its_turn_ends_is_not_a_point_of_the_next() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.held(GateId(0), r#"{"entries":2,"side":"before"}"#).unwrap();
        saves.end_turn();
        saves.begin_turn();
        assert_eq!(all_due(&mut saves), [Due::GoesOn(GateId(0))]);
    }

    #[test]
    fn a_number_out_of_range_is_an_error() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.held(GateId(0), r#"{"entries":1000,"side":"after"}"#).unwrap();
        assert_eq!(all_due(&mut saves).len(), 1001);
        assert!(saves.held(GateId(1), r#"{"entries":4294967295,"side":"before"}"#).is_err());
    }
}
