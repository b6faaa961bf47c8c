//! `brickbat run --repair`: the stores of the systems under test are repaired before a session is loaded from them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::output::tell;
use super::stored;
use brickbat_drive::runner::Mend;
use brickbat_scenario::plan::PlanId;
use brickbat_sessions::{self as sessions, Repair, RepairOptions};

/// What has been done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    n_loads: usize,
    n_healthy: usize,
    n_mended: usize,
    n_beyond: usize,
    n_unread: usize,
}

/// Repairs stores, and counts.
#[derive(Clone, Default)]
pub(super) struct Mending {
    tally: Arc<Mutex<Tally>>,
    /// The plan of each session, since agents keep those of all plans in one home.
    owners: Arc<Mutex<BTreeMap<String, String>>>,
    is_verbose: bool,
}

impl Mending {
    pub(super) fn new(is_verbose: bool) -> Mending {
        Mending { tally: Arc::default(), owners: Arc::default(), is_verbose }
    }

    /// What a system is given.
    pub(super) fn mend(&self) -> Mend {
        let mending = self.clone();
        Mend(Arc::new(move |plan: &PlanId, folder: &Path| mending.repair(plan, folder)))
    }

    /// What was done, in a line.
    pub(super) fn summary(&self) -> String {
        let Tally { n_loads, n_healthy, n_mended, n_beyond, n_unread } = self.tally();
        format!(
            "repairs: {n_loads} loads, {n_healthy} sessions healthy, {n_mended} mended, {n_beyond} beyond repair, {n_unread} stores not read"
        )
    }

    fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn repair(&self, plan: &PlanId, folder: &Path) {
        let mut tally = Tally { n_loads: 1, ..Tally::default() };
        let stores = stored::find(&[folder.to_string_lossy().into_owned()]).unwrap_or_default();
        for store in stores {
            self.store(plan, &store.path, &mut tally);
        }
        let mut all = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        all.n_loads += tally.n_loads;
        all.n_healthy += tally.n_healthy;
        all.n_mended += tally.n_mended;
        all.n_beyond += tally.n_beyond;
        all.n_unread += tally.n_unread;
    }

    /// Repairs each session of a store, one after the other.
    fn store(&self, plan: &PlanId, path: &Path, tally: &mut Tally) {
        let say = |words: &str| {
            if self.is_verbose {
                tell(format!("{plan}: {words}"));
            }
        };
        let Ok(mut files) = stored::open(path) else { return };
        let found = match sessions::read(&files) {
            Ok(sessions) => sessions,
            // A store has other files as well.
            Err(sessions::ReadError::Unknown) => return,
            Err(error) => {
                tally.n_unread += 1;
                return say(&format!("not read: {error}"));
            }
        };
        // A process that was killed is not running its calls any more, so a tail that is open stays without results.
        let options = RepairOptions { tail: true, ..RepairOptions::default() };
        for (index, session) in found.iter().enumerate() {
            let name = format!("{} {}", path.display(), session.id.as_deref().unwrap_or_default());
            let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
            if *owners.entry(name).or_insert_with(|| plan.to_string()) != plan.to_string() {
                continue;
            }
            drop(owners);
            match sessions::repair(&files, index, &options) {
                Ok(Repair::Healthy(_)) => {
                    tally.n_healthy += 1;
                    say("healthy");
                }
                Ok(Repair::Mended(mended)) => {
                    tally.n_mended += 1;
                    let reasons: Vec<&str> =
                        mended.edits.iter().map(|planned| planned.reason.words()).collect();
                    say(&format!("mended: {}", reasons.join("; ")));
                    files = mended.files;
                }
                Ok(Repair::Beyond(beyond)) => {
                    tally.n_beyond += 1;
                    say(&format!("beyond repair: {}", beyond.why));
                }
                Err(error) => {
                    tally.n_beyond += 1;
                    say(&format!("not repaired: {error}"));
                }
            }
        }
        if let Err(error) = put(path, files.main()) {
            say(&format!("not written: {error}"));
        }
    }
}

/// Writes a store back, if it has changed. What stood in a database's log stands in the database now.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path)? == bytes {
        return Ok(());
    }
    stored::replace(path, bytes)?;
    for log in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(log);
        match std::fs::remove_file(name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use brickbat_rules::Dialect;

    use super::*;

    /// A call without a result, as an application may store it.
    const BROKEN: &str = r#"[{"role":"user","content":"Look."},{"role":"assistant","content":null,"tool_calls":[
        {"id":"call_a","type":"function","function":{"name":"look","arguments":"{}"}}]},
        {"role":"user","content":"Well?"}]"#;

    #[test]
    fn a_broken_store_is_mended_in_its_place_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("1.json");
        std::fs::write(&file, BROKEN).unwrap();
        std::fs::write(folder.path().join("other.json"), "{}").unwrap();
        let plan = PlanId {
            scenario: "kill/mid-batch".to_owned(),
            variant: String::new(),
            dialect: Dialect::OpenaiChat,
            control: false,
        };
        let mending = Mending::new(false);
        let Mend(mend) = mending.mend();
        mend(&plan, folder.path());
        let expected = Tally { n_loads: 1, n_mended: 1, ..Tally::default() };
        assert_eq!(mending.tally(), expected);
        let mended = std::fs::read_to_string(&file).unwrap();
        assert!(mended.contains(sessions::NOT_RECORDED), "{mended}");
        mend(&plan, folder.path());
        assert_eq!(mending.tally(), Tally { n_loads: 2, n_healthy: 1, ..expected });
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mended);
    }
}
