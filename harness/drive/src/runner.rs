//! The runner: it runs plans against systems, control plans first and several at a time, and returns cases.

mod feeder;
mod live;
mod models;
mod options;
mod recorder;
mod repeat;
mod system;
mod verify;

use brickbat_scenario::plan::CONTROL;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use feeder::{Feeder, Played};
pub use options::{Job, Keep, OnCase, Options, Repeat, Suspected};
pub use system::{Mend, MendFn, Origin, StoredSession, Subject, System, UnknownSystem};
pub use verify::{NoAdapter, Probe, ProbeOutcome, ProbeReport, Verification, verify};

use crate::driver::{DriverError, Progress};
use brickbat_engine::checks::{Apart, Concurrency, judge_apart_from};
use brickbat_engine::run::Receipt;
use brickbat_engine::run::Run;
use brickbat_report::record::{Observed, PlanNote};
use brickbat_report::report::{Case, Shard};
use brickbat_rules::Profile;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::verdict::{Judgement, Severity, Verdict};
use models::round;
use repeat::{Control, MergedRuns, PlanToRun};
use system::{Company, Running};

/// Runs every job on a system. `note` gets a line about long preparations.
pub async fn run(
    system: &System,
    jobs: &[Job],
    options: Options<'_>,
    note: Progress<'_>,
    on_case: OnCase<'_>,
) -> Vec<Case> {
    match Started::start(system, options.supervisor, note).await {
        Ok(started) => started.run(jobs, options, on_case).await,
        Err(error) => not_run(system, jobs, &error, options, on_case),
    }
}

/// A system that stays up while jobs run against it, one batch after another.
pub struct Started {
    system: System,
    running: Running,
}

impl Started {
    /// Starts a system. `note` gets a line about long preparations.
    pub async fn start(
        system: &System,
        supervisor: &Path,
        note: Progress<'_>,
    ) -> Result<Started, DriverError> {
        let running = Running::start(system, supervisor, note).await?;
        Ok(Started { system: system.clone(), running })
    }

    /// Its full name, with version and mode.
    pub fn name(&self) -> &str {
        self.running.name()
    }

    /// The command-line options that select it.
    pub fn options(&self) -> String {
        self.system.options(self.name())
    }

    /// True if it has every capability that a plan needs.
    pub fn can(&self, plan: &Plan) -> bool {
        self.running.missing(plan).is_none()
    }

    pub async fn run(&self, jobs: &[Job], options: Options<'_>, on_case: OnCase<'_>) -> Vec<Case> {
        // A simulation never waits, so without this neither a time limit nor an interrupt could end it.
        tokio::task::yield_now().await;
        run_on(&self.system, &self.running, jobs, options, on_case).await
    }
}

