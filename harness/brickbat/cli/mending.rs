//! Handles the stores of systems under test before a session is loaded from them: `brickbat run --repair`
//! repairs them, and `brickbat closed-loop` also plants faults in them first.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::output::tell;
use super::stored;
use brickbat_drive::runner::{Mend, StoredSession};
use brickbat_drive::whole_file;
use brickbat_rules::Profile;
use brickbat_scenario::plan::PlanId;
use brickbat_sessions::{
    self as sessions, Fault, Files, Judgement, Reason, Repair, RepairOptions, Session, Spot, Verdict,
};

/// How each stored session is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Treatment {
    /// The fault to plant first, and its position.
    pub(super) plant: Option<(Fault, Spot)>,
    /// True if the session is repaired.
    pub(super) repairs: bool,
    /// True if calls at the very end are filled too, which the product would fill itself.
    pub(super) fills_tail: bool,
}

/// The contents of a store, and the result of its repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Treated {
    /// The plan that wrote the session.
    pub(super) plan: String,
    /// The product that wrote the store, and the store's format.
    pub(super) store: Option<(String, &'static str)>,
    /// The verdict on the session and its contents, before anything was planted.
    pub(super) found: Option<Found>,
    /// The diagnosis after planting: the verdict, and the rules that reject the session.
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) outcome: Outcome,
}

/// The contents of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) verdict: Verdict,
    /// True if a reply has two or more calls.
    pub(super) has_batch: bool,
    pub(super) n_compactions: usize,
    pub(super) n_forks: usize,
}

/// The diagnosis of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    pub(super) verdict: Verdict,
    /// The provider's rules, or `gives-up` if the product itself does not send the request.
    pub(super) rules: BTreeSet<String>,
}

/// The result for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was left unchanged: no repair was requested, or there is nothing to repair.
    Left,
    /// It was repaired, for these reasons.
    Mended(BTreeSet<Reason>),
    /// It is beyond repair, for this reason.
    Beyond(String),
    /// It could not be read, or the fault could not be planted.
    Not(String),
}

/// Treats sessions, and records the results.
#[derive(Clone)]
pub(super) struct Mending {
    treatment: Treatment,
    treated: Arc<Mutex<Vec<Treated>>>,
    is_verbose: bool,
}

impl Mending {
    pub(super) fn new(treatment: Treatment, is_verbose: bool) -> Mending {
        Mending { treatment, treated: Arc::default(), is_verbose }
    }

