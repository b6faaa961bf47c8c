//! Options that several commands share, and the parsers of their values.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::config::{self, Chosen};
use super::embedded::catalogue;
use super::error::{CliError, UnknownName};
use super::library::{self, Selection, Source};
use super::output::tell;
use brickbat_drive::driver::Manifest;
use brickbat_drive::runner::{Job, Repeat, System, UnknownSystem};
use brickbat_engine::flaws::Canary;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Severity;

#[derive(Args, Clone)]
pub(super) struct SystemOptions {
    /// The system, such as `ai-sdk@6/ui-messages`; by default the one in the nearest `brickbat/system.yaml` in or above
    /// the working directory, otherwise the reference agent. With --manifest, a name from that manifest.
    #[arg(long = "system", value_name = "NAME")]
    pub(super) systems: Vec<String>,
    /// A manifest of your own; without --system, its first version and mode are used.
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(super) manifest: Option<PathBuf>,
    /// The command that starts your own adapter in the working directory, such as `node adapter.mjs`.
    #[arg(long, value_name = "COMMAND", conflicts_with = "systems")]
    pub(super) command: Option<String>,
    /// The mode of the adapter given with --command; by default the first that it offers.
    #[arg(long, value_name = "MODE", requires = "command")]
    pub(super) mode: Option<String>,
    /// An SDK version other than the one in the lockfile, such as `6.0.300` or `latest`.
    #[arg(long, value_name = "VERSION", conflicts_with = "command")]
    pub(super) sdk_version: Option<String>,
    /// A factor for the time limits; machine load is always taken into account.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = patience)]
    pub(super) patience: f64,
}

impl SystemOptions {
    /// True if the options name a system.
    pub(super) fn is_given(&self) -> bool {
        !self.systems.is_empty() || self.manifest.is_some() || self.command.is_some()
    }

    /// The chosen systems; the reference agent if none is named.
    pub(super) fn systems(&self) -> Result<Vec<System>, CliError> {
        let systems: Result<Vec<System>, UnknownSystem> =
            match (&self.command, &self.manifest, self.systems.as_slice()) {
                (Some(command), _, _) => {
                    System::of_command(command, self.mode.as_deref()).map(|system| vec![system])
                }
                (None, Some(path), []) => System::of_manifest(path, None).map(|system| vec![system]),
                (None, Some(path), names) => {
                    names.iter().map(|name| System::of_manifest(path, Some(name))).collect()
                }
                (None, None, []) => System::named("reference", catalogue()).map(|system| vec![system]),
                (None, None, names) => return names.iter().map(|name| self.fit(named(name)?)).collect(),
            };
        systems?.into_iter().map(|system| self.fit(system)).collect()
    }

    /// Applies the chosen patience and SDK version to a system.
    fn fit(&self, system: System) -> Result<System, CliError> {
        let system = system.with_patience(self.patience);
        match &self.sdk_version {
            Some(version) => Ok(system.with_sdk_version(version)?),
            None => Ok(system),
        }
    }

    /// The only system chosen.
    pub(super) fn one_system(&self) -> Result<System, CliError> {
        let mut systems = self.systems()?;
        match (systems.pop(), systems.is_empty()) {
            (Some(system), true) => Ok(system),
            _ => Err(CliError::input("this command runs on one system\nhint: give --system once")),
        }
    }

    /// The single system: the one in the options, otherwise the one on which the scenario's failure was
    /// found.
    pub(super) fn system_of(&self, scenario: &Scenario) -> Result<System, CliError> {
        match &scenario.found {
            _ if self.is_given() => self.one_system(),
            Some(found) => SystemOptions { systems: vec![found.system.clone()], ..self.clone() }.one_system(),
            None => {
                let Chosen { systems, manifest, command } = config::chosen()?;
                let of_project = SystemOptions { systems, manifest, command, ..self.clone() };
                match of_project.is_given() {
                    true => of_project.one_system(),
                    false => Err(CliError::input(
                        "the scenario does not name a system\nhint: name one with --system",
                    )),
                }
            }
        }
    }
}

