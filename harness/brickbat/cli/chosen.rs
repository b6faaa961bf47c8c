//! The systems and plans that the user chose, as values and as `run.json` has them.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::CliError;
use super::keep::Regressions;
use super::options::{SystemOptions, jobs, without};
use brickbat_drive::folder::RunArguments;
use brickbat_drive::runner::Job;
use brickbat_report::report::Shard;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::premise::Premise;

/// The choice of systems and plans for a run.
pub(super) struct Chosen {
    /// Scenarios as they were named; empty for all built-in ones.
    pub(super) scenarios: Vec<String>,
    /// The folder with the project's own regressions, if they are played with the built-in scenarios.
    pub(super) regressions: Option<PathBuf>,
    pub(super) system: SystemOptions,
    pub(super) model: Option<String>,
    pub(super) dialects: Vec<Dialect>,
    /// The strictness, one profile for each dialect.
    pub(super) profiles: Vec<&'static Profile>,
    /// The premises of the plans; empty for all.
    pub(super) premises: Vec<Premise>,
    pub(super) filter: Option<String>,
    pub(super) exclude: Vec<String>,
    pub(super) seed: u64,
    pub(super) shard: Option<Shard>,
}

impl Chosen {
    /// The choice in an earlier run.
    pub(super) fn read(arguments: RunArguments) -> Result<Chosen, CliError> {
        let unknown =
            |kind: &str, name: &str| CliError::input(format!("unknown {kind} `{name}` in run.json"));
        let dialects = arguments.dialects.iter();
        let dialects = dialects.map(|name| Dialect::from_name(name).ok_or_else(|| unknown("dialect", name)));
        let profiles = arguments.profiles.iter();
        let profiles = profiles.map(|name| Profile::named(name).ok_or_else(|| unknown("profile", name)));
        let premises = arguments.premises.iter();
        let premises = premises.map(|name| Premise::named(name).ok_or_else(|| unknown("premise", name)));
        Ok(Chosen {
            premises: premises.collect::<Result<_, _>>()?,
            dialects: dialects.collect::<Result<_, _>>()?,
            profiles: profiles.collect::<Result<_, _>>()?,
            regressions: Regressions::beside(
                &arguments.scenarios,
                arguments.filter.as_deref(),
                arguments.shard,
            ),
            scenarios: arguments.scenarios,
            system: SystemOptions {
                systems: arguments.systems,
                manifest: arguments.manifest.map(PathBuf::from),
                command: arguments.command,
                mode: arguments.mode,
                sdk_version: arguments.sdk_version,
                patience: arguments.patience.unwrap_or(1.0),
            },
            model: arguments.model,
            filter: arguments.filter,
            exclude: arguments.exclude,
            seed: arguments.seed,
            shard: arguments.shard,
        })
    }

    /// The choice for `run.json`.
    pub(super) fn arguments(&self) -> RunArguments {
        let SystemOptions { systems, manifest, command, mode, sdk_version, patience } = self.system.clone();
        RunArguments {
            scenarios: self.scenarios.clone(),
            systems,
            manifest: manifest.map(|path| path.to_string_lossy().into_owned()),
            command,
            mode,
            sdk_version,
            model: self.model.clone(),
            patience: Some(patience).filter(|factor| *factor != 1.0),
            dialects: self.dialects.iter().map(|dialect| dialect.name().to_owned()).collect(),
            profiles: self.profile_names(),
            premises: self.premises.iter().map(|premise| premise.name().to_owned()).collect(),
            filter: self.filter.clone(),
            exclude: self.exclude.clone(),
            seed: self.seed,
            shard: self.shard,
        }
    }

    /// The words that select plans, for the report. The shards of one run have the same.
    pub(super) fn selection(&self) -> Vec<String> {
        // A new field of the choice has to be placed here.
        let Chosen {
            scenarios,
            filter,
            exclude,
            premises,
            regressions: _,
            system: _,
            model: _,
            dialects: _,
            profiles: _,
            seed: _,
            shard: _,
        } = self;
        let filter = filter.iter().map(|text| format!("--filter {text}"));
        let exclude = exclude.iter().map(|text| format!("--exclude {text}"));
        let premises = premises.iter().map(|premise| format!("--premise {}", premise.name()));
        scenarios.iter().cloned().chain(filter).chain(exclude).chain(premises).collect()
    }

    /// True if the choice leaves out built-in scenarios. A shard leaves out none: the other shards have the rest.
    pub(super) fn is_part(&self) -> bool {
        !self.selection().is_empty()
    }

    pub(super) fn profile_names(&self) -> Vec<String> {
        self.profiles.iter().map(|profile| profile.name.to_owned()).collect()
    }

    /// The chosen plans. There is at least one.
    pub(super) fn jobs(&self) -> Result<Vec<Job>, CliError> {
        let mut all = jobs(&self.scenarios, &self.dialects, self.filter.as_deref(), self.seed)?;
        if let Some(folder) = &self.regressions {
            let folder = [folder.to_string_lossy().into_owned()];
            all.extend(jobs(&folder, &self.dialects, None, self.seed)?);
        }
        let mut jobs = without(all, &self.exclude)?;
        if !self.premises.is_empty() {
            jobs.retain(|job| self.premises.contains(&job.plan.premise));
        }
        if jobs.is_empty() {
            let words = self.selection().join(" ");
            return Err(CliError::input(format!("no plan matches all of this selection: {words}")));
        }
        if let Some(model) = &self.model {
            // A scenario that names its model shows its failure only with that model.
            let open = jobs.iter_mut().filter(|job| job.plan.model.is_none());
            open.for_each(|job| job.plan = Arc::new(job.plan.with_model(model)));
        }
        Ok(jobs)
    }
}