    /// The hook to give to a system.
    pub(super) fn mend(&self) -> Mend {
        let mending = self.clone();
        Mend(Arc::new(move |stored: StoredSession<'_>| mending.treat(stored)))
    }

    /// The results so far, in order.
    pub(super) fn treated(&self) -> Vec<Treated> {
        self.treated.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The result counts, on one line.
    pub(super) fn summary(&self) -> String {
        let all = self.treated();
        let count = |is_meant: fn(&Outcome) -> bool| all.iter().filter(|one| is_meant(&one.outcome)).count();
        format!(
            "repairs: {} sessions, {} healthy, {} repaired, {} beyond repair, {} not read",
            all.len(),
            count(|outcome| *outcome == Outcome::Left),
            count(|outcome| matches!(outcome, Outcome::Mended(_))),
            count(|outcome| matches!(outcome, Outcome::Beyond(_))),
            count(|outcome| matches!(outcome, Outcome::Not(_))),
        )
    }

    fn treat(&self, stored: StoredSession<'_>) {
        let (stores, _) = stored::find(&[stored.folder.to_string_lossy().into_owned()]).unwrap_or_default();
        let n_treated: usize = stores.iter().map(|store| self.store(&stored, &store.path)).sum();
        if n_treated == 0 {
            self.note(Treated::unread(stored.plan, "no session of any known product".to_owned()));
        }
    }

    fn note(&self, treated: Treated) {
        if self.is_verbose {
            let words = match &treated.outcome {
                Outcome::Left => "left as it is".to_owned(),
                Outcome::Mended(reasons) => {
                    let reasons: Vec<&str> = reasons.iter().map(|reason| reason.words()).collect();
                    format!("repaired: {}", reasons.join("; "))
                }
                Outcome::Beyond(why) => format!("beyond repair: {why}"),
                Outcome::Not(why) => why.clone(),
            };
            tell(format!("{}: {words}", treated.plan));
        }
        self.treated.lock().unwrap_or_else(PoisonError::into_inner).push(treated);
    }

    /// Processes the sessions in one store that belong to the plan, one after another, and returns their
    /// number.
    fn store(&self, stored: &StoredSession<'_>, path: &Path) -> usize {
        let Ok(mut files) = stored::open(path) else { return 0 };
        let found = match sessions::read(&files) {
            Ok(sessions) => sessions,
            // A store also has other files.
            Err(sessions::ReadError::Unknown) => return 0,
            Err(error) => {
                self.note(Treated::unread(stored.plan, format!("not read: {error}")));
                return 1;
            }
        };
        let mut n_treated = 0;
        for (index, session) in found.iter().enumerate() {
            if !stored.is_shared || session.id.as_deref() == Some(stored.id) {
                self.note(self.session(stored, &mut files, index, session));
                n_treated += 1;
            }
        }
        if let Err(error) = put(path, files.main()) {
            tell(format!("{}: not written: {error}", stored.plan));
        }
        n_treated
    }

    /// Treats one session.
    fn session(
        &self,
        stored: &StoredSession<'_>,
        files: &mut Files,
        index: usize,
        session: &Session,
    ) -> Treated {
        let StoredSession { plan, model, .. } = *stored;
        // The plan's dialect shows which provider's rules apply, even if the store does not.
        let profile = session.dialect.is_none().then(|| Profile::newest(plan.dialect));
        let judgement = sessions::judge_for(session, profile, model);
        let has_batch = session.n_batches() > 0;
        let (n_compactions, n_forks) = (session.n_compactions, session.n_forks);
        let mut treated = Treated {
            plan: plan.to_string(),
            store: Some((session.product.id().to_owned(), session.generation)),
            found: Some(Found { verdict: judgement.verdict, has_batch, n_compactions, n_forks }),
            diagnosis: Some(Diagnosis::of(&judgement)),
            outcome: Outcome::Left,
        };
        if let Some((fault, spot)) = self.treatment.plant {
            match sessions::plant(files, index, fault, spot) {
                Ok(planted) => *files = planted,
                Err(error) => {
                    treated.outcome = Outcome::Not(format!("not planted: {error}"));
                    return treated;
                }
            }
            let planted = sessions::read(files).ok().and_then(|all| all.into_iter().nth(index));
            let judgement = planted.map(|session| sessions::judge_for(&session, profile, model));
            treated.diagnosis = judgement.as_ref().map(Diagnosis::of);
        }
        if self.treatment.repairs {
            let (model, tail) = (model.map(str::to_owned), self.treatment.fills_tail);
            let options = RepairOptions { profile, model, tail, ..RepairOptions::default() };
            treated.outcome = repaired(files, index, &options);
        }
        treated
    }
}

impl Treated {
    fn unread(plan: &PlanId, why: String) -> Treated {
        let (plan, outcome) = (plan.to_string(), Outcome::Not(why));
        Treated { plan, store: None, found: None, diagnosis: None, outcome }
    }
}

impl Diagnosis {
    fn of(judgement: &Judgement) -> Diagnosis {
        let name = |refusal: &sessions::Refusal| refusal.rule.map_or("gives-up", |rule| rule.id).to_owned();
        Diagnosis { verdict: judgement.verdict, rules: judgement.refusals.iter().map(name).collect() }
    }
}

/// Repairs a session in these files.
fn repaired(files: &mut Files, index: usize, options: &RepairOptions) -> Outcome {
    match sessions::repair(files, index, options) {
        Ok(Repair::Healthy(_)) => Outcome::Left,
        Ok(Repair::Mended(mended)) => {
            *files = mended.files;
            Outcome::Mended(mended.edits.iter().map(|planned| planned.reason).collect())
        }
        Ok(Repair::Beyond(beyond)) => Outcome::Beyond(beyond.why),
        Err(error) => Outcome::Beyond(error.to_string()),
    }
}

/// Writes a store back if it has changed, and removes a database's log, because the database now has its
/// contents.
fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path)? == bytes {
        return Ok(());
    }
    whole_file::write_private(path, bytes)?;
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
        let plan = PlanId::new("kill/mid-batch", Dialect::OpenaiChat);
        let stored =
            StoredSession { plan: &plan, id: "1", folder: folder.path(), is_shared: false, model: None };
        let mending = Mending::new(Treatment { plant: None, repairs: true, fills_tail: true }, false);
        let Mend(mend) = mending.mend();
        mend(stored);
        assert_eq!(
            mending.summary(),
            "repairs: 1 sessions, 0 healthy, 1 repaired, 0 beyond repair, 0 not read"
        );
        let mended = std::fs::read_to_string(&file).unwrap();
        assert!(mended.contains(sessions::NOT_RECORDED), "{mended}");
        mend(stored);
        assert_eq!(
            mending.summary(),
            "repairs: 2 sessions, 1 healthy, 1 repaired, 0 beyond repair, 0 not read"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), mended);
    }

    #[test]
    fn in_a_home_that_many_plans_share_only_the_session_that_is_loaded_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("1.json");
        std::fs::write(&file, BROKEN).unwrap();
        let plan = PlanId::new("kill/mid-batch", Dialect::OpenaiChat);
        let mending = Mending::new(Treatment { plant: None, repairs: true, fills_tail: true }, false);
        let Mend(mend) = mending.mend();
        mend(StoredSession {
            plan: &plan,
            id: "another",
            folder: folder.path(),
            is_shared: true,
            model: None,
        });
        assert_eq!(
            mending.summary(),
            "repairs: 1 sessions, 0 healthy, 0 repaired, 0 beyond repair, 1 not read"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), BROKEN);
    }

    #[test]
    fn a_planted_fault_is_diagnosed_before_it_is_mended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("1.json");
        let whole = BROKEN.replace(
            "{\"role\":\"user\",\"content\":\"Well?\"}",
            "{\"role\":\"tool\",\"tool_call_id\":\"call_a\",\"content\":\"found\"}",
        );
        std::fs::write(&file, whole).unwrap();
        let plan = PlanId::new("kill/between-turns", Dialect::OpenaiChat);
        let plant = Some((Fault::ResultTwice, Spot::First));
        let mending = Mending::new(Treatment { plant, repairs: true, fills_tail: false }, false);
        let Mend(mend) = mending.mend();
        mend(StoredSession { plan: &plan, id: "1", folder: folder.path(), is_shared: false, model: None });
        let [treated] = mending.treated().try_into().unwrap();
        assert_eq!(treated.found.map(|found| found.verdict), Some(Verdict::Accepted));
        assert_eq!(treated.diagnosis.map(|diagnosis| diagnosis.verdict), Some(Verdict::Refused));
        assert_eq!(treated.outcome, Outcome::Mended(BTreeSet::from([Reason::Duplicate])));
    }
}