/// The system with this name: a built-in one, otherwise one from the project's own manifest.
fn named(name: &str) -> Result<System, CliError> {
    let unknown = match System::named(name, catalogue()) {
        Ok(system) => return Ok(system),
        Err(unknown) => unknown,
    };
    match own_manifest(name) {
        Some(path) => Ok(System::of_manifest(&path, Some(name))?),
        None => Err(unknown.into()),
    }
}

/// The manifest of the project around the working folder, if it contains a system with that name.
pub(super) fn own_manifest(name: &str) -> Option<PathBuf> {
    let path = config::chosen().ok()?.manifest?;
    let system = name.split(['@', '/']).next().unwrap_or(name);
    // Mistakes in the manifest are reported where the manifest is chosen explicitly.
    let manifests = Manifest::read(&path).ok()?;
    manifests.iter().any(|manifest| manifest.name == system).then_some(path)
}

#[derive(Args)]
pub(super) struct ProviderOptions {
    /// A dialect that the provider speaks; by default all that the system speaks. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    pub(super) dialects: Vec<Dialect>,
    /// How strict the provider is, such as `anthropic-messages@2026-05`; the newest by default. May be repeated.
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    profiles: Vec<&'static Profile>,
}

impl ProviderOptions {
    pub(super) fn dialects(&self) -> &[Dialect] {
        if self.dialects.is_empty() { &Dialect::ALL } else { &self.dialects }
    }

    /// The profile of each dialect: the given one, otherwise the newest.
    pub(super) fn profiles(&self) -> Vec<&'static Profile> {
        let given = |dialect| self.profiles.iter().copied().find(|profile| profile.dialect == dialect);
        Dialect::ALL.map(|dialect| given(dialect).unwrap_or_else(|| Profile::newest(dialect))).to_vec()
    }
}

#[derive(Args)]
pub(super) struct PlanOptions {
    /// A scenario file or directory, or the beginning of a built-in plan's id, such as `abort/`; all built-in scenarios
    /// by default.
    #[arg(value_name = "SCENARIO")]
    pub(super) scenarios: Vec<String>,
    /// Run only plans whose id contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(super) filter: Option<String>,
    /// Leave out plans whose id contains this text, such as `kill/`. May be repeated.
    #[arg(long, value_name = "TEXT")]
    pub(super) exclude: Vec<String>,
    /// The seed for the wire ids.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(super) seed: u64,
}

impl PlanOptions {
    pub(super) fn jobs(&self, dialects: &[Dialect]) -> Result<Vec<Job>, CliError> {
        let jobs = jobs(&self.scenarios, dialects, self.filter.as_deref(), self.seed)?;
        without(jobs, &self.exclude)
    }
}

/// Removes the plans with one of these texts in their ids. At least one plan must be left.
pub(super) fn without(mut jobs: Vec<Job>, excluded: &[String]) -> Result<Vec<Job>, CliError> {
    jobs.retain(|job| {
        let id = job.plan.id.to_string();
        !excluded.iter().any(|text| id.contains(text.as_str()))
    });
    if jobs.is_empty() {
        return Err(CliError::input("--exclude leaves no plan\nhint: `brickbat run --list` shows all plans"));
    }
    Ok(jobs)
}

/// The scenarios' plans. There must be at least one.
pub(super) fn jobs(
    scenarios: &[String],
    dialects: &[Dialect],
    filter: Option<&str>,
    seed: u64,
) -> Result<Vec<Job>, CliError> {
    let sources: Vec<Source> = scenarios.iter().map(|word| Source::of(word)).collect();
    for word in scenarios {
        if let Some(path) = Source::hidden(word) {
            tell(format!("note: `{word}` is a built-in name; the files of that name here are `{path}`"));
        }
    }
    let jobs = library::load(&Selection { sources: &sources, dialects, filter, seed })?;
    if jobs.is_empty() {
        return Err(CliError::input("no plan matches\nhint: `brickbat run --list` shows all plans"));
    }
    Ok(jobs)
}

