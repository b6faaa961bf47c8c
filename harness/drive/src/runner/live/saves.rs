//! Writes to a system's store. Each one waits, before and after it, until the harness lets it continue.

use std::collections::VecDeque;

use crate::driver::{DriverError, FailingWrite, StoreWrite};
use crate::server::GateId;
use brickbat_scenario::action::WriteFailure;
use brickbat_scenario::plan::Side;
use brickbat_scenario::trace::Event;

/// The writes of the turn, and the next steps for the one that waits.
#[derive(Debug, Default)]
pub(super) struct Saves {
    /// Entries of the running turn that have been written, or are being written; none between two turns.
    n_entries: Option<u32>,
    due: VecDeque<Due>,
    /// How the next write fails, or each one of the turn.
    failing: Option<WriteFailure>,
    /// How the write that is under way fails.
    failed: Option<FailingWrite>,
}

/// The next step for a write that waits.
#[derive(Debug, PartialEq)]
pub(super) enum Due {
    /// Report the event to the conductor, which may kill the process or let the write fail.
    Happened(Event),
    /// Let the store continue, or let its write fail.
    GoesOn(GateId, Option<FailingWrite>),
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
        self.failing = None;
        self.due.retain(|due| matches!(due, Due::GoesOn(..)));
    }

    /// Lets the write that waits fail, or each write of the turn.
    pub(super) fn fail(&mut self, how: WriteFailure) {
        self.failing = Some(how);
    }

    /// Records a write that waits. Each of its entries is one point in the plan.
    pub(super) fn held(&mut self, gate: GateId, write: &str) -> Result<(), DriverError> {
        let StoreWrite { entries, side, kept } = StoreWrite::of(write)?;
        let n_kept = if side == Side::After { self.kept(entries, kept, write)? } else { entries };
        if let Some(n_entries) = &mut self.n_entries {
            // The kits begin a write only after the previous one has ended.
            let first = match side {
                Side::Before => n_entries.saturating_add(1),
                Side::After => n_entries.saturating_add(1).saturating_sub(entries).max(1),
            };
            let own = first..first.saturating_add(entries);
            // An entry that the store has not kept gets its number again.
            *n_entries = match side {
                Side::Before => own.end - 1,
                Side::After => n_entries.saturating_sub(entries - n_kept),
            };
            let saving = |entry| Event::Saving { entry, side, failed: entry - first >= n_kept };
            self.due.extend(own.map(|entry| Due::Happened(saving(entry))));
        }
        // Until then, the conductor may decide that the write fails.
        let failing = (side == Side::Before).then_some(FailingWrite { keep: entries, error: None });
        self.due.push_back(Due::GoesOn(gate, failing));
        Ok(())
    }

    /// The number of entries that the store has kept of a write.
    fn kept(&mut self, entries: u32, kept: Option<u32>, write: &str) -> Result<u32, DriverError> {
        let n_kept = kept.unwrap_or(entries);
        let most = self.failed.take().map_or(entries, |failed| failed.keep);
        // A store that cannot keep a part of a write keeps none.
        if n_kept == most || (n_kept == 0 && most < entries) {
            return Ok(n_kept);
        }
        let why = format!(
            "its message about a write says that {n_kept} entries are kept, and it was to keep {most}"
        );
        Err(DriverError::violation(why, write))
    }

    pub(super) fn next(&mut self) -> Option<Due> {
        Some(match self.due.pop_front()? {
            Due::GoesOn(gate, Some(whole)) => {
                let failing = self.failing.map(|how| FailingWrite::of(how, whole.keep));
                self.failing = self.failing.filter(|how| how.lasts());
                self.failed = failing;
                Due::GoesOn(gate, failing)
            }
            due => due,
        })
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
        let saving = |entry, side| Due::Happened(Event::Saving { entry, side, failed: false });
        let mut hears = |gate, write: &str| {
            saves.held(GateId(gate), write).unwrap();
            all_due(&mut saves)
        };
        let first = hears(0, r#"{"entries":1,"side":"before"}"#);
        assert_eq!(first, [saving(1, Side::Before), Due::GoesOn(GateId(0), None)]);
        let first = hears(1, r#"{"entries":1,"side":"after"}"#);
        assert_eq!(first, [saving(1, Side::After), Due::GoesOn(GateId(1), None)]);
        let second = hears(2, r#"{"entries":2,"side":"before"}"#);
        assert_eq!(second, [saving(2, Side::Before), saving(3, Side::Before), Due::GoesOn(GateId(2), None)]);
        let second = hears(3, r#"{"entries":2,"side":"after"}"#);
        assert_eq!(second, [saving(2, Side::After), saving(3, Side::After), Due::GoesOn(GateId(3), None)]);
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
        assert_eq!(all_due(&mut saves), [Due::GoesOn(GateId(0), None)]);
    }

    #[test]
    fn a_write_that_waits_when_its_turn_ends_is_not_a_point_of_the_next() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.held(GateId(0), r#"{"entries":2,"side":"before"}"#).unwrap();
        saves.end_turn();
        saves.begin_turn();
        assert_eq!(all_due(&mut saves), [Due::GoesOn(GateId(0), None)]);
    }

    #[test]
    fn a_number_out_of_range_is_an_error() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.held(GateId(0), r#"{"entries":1000,"side":"after"}"#).unwrap();
        assert_eq!(all_due(&mut saves).len(), 1001);
        assert!(saves.held(GateId(1), r#"{"entries":4294967295,"side":"before"}"#).is_err());
    }

    #[test]
    fn a_write_fails_at_its_point_and_its_entries_get_their_numbers_again() {
        let mut saves = Saves::default();
        saves.begin_turn();
        let saving = |entry, side, failed| Due::Happened(Event::Saving { entry, side, failed });
        saves.held(GateId(0), r#"{"entries":4,"side":"before"}"#).unwrap();
        assert_eq!(saves.next(), Some(saving(1, Side::Before, false)));
        saves.fail(WriteFailure::Half);
        let failing = FailingWrite { keep: 2, error: Some("no space left on device") };
        assert_eq!(all_due(&mut saves).pop(), Some(Due::GoesOn(GateId(0), Some(failing))));
        saves.held(GateId(1), r#"{"entries":4,"side":"after","kept":2}"#).unwrap();
        let ended = [(1, false), (2, false), (3, true), (4, true)];
        let ended = ended.map(|(entry, failed)| saving(entry, Side::After, failed));
        assert_eq!(all_due(&mut saves)[..4], ended);
        saves.held(GateId(2), r#"{"entries":1,"side":"before"}"#).unwrap();
        let again = [saving(3, Side::Before, false), Due::GoesOn(GateId(2), None)];
        assert_eq!(all_due(&mut saves), again);
    }

    #[test]
    fn a_store_that_is_down_works_again_in_the_next_turn() {
        let mut saves = Saves::default();
        saves.begin_turn();
        saves.fail(WriteFailure::AllLost);
        let writes = |saves: &mut Saves, gate| {
            saves.held(GateId(gate), r#"{"entries":1,"side":"before"}"#).unwrap();
            let Some(Due::GoesOn(_, failing)) = all_due(saves).pop() else { panic!() };
            let kept = failing.map_or(1, |failing| failing.keep);
            let after = format!(r#"{{"entries":1,"side":"after","kept":{kept}}}"#);
            saves.held(GateId(gate + 1), &after).unwrap();
            let first = all_due(saves).remove(0);
            first == Due::Happened(Event::Saving { entry: 1, side: Side::After, failed: kept == 0 })
        };
        assert!(writes(&mut saves, 0) && writes(&mut saves, 2));
        assert_eq!(saves.n_entries, Some(0));
        saves.end_turn();
        saves.begin_turn();
        assert!(writes(&mut saves, 4));
        assert_eq!(saves.n_entries, Some(1));
    }

    #[test]
    fn an_adapter_that_writes_what_was_to_fail_is_an_error() {
        for after in [r#"{"entries":2,"side":"after"}"#, r#"{"entries":2,"side":"after","kept":1}"#] {
            let mut saves = Saves::default();
            saves.begin_turn();
            saves.fail(WriteFailure::Once);
            saves.held(GateId(0), r#"{"entries":2,"side":"before"}"#).unwrap();
            all_due(&mut saves);
            assert!(saves.held(GateId(1), after).is_err());
        }
        let mut saves = Saves::default();
        saves.held(GateId(0), r#"{"entries":2,"side":"before"}"#).unwrap();
        all_due(&mut saves);
        assert!(saves.held(GateId(1), r#"{"entries":2,"side":"after","kept":1}"#).is_err());
        assert!(saves.held(GateId(1), r#"{"entries":2,"side":"after","kept":3}"#).is_err());
    }
}
