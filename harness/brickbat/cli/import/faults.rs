//! The distinct faults in stored sessions, with the number of sessions that have each.

use std::collections::BTreeMap;

use crate::cli::error::CliError;
use crate::cli::recorded;
use crate::cli::stored::{self, Store};
use brickbat_report::report::text::counted;
use brickbat_rules::Profile;
use brickbat_search::import::{Cause, ImportError, Imported, import};
use brickbat_sessions::{ReadError, Session, judge};

/// The faults found in stores.
#[derive(Default)]
pub(super) struct Faults {
    /// Faults, by their names.
    pub(super) found: Vec<Fault>,
    /// Sessions with a fault that cannot be named, with the reason.
    pub(super) unsaid: Vec<(String, ImportError)>,
    pub(super) n_sessions: usize,
    pub(super) n_healthy: usize,
    /// The errors of unreadable files in folders.
    pub(super) unreadable: Vec<CliError>,
    /// The number of files in folders that no known product wrote.
    n_passed_over: usize,
}

/// One fault with one structure.
pub(super) struct Fault {
    pub(super) imported: Imported,
    /// The number of sessions that have it.
    pub(super) n_sessions: usize,
}

impl Fault {
    /// The rule without its dialect, and the name of the structure.
    pub(super) fn name(&self) -> String {
        let Imported { rule, hash, .. } = &self.imported;
        let rule = rule.id.split_once('/').map_or(rule.id, |(_, rule)| rule);
        format!("{rule}-{hash}")
    }

    /// Adds another session with the same fault. If only the new session's store shows how it broke, its
    /// cause is used.
    fn also(&mut self, other: &Imported) {
        self.n_sessions += 1;
        let (own, other) = (&mut self.imported.cause, &other.cause);
        if matches!((&*own, other), (Cause::NotShown | Cause::NotFound(_), Cause::Found(..))) {
            *own = other.clone();
        }
    }
}

impl Faults {
    /// The faults in all sessions in the stores. A single store may be a recording, whose name is then
    /// `recording`.
    pub(super) fn of(
        stores: &[Store],
        recording: Option<&str>,
        profile: Option<&'static Profile>,
    ) -> Result<Faults, CliError> {
        let mut faults = Faults::default();
        let mut found: BTreeMap<String, Fault> = BTreeMap::new();
        for store in stores {
            let file = store.path.display().to_string();
            let files = match stored::open(&store.path) {
                Ok(files) => files,
                Err(error) if store.is_named => return Err(error),
                Err(error) => {
                    faults.unreadable.push(error);
                    continue;
                }
            };
            let (sessions, is_recorded) = match brickbat_sessions::read(&files) {
                Ok(sessions) => (sessions, false),
                Err(ReadError::Unknown) if !store.is_named => {
                    faults.n_passed_over += 1;
                    continue;
                }
                Err(error) => match recording.and_then(recorded::refused) {
                    Some(session) => (vec![session?], true),
                    None if store.is_named => return Err(CliError::input(format!("{file}: {error}"))),
                    None => {
                        faults.unreadable.push(CliError::input(format!("{file}: {error}")));
                        continue;
                    }
                },
            };
            let is_meant = |(n, session): &(usize, &Session)| is_recorded || store.means(*n, session);
            let meant = sessions.iter().enumerate().filter(is_meant);
            for (_, session) in meant {
                faults.n_sessions += 1;
                match import(session, &judge(session, profile)) {
                    Ok(imported) => {
                        let fault = Fault { imported, n_sessions: 1 };
                        match found.get_mut(&fault.name()) {
                            Some(known) => known.also(&fault.imported),
                            None => drop(found.insert(fault.name(), fault)),
                        }
                    }
                    Err(ImportError::Healthy) => faults.n_healthy += 1,
                    Err(error) => faults.unsaid.push((file.clone(), error)),
                }
            }
        }
        faults.found = found.into_values().collect();
        Ok(faults)
    }

    /// The totals, on one line.
    pub(super) fn summary(&self) -> String {
        let n_bricked: usize = self.found.iter().map(|fault| fault.n_sessions).sum();
        let passed_over = match self.n_passed_over {
            0 => String::new(),
            n => format!("; {} from no known product", counted(n, "file")),
        };
        format!(
            "{}: {n_bricked} bricked with {}, {} not bricked, {} with a fault that cannot be named{passed_over}.\n",
            counted(self.n_sessions, "session"),
            counted(self.found.len(), "fault"),
            self.n_healthy,
            self.unsaid.len()
        )
    }
}