async fn run_on(
    system: &System,
    running: &Running,
    jobs: &[Job],
    options: Options<'_>,
    on_case: OnCase<'_>,
) -> Vec<Case> {
    let (apt, mut unsupported): (Vec<&Job>, Vec<&Job>) =
        jobs.iter().partition(|job| running.missing(&job.plan).is_none());

    // A control plan has the name of the same plan in every shard.
    let (mut keyed, mut controls) = controls(&apt);
    keyed.retain(|(job, _)| is_in(job, options.shard));
    unsupported.retain(|job| is_in(job, options.shard));
    if options.shard.is_some() {
        let needed: BTreeSet<&str> = keyed.iter().map(|(_, key)| key.as_str()).collect();
        controls.retain(|key, _| needed.contains(key.as_str()));
    }
    let n_told = controls.values().filter(|job| is_in(job, options.shard)).count();
    let n_all = Cell::new(n_told + keyed.len() + unsupported.len());
    let mut cases = Vec::with_capacity(n_all.get());
    let name = running.name().to_owned();
    let again = RerunCommand { options: system.options(&name), profiles: options.profiles };
    // Intermediate results are reported at once, because the run may be stopped before they count.
    let seen = |job: &Job, merged: MergedRuns| {
        if options.suspected.is_none() && options.fail_fast.is_none() {
            return false;
        }
        let case = case(&name, job, merged, &again, options);
        if let Some(Suspected(show)) = options.suspected {
            show(&case);
        }
        options.fail_fast.is_some_and(|severity| is_red(&case, severity))
    };
    let mut keep = |job: &Job, merged: MergedRuns| {
        let case = case(&name, job, merged, &again, options);
        on_case(&case, cases.len() + 1, n_all.get());
        let red = options.fail_fast.is_some_and(|severity| is_red(&case, severity));
        cases.push(case);
        red
    };

    for job in unsupported {
        let reason = running.missing(&job.plan).unwrap_or_default();
        keep(job, Attempt::unjudged(Verdict::Unsupported, reason).into());
    }

    let options =
        Options { repeat: running.repeat(options.repeat), n_jobs: running.n_jobs(options.n_jobs), ..options };
    let mut shown: BTreeMap<&str, Control> = BTreeMap::new();
    let (keys, todo): (Vec<&str>, Vec<PlanToRun<'_>>) =
        controls.iter().map(|(key, job)| (key.as_str(), PlanToRun::first(job, None))).unzip();
    let mut told = |index: usize, merged: MergedRuns| {
        let job = todo[index].job;
        shown.extend(merged.control(&job.plan).map(|control| (keys[index], control)));
        // A control plan is reported by the shard of its plan. Other shards report it only if it does not
        // pass.
        let is_own = is_in(job, options.shard);
        let is_told = is_own || merged.outcome.judgement.verdict != Verdict::Pass;
        if is_told && !is_own {
            n_all.update(|n| n + 1);
        }
        match is_told {
            true => keep(job, merged),
            // The failure of its first run did not recur.
            false => merged.repeats.is_some() && seen(job, merged),
        }
    };
    let mut stop = round(running, &todo, options, &seen, &mut told).await;

    let mut todo = Vec::with_capacity(keyed.len());
    for (job, key) in keyed {
        if stop {
            break;
        }
        match shown.get(key.as_str()) {
            Some(control) => todo.push(PlanToRun::first(job, Some(control))),
            None => {
                let outcome = Attempt::unjudged(Verdict::Inconclusive, "the control plan failed");
                stop |= keep(job, outcome.into());
            }
        }
    }
    if !stop {
        let mut done = |index: usize, merged: MergedRuns| keep(todo[index].job, merged);
        round(running, &todo, options, &seen, &mut done).await;
    }
    cases
}

/// True if a plan is run in this shard.
fn is_in(job: &Job, shard: Option<Shard>) -> bool {
    shard.is_none_or(|shard| shard.holds(&job.plan.id.to_string()))
}

#[derive(Clone)]
struct Attempt {
    judgement: Judgement,
    receipts: Vec<Receipt>,
    run: Option<Run>,
    kept: Option<(Observed, Redactor)>,
    /// True if it could not be judged because the adapter did not answer in time.
    is_late: bool,
    /// The time for which it ran, if it did.
    took: Option<Duration>,
}

impl Attempt {
    fn unjudged(verdict: Verdict, reason: impl Into<String>) -> Attempt {
        let judgement = Judgement::without_run(verdict, reason);
        Attempt { judgement, receipts: Vec::new(), run: None, kept: None, is_late: false, took: None }
    }
}

/// Runs a plan once, and returns the adapter process in which it ran.
async fn attempt(
    running: &Running,
    plan: &Arc<Plan>,
    control: Option<&Control>,
    options: Options<'_>,
    company: Company,
) -> (Attempt, Option<u32>) {
    let began = Instant::now();
    let profile = plan.profile_from(options.profiles);
    let concurrency = control.map(|control| &control.concurrency);
    let width = concurrency.and_then(Concurrency::n_at_once);
    let known = control.map_or(&[][..], |control| control.causes.as_slice());
    let plan = &running.named(plan);
    // Boxed: the state machine of a drive is large, and many run at once.
    let driven =
        Box::pin(running.drive(plan, profile, width, company, options.keep.map(|_| options.redactor))).await;
    let outcome = match driven.run {
        Ok(run) => {
            let apart = Apart { known, application: &running.application() };
            let judgement = judge_apart_from(apart, plan, &run, profile, running.grade(), concurrency);
            let receipts = run.receipts.clone();
            Attempt { judgement, receipts, run: Some(run), kept: None, is_late: false, took: None }
        }
        Err(error) => {
            running.shun(plan, &error);
            let is_late = matches!(error.plain(), DriverError::AnswerTimedOut { .. });
            Attempt { is_late, ..Attempt::unjudged(Verdict::HarnessError, error.to_string()) }
        }
    };
    (Attempt { kept: driven.kept, took: Some(began.elapsed()), ..outcome }, running.process_of(plan))
}

/// The case that a plan's runs form, without secrets. Its record is passed to `keep`.
fn case(system: &str, job: &Job, merged: MergedRuns, again: &RerunCommand<'_>, options: Options<'_>) -> Case {
    let MergedRuns { outcome, repeats, is_confirmed, .. } = merged;
    let again = again.case(job);
    let case = Case::new(system, &job.plan.id, outcome.judgement, outcome.receipts, again);
    let took_ms = outcome.took.map(|took| took.as_millis() as u64);
    let unconfirmed = !is_confirmed && case.verdict == Verdict::Fail;
    let premise = Some(job.plan.premise);
    let mut case = Case { premise, repeats, took_ms, unconfirmed, ..case };
    case.hold(options.baselines);
    case.redact(options.redactor);
    if let Some(Keep(keep)) = options.keep {
        let profile = job.plan.profile_from(options.profiles);
        let mut record = case.record(PlanNote::of(&job.plan), Some(profile.name));
        let (observed, redactor) = outcome.kept.unzip();
        record.observed = observed;
        keep(&record, redactor.as_ref().unwrap_or(options.redactor));
    }
    case
}

/// The common part of the commands that run cases again.
struct RerunCommand<'a> {
    options: String,
    profiles: &'a [&'static Profile],
}

