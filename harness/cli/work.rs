//! What a run is to do: from its arguments, or from the folder of an earlier run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::library::{self, Selection, Source};
use super::own::Own;
use super::run::{Run, profiles};
use super::secrets::with_home;
use brickbat_drive::folder::{self, RunArguments, RunNote};
use brickbat_drive::runner::{Job, System};
use brickbat_report::report::Shard;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::REDACTED;
use brickbat_scenario::verdict::Verdict;

/// What is to be run.
pub(super) struct Work {
    /// Each system with its plans.
    pub(super) batches: Vec<(System, Vec<Job>)>,
    /// The strictness, one profile for each dialect.
    pub(super) profiles: Vec<&'static Profile>,
    /// The part of the plans that is run; all of them, if there is none.
    pub(super) shard: Option<Shard>,
    /// The same in the words of the user.
    pub(super) arguments: RunArguments,
}

impl Work {
    /// What the arguments ask for.
    pub(super) fn asked(run: &Run) -> Result<Work, String> {
        let dialects = if run.dialects.is_empty() { &Dialect::ALL[..] } else { &run.dialects };
        let profiles = profiles(&run.profiles);
        let arguments = RunArguments {
            scenarios: run.scenarios.clone(),
            systems: run.systems.clone(),
            manifest: run.own.manifest.as_ref().map(|path| path.to_string_lossy().into_owned()),
            command: run.own.command.clone(),
            mode: run.own.mode.clone(),
            sdk_version: run.own.sdk_version.clone(),
            dialects: dialects.iter().map(|dialect| dialect.name().to_owned()).collect(),
            profiles: profiles.iter().map(|profile| profile.name.to_owned()).collect(),
            filter: run.filter.clone(),
            seed: run.seed,
            shard: run.shard,
        };
        let jobs = jobs(&arguments, dialects)?;
        if jobs.is_empty() {
            return Err("error: no plan is left\nhint: `brickbat run --list` shows what there is".to_owned());
        }
        // Without a run, a system that is not there does not matter.
        let batches = match run.list {
            true => vec![(System::Simulated(None), jobs)],
            false => systems(&arguments)?.into_iter().map(|system| (system, jobs.clone())).collect(),
        };
        Ok(Work { batches, profiles, shard: arguments.shard, arguments })
    }

    /// The cases of an earlier run that were neither passed nor none of that system's business.
    pub(super) fn again(path: &Path) -> Result<Work, String> {
        let note = folder::read_note(path).map_err(|error| error.to_string())?;
        let told = told(path, &note)?;
        let RunNote { mut arguments, finished, .. } = note;
        let own = arguments.manifest.iter().chain(&arguments.command).chain(&arguments.sdk_version);
        if own.chain(&arguments.scenarios).any(|word| word.contains(REDACTED)) {
            return Err(format!(
                "error: {}: a secret in the arguments of that run was not kept\nhint: give the arguments again",
                path.display()
            ));
        }
        let paths = arguments.scenarios.iter_mut().chain(&mut arguments.manifest);
        paths.for_each(|word| *word = with_home(word));
        let wrong = |what: &str, name: &str| {
            format!("error: {}: run.json names the unknown {what} `{name}`", path.display())
        };
        let dialects = arguments
            .dialects
            .iter()
            .map(|name| Dialect::from_name(name).ok_or_else(|| wrong("dialect", name)));
        let dialects: Vec<Dialect> = dialects.collect::<Result<_, String>>()?;
        let profiles =
            arguments.profiles.iter().map(|name| Profile::named(name).ok_or_else(|| wrong("profile", name)));
        let profiles: Vec<&'static Profile> = profiles.collect::<Result<_, String>>()?;
        let jobs = jobs(&arguments, &dialects)?;
        let mut batches = Vec::new();
        let systems = systems(&arguments)?;
        // Of some systems the full name is known only once they have been started.
        let is_only = systems.len() == 1;
        let is_of = |case: &Told, system: &System| is_only || system.may_be(&case.system);
        let is_stray = |case: &&Told| case.is_open && !systems.iter().any(|system| is_of(case, system));
        if let Some(stray) = told.iter().find(is_stray) {
            return Err(wrong("system", &stray.system));
        }
        for system in systems {
            let told: Vec<&Told> = told.iter().filter(|case| is_of(case, &system)).collect();
            // A control plan is run before its plan.
            let failed = told.iter().filter(|case| case.is_open);
            let failed: BTreeSet<&str> =
                failed.map(|case| case.plan.strip_suffix("+control").unwrap_or(&case.plan)).collect();
            let known: BTreeSet<&str> = told.iter().map(|case| case.plan.as_str()).collect();
            let (mut wanted, others): (Vec<Job>, Vec<Job>) =
                jobs.iter().cloned().partition(|job| failed.contains(job.plan.id.to_string().as_str()));
            if wanted.len() < failed.len() {
                return Err(format!(
                    "error: {}: {} of the plans to run again on {} are not in the scenarios any more",
                    path.display(),
                    failed.len() - wanted.len(),
                    system.name()
                ));
            }
            // Of a run that was killed nobody wrote down which plans it had not come to.
            let is_missed = |job: &Job| !known.contains(job.plan.id.to_string().as_str());
            wanted.extend(others.into_iter().filter(|job| !finished && is_missed(job)));
            if !wanted.is_empty() {
                batches.push((system, wanted));
            }
        }
        Ok(Work { batches, profiles, shard: arguments.shard, arguments })
    }
}

/// The systems that are meant.
fn systems(arguments: &RunArguments) -> Result<Vec<System>, String> {
    let own = Own {
        manifest: arguments.manifest.as_ref().map(PathBuf::from),
        command: arguments.command.clone(),
        mode: arguments.mode.clone(),
        sdk_version: arguments.sdk_version.clone(),
    };
    own.systems(&arguments.systems).map_err(|error| error.to_string())
}

/// What an earlier run says of a case.
struct Told {
    system: String,
    plan: String,
    /// Whether it is worth another run.
    is_open: bool,
}

/// Every case that a run folder tells of: those that are kept, and those that the run knew but did not come to.
fn told(path: &Path, note: &RunNote) -> Result<Vec<Told>, String> {
    let told = |system: &str, plan: &str, verdict: &str| Told {
        system: system.to_owned(),
        plan: plan.to_owned(),
        is_open: CLOSED.iter().all(|closed| closed.name() != verdict),
    };
    let kept = folder::cases(path).map_err(|error| error.to_string())?;
    let kept = kept.iter().map(|(_, case)| told(&case.system, &case.plan, case.verdict.name()));
    Ok(kept.chain(note.cases.iter().map(|case| told(&case.system, &case.plan, &case.verdict))).collect())
}

/// Verdicts of cases that are not worth another run.
const CLOSED: [Verdict; 3] = [Verdict::Pass, Verdict::Unreachable, Verdict::Unsupported];

fn jobs(arguments: &RunArguments, dialects: &[Dialect]) -> Result<Vec<Job>, String> {
    let sources: Vec<Source> = arguments.scenarios.iter().map(|word| Source::of(word)).collect();
    let filter = arguments.filter.as_deref();
    library::load(&Selection { sources: &sources, dialects, filter, seed: arguments.seed })
        .map_err(|error| error.to_string())
}
