//! What a run is to do: from its arguments, or from the folder of an earlier run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::own::Own;
use super::run::{Run, profiles};
use super::secrets::with_home;
use crate::dialect::Dialect;
use crate::folder::{self, RunArguments};
use crate::rules::Profile;
use crate::runner::{self, Job, Selection, Source, System};
use crate::verdict::Verdict;

/// What is to be run.
pub(super) struct Work {
    /// Each system with its plans.
    pub(super) batches: Vec<(System, Vec<Job>)>,
    /// The strictness, one profile for each dialect.
    pub(super) profiles: Vec<&'static Profile>,
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
        Ok(Work { batches, profiles, arguments })
    }

    /// The cases of an earlier run that were neither passed nor none of that system's business.
    pub(super) fn again(path: &Path) -> Result<Work, String> {
        let mut arguments = folder::read_note(path).map_err(|error| error.to_string())?.arguments;
        let paths =
            arguments.scenarios.iter_mut().chain(&mut arguments.manifest).chain(&mut arguments.command);
        paths.for_each(|word| *word = with_home(word));
        let cases = folder::cases(path).map_err(|error| error.to_string())?;
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
        for system in systems {
            let name = system.name();
            let failed =
                cases.iter().filter(|(_, case)| (is_only || case.system == name) && is_open(case.verdict));
            // A control plan is run before its plan.
            let failed: BTreeSet<&str> =
                failed.map(|(_, case)| case.plan.strip_suffix("+control").unwrap_or(&case.plan)).collect();
            let mut wanted = jobs.clone();
            wanted.retain(|job| failed.contains(job.plan.id.to_string().as_str()));
            if wanted.len() < failed.len() {
                return Err(format!(
                    "error: {}: {} of the plans to run again on {} are not in the scenarios any more",
                    path.display(),
                    failed.len() - wanted.len(),
                    system.name()
                ));
            }
            if !wanted.is_empty() {
                batches.push((system, wanted));
            }
        }
        Ok(Work { batches, profiles, arguments })
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

/// Whether a case is worth another run.
fn is_open(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Pass | Verdict::Unreachable | Verdict::Unsupported)
}

fn jobs(arguments: &RunArguments, dialects: &[Dialect]) -> Result<Vec<Job>, String> {
    let sources: Vec<Source> = arguments.scenarios.iter().map(|word| Source::of(word)).collect();
    let filter = arguments.filter.as_deref();
    runner::load(&Selection { sources: &sources, dialects, filter, seed: arguments.seed })
        .map_err(|error| error.to_string())
}