#[derive(Args)]
pub(super) struct NextRequestOptions {
    /// How strict the provider is; by default the newest profile of the dialect that the store uses.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    pub(super) profile: Option<&'static Profile>,
    /// The model of the next request, if the store does not contain it; some rules apply only to some models.
    #[arg(long, value_name = "NAME", value_parser = model)]
    pub(super) model: Option<String>,
}

#[derive(Args)]
pub(super) struct JobOptions {
    /// The number of plans that run at once; an agent that speaks ACP itself runs one at a time.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
}

#[derive(Args)]
pub(super) struct ConfirmOptions {
    /// Skip the confirmation run for failing plans and the additional runs for flaky plans.
    #[arg(long)]
    no_confirm: bool,
}

impl ConfirmOptions {
    pub(super) fn repeat(&self, times: u16) -> Repeat {
        Repeat { times, confirm: self.confirms() }
    }

    /// True if failing plans run a second time.
    pub(super) fn confirms(&self) -> bool {
        !self.no_confirm
    }
}

#[derive(Args)]
pub(super) struct FailOnOptions {
    /// The mildest severity that fails the run: a name from a report, `bricked`, or `any`.
    #[arg(long, value_name = "SEVERITY", default_value = "any", value_parser = severity)]
    pub(super) fail_on: Severity,
}

/// The output format for commands whose output is human-readable or machine-readable.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum TextOrJson {
    /// Human-readable text.
    Text,
    /// Machine-readable JSON.
    Json,
}

pub(super) fn dialect(name: &str) -> Result<Dialect, UnknownName> {
    Dialect::from_name(name).ok_or_else(|| unknown(Dialect::ALL.map(Dialect::name)))
}

pub(super) fn profile(name: &str) -> Result<&'static Profile, UnknownName> {
    Profile::named(name).ok_or_else(|| unknown(Profile::all().map(|profile| profile.name)))
}

pub(super) fn premise(name: &str) -> Result<Premise, UnknownName> {
    Premise::named(name).ok_or_else(|| unknown(Premise::ALL.map(Premise::name)))
}

pub(super) fn canary(name: &str) -> Result<Canary, UnknownName> {
    Canary::from_name(name).ok_or_else(|| unknown(Canary::all().map(Canary::name)))
}

/// Reads a duration in seconds, minutes or hours.
pub(super) fn duration(word: &str) -> Result<Duration, UnknownName> {
    let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let seconds = match unit {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let expected = || UnknownName("expected a duration such as 90s, 10m or 2h".to_owned());
    let (number, seconds) = number.parse::<u64>().ok().zip(seconds).ok_or_else(expected)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| UnknownName("too long".to_owned()))
}

/// Reads a factor between 0.1 and 100.
fn patience(text: &str) -> Result<f64, UnknownName> {
    let factor = text.parse::<f64>().ok().filter(|factor| (0.1..=100.0).contains(factor));
    factor.ok_or_else(|| UnknownName("expected a number from 0.1 to 100, such as `2`".to_owned()))
}

/// Reads a model name, as in a request's path or body.
pub(super) fn model(name: &str) -> Result<String, UnknownName> {
    let is_name = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    if !name.is_empty() && name.len() <= MAX_MODEL && name.chars().all(is_name) {
        return Ok(name.to_owned());
    }
    Err(UnknownName("expected the name of a model, such as `claude-opus-4-6`".to_owned()))
}

/// The maximum length of a model name, in bytes. A Bedrock ARN has up to 2048.
const MAX_MODEL: usize = 2048;

fn severity(word: &str) -> Result<Severity, UnknownName> {
    let known = ["any", "bricked"].into_iter().chain(Severity::ALL.map(Severity::name));
    Severity::threshold(word).ok_or_else(|| unknown(known))
}

fn unknown(known: impl IntoIterator<Item = &'static str>) -> UnknownName {
    let known: Vec<&str> = known.into_iter().collect();
    UnknownName(format!("expected one of {}", known.join(", ")))
}