impl RerunCommand<'_> {
    fn case(&self, job: &Job) -> String {
        let plan = job.plan.id.to_string();
        let plan = plan.strip_suffix(CONTROL).unwrap_or(&plan);
        let what = match &job.path {
            Some(path) => {
                let variant = plan.find(['#', '@']).map_or("", |at| &plan[at..]);
                format!("{} --filter '{variant}'", quoted(&path.to_string_lossy()))
            }
            None => format!("'{plan}'"),
        };
        let seed = if job.plan.seed == 0 { String::new() } else { format!(" --seed {}", job.plan.seed) };
        let model = job.plan.model.as_ref().map(|model| format!(" --model {}", quoted(model)));
        let model = model.unwrap_or_default();
        let (profile, unasked) = (job.plan.profile_from(self.profiles), job.plan.profile_from(&[]));
        let profile =
            if profile.name == unasked.name { String::new() } else { format!(" --profile {}", profile.name) };
        let options = &self.options;
        format!("brickbat run {what} {options}{model}{profile}{seed}")
    }
}

/// A word quoted for a shell.
pub fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The jobs, each with the key of its control plan, and one control plan for each key: the conversations
/// among the jobs.
fn controls<'a>(jobs: &[&'a Job]) -> (Vec<(&'a Job, String)>, BTreeMap<String, Job>) {
    let mut controls = BTreeMap::new();
    let keyed = jobs.iter().map(|job| {
        let control = lower::control(&job.plan);
        let key = lower::control_key(&control);
        let entry = controls.entry(key.clone());
        entry.or_insert_with(|| Job { plan: Arc::new(control), path: job.path.clone() });
        (*job, key)
    });
    (keyed.collect(), controls)
}

/// The cases for a system that cannot be started: none of its plans is judged.
pub fn not_run(
    system: &System,
    jobs: &[Job],
    error: &DriverError,
    options: Options<'_>,
    on_case: OnCase<'_>,
) -> Vec<Case> {
    let verdict = match error {
        DriverError::ProgramMissing { .. } | DriverError::ProgramTooOld { .. } => Verdict::NotRun,
        _ => Verdict::HarnessError,
    };
    let name = system.name();
    let again = RerunCommand { options: system.options(&name), profiles: options.profiles };
    let unjudged =
        |job| case(&name, job, Attempt::unjudged(verdict, error.to_string()).into(), &again, options);
    let cases = jobs.iter().filter(|job| is_in(job, options.shard)).map(unjudged);
    let cases: Vec<Case> = cases.collect();
    cases.iter().enumerate().for_each(|(at, case)| on_case(case, at + 1, cases.len()));
    cases
}

/// The cases in a run that ended early. Each plan that was not reached gets one case that gives the
/// reason.
pub fn with_not_reached(
    batches: &[(System, Vec<Job>)],
    profiles: &[&'static Profile],
    shard: Option<Shard>,
    mut cases: Vec<Case>,
    why: &str,
) -> Vec<Case> {
    // The systems run one after the other, and the full name of one is known only after its start.
    let mut names: Vec<String> = cases.iter().map(|case| case.system.clone()).collect();
    names.dedup();
    let reached: BTreeSet<(String, String)> =
        cases.iter().map(|case| (case.system.clone(), case.plan.clone())).collect();
    for (at, (system, jobs)) in batches.iter().enumerate() {
        let name = names.get(at).cloned().unwrap_or_else(|| system.name());
        let again = RerunCommand { options: system.options(&name), profiles };
        let is_missed =
            |job: &&Job| is_in(job, shard) && !reached.contains(&(name.clone(), job.plan.id.to_string()));
        for job in jobs.iter().filter(is_missed) {
            let judgement = Judgement::without_run(Verdict::NotRun, why);
            let case = Case::new(&name, &job.plan.id, judgement, Vec::new(), again.case(job));
            cases.push(Case { premise: Some(job.plan.premise), ..case });
        }
    }
    cases
}

/// True if a case makes a run red.
pub fn is_red(case: &Case, fail_on: Severity) -> bool {
    let failed = case.worst_counted().is_some_and(|severity| severity <= fail_on);
    failed || case.verdict.is_unjudged()
}
