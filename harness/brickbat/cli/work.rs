//! The work of a run: from the user's choice, or from the folder of an earlier run.

use brickbat_scenario::plan::CONTROL;
use std::collections::BTreeSet;
use std::path::Path;

use super::chosen::Chosen;
use super::error::CliError;
use super::secrets::with_home;
use brickbat_drive::folder::{self, RunNote};
use brickbat_drive::runner::{Job, System};
use brickbat_report::record::CaseNote;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::REDACTED;
use brickbat_scenario::verdict::Verdict;

/// The systems and plans to run.
pub(super) struct Work {
    /// Each system with its plans.
    pub(super) batches: Vec<(System, Vec<Job>)>,
    pub(super) chosen: Chosen,
}

impl Work {
    /// The plans of a choice on each of its systems.
    pub(super) fn of(chosen: Chosen) -> Result<Work, CliError> {
        let jobs = chosen.jobs()?;
        let systems = chosen.system.systems()?.into_iter();
        let batches = systems.map(|system| {
            let spoken: Vec<Job> =
                jobs.iter().filter(|job| is_spoken(job, &system, &chosen)).cloned().collect();
            // If the user asked for plans that the system does not speak, they are reported.
            let jobs = if spoken.is_empty() { jobs.clone() } else { spoken };
            (system, jobs)
        });
        let batches = batches.collect();
        Ok(Work { batches, chosen })
    }

    /// The cases in an earlier run that did not pass, but could have.
    pub(super) fn again(path: &Path) -> Result<Work, CliError> {
        let note = folder::read_note(path)?;
        let earlier = earlier_cases(path, &note)?;
        Work::of_earlier(path, note, &earlier)
    }

    /// One case in an earlier run.
    pub(super) fn one_again(path: &Path, case: &CaseNote) -> Result<Work, CliError> {
        let mut note = folder::read_note(path)?;
        // A run that counts as finished adds no plans that it did not reach.
        note.finished = true;
        let only = EarlierCase { system: case.system.clone(), plan: case.plan.clone(), is_open: true };
        let mut work = Work::of_earlier(path, note, &[only])?;
        work.batches.retain(|(_, jobs)| !jobs.is_empty());
        Ok(work)
    }

    fn of_earlier(path: &Path, note: RunNote, earlier: &[EarlierCase]) -> Result<Work, CliError> {
        let wrong = |why: String| CliError::input(format!("{}: {why}", path.display()));
        let RunNote { mut arguments, finished, .. } = note;
        if arguments.words_mut().any(|word| word.contains(REDACTED)) {
            let why = "a secret in the arguments of that run was not kept\nhint: give the arguments again";
            return Err(wrong(why.to_owned()));
        }
        let paths = arguments.scenarios.iter_mut().chain(&mut arguments.manifest);
        paths.for_each(|word| *word = with_home(word));
        let chosen = Chosen::read(arguments)?;
        let jobs = chosen.jobs()?;
        let systems = chosen.system.systems()?;
        // The full names of some systems are known only after they have been started.
        let is_only = systems.len() == 1;
        let is_of = |case: &EarlierCase, system: &System| is_only || system.may_be(&case.system);
        let is_stray =
            |case: &&EarlierCase| case.is_open && !systems.iter().any(|system| is_of(case, system));
        if let Some(stray) = earlier.iter().find(is_stray) {
            return Err(wrong(format!("run.json names the unknown system `{}`", stray.system)));
        }
        let mut batches = Vec::new();
        for system in systems {
            let earlier: Vec<&EarlierCase> = earlier.iter().filter(|case| is_of(case, &system)).collect();
            // A control plan is run before its plan.
            let open = earlier.iter().filter(|case| case.is_open);
            let open: BTreeSet<&str> =
                open.map(|case| case.plan.strip_suffix(CONTROL).unwrap_or(&case.plan)).collect();
            let known: BTreeSet<&str> = earlier.iter().map(|case| case.plan.as_str()).collect();
            let (mut wanted, others): (Vec<Job>, Vec<Job>) =
                jobs.iter().cloned().partition(|job| open.contains(job.plan.id.to_string().as_str()));
            if wanted.len() < open.len() {
                return Err(wrong(format!(
                    "{} of the plans to run again on {} are no longer in the scenarios",
                    open.len() - wanted.len(),
                    system.name()
                )));
            }
            // A run that was killed did not record which plans it had not reached.
            let is_missed = |job: &Job| !known.contains(job.plan.id.to_string().as_str());
            let is_due = |job: &Job| !finished && is_missed(job) && is_spoken(job, &system, &chosen);
            wanted.extend(others.into_iter().filter(is_due));
            if !wanted.is_empty() {
                batches.push((system, wanted));
            }
        }
        Ok(Work { batches, chosen })
    }
}

/// True if a system speaks every dialect of a plan, or if the user has named the dialects.
fn is_spoken(job: &Job, system: &System, chosen: &Chosen) -> bool {
    let own = system.dialects();
    let are_named = chosen.dialects.len() < Dialect::ALL.len();
    are_named || job.plan.dialects().iter().all(|dialect| own.contains(dialect))
}

/// A case in an earlier run.
struct EarlierCase {
    system: String,
    plan: String,
    /// True if the case is worth another run.
    is_open: bool,
}

/// Every case of a run folder: the kept cases, and those in the run's note, including those that it did not
/// reach.
fn earlier_cases(path: &Path, note: &RunNote) -> Result<Vec<EarlierCase>, CliError> {
    let earlier = |system: &str, plan: &str, verdict: Verdict| EarlierCase {
        system: system.to_owned(),
        plan: plan.to_owned(),
        is_open: !CLOSED.contains(&verdict),
    };
    let kept = folder::cases(path)?;
    let kept = kept.iter().map(|(_, case)| earlier(&case.system, &case.plan, case.verdict));
    Ok(kept.chain(note.cases.iter().map(|case| earlier(&case.system, &case.plan, case.verdict))).collect())
}

/// Verdicts of cases that are not worth another run.
const CLOSED: [Verdict; 3] = [Verdict::Pass, Verdict::Unreachable, Verdict::Unsupported];
