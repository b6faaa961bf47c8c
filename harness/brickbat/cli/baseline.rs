//! The `brickbat run` options for baselines.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::Path;

use clap::Args;

use super::embedded::catalogue;
use super::error::CliError;
use super::output::tell;
use super::regular;
use brickbat_drive::driver::BASELINE;
use brickbat_drive::runner::{Origin, Subject, System};
use brickbat_drive::whole_file;
use brickbat_report::baseline::{Baseline, Format, Known, PlanFindings, common_system, rewrite};
use brickbat_report::report::{Report, is_reference};
use brickbat_scenario::parse::MAX_TEXT;

#[derive(Args)]
pub(super) struct BaselineOptions {
    /// Compare the findings with a baseline of known ones; without FILE, with the baseline next to each system's
    /// manifest. May be repeated.
    #[arg(long = "baseline", value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    files: Vec<String>,
    /// Write the findings of this run as a baseline; existing reasons and links in FILE are kept.
    #[arg(long = "write-baseline", value_name = "FILE")]
    write: Option<String>,
}

/// The arguments of `brickbat run`, with `--baseline FILE` rewritten as `--baseline=FILE`. The next word may
/// be a scenario, so it is taken only if it is a baseline file.
///
/// # Errors
///
/// If the next word looks like a YAML file that does not exist.
pub(super) fn joined(given: Vec<OsString>) -> Result<Vec<OsString>, CliError> {
    if given.get(1).is_none_or(|command| command != "run") {
        return Ok(given);
    }
    let mut arguments: Vec<OsString> = Vec::with_capacity(given.len());
    for word in given {
        let follows = arguments.last().is_some_and(|last| last == "--baseline");
        let path = Path::new(&word);
        if follows && is_baseline(path) {
            arguments.pop();
            let mut option = OsString::from("--baseline=");
            option.push(&word);
            arguments.push(option);
            continue;
        }
        let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        if follows && is_yaml && !path.exists() {
            return Err(CliError::input(format!(
                "there is no file {}, neither a baseline nor a scenario\nhint: `--baseline` without a file takes the \
                 baseline next to the manifest",
                path.display()
            )));
        }
        arguments.push(word);
    }
    Ok(arguments)
}

/// Recognises a baseline by its keys, even one with errors.
fn is_baseline(path: &Path) -> bool {
    let Some(text) = path.is_file().then(|| text_of(&path.to_string_lossy()).ok()).flatten() else {
        return false;
    };
    let has =
        |key: &str| text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    has("system") && has("entries")
}

impl BaselineOptions {
    pub(super) fn load(&self, systems: &[&System]) -> Result<Vec<Baseline>, CliError> {
        let mut baselines: Vec<Baseline> = Vec::new();
        for file in &self.files {
            if file.is_empty() {
                add_own(systems, &mut baselines)?;
                continue;
            }
            let baseline = read(file)?;
            if !systems.iter().any(|system| may_be_of(&baseline, system)) {
                return Err(other_system(file, &baseline, "runs"));
            }
            baselines.push(baseline);
        }
        Ok(baselines)
    }

    /// The baseline that the run will write. It is opened before the run, so that a run never ends without it.
    pub(super) fn pending(&self) -> Result<Option<PendingBaseline<'_>>, CliError> {
        let Some(file) = &self.write else { return Ok(None) };
        // A run that was killed before it could write leaves an empty file.
        let is_written = fs::metadata(file).is_ok_and(|found| found.len() > 0 || !found.is_file());
        let old = if is_written { Some(read_any(file)?) } else { None };
        whole_file::check_writable(Path::new(file)).map_err(|error| CliError::cannot_write(file, error))?;
        Ok(Some(PendingBaseline { file, old }))
    }
}

/// A baseline for the run to write, with the entries already in its file.
pub(super) struct PendingBaseline<'a> {
    file: &'a str,
    old: Option<(Baseline, Format)>,
}

impl PendingBaseline<'_> {
    /// Writes the file. `plans` contains the ids of all plans, including those that did not run.
    pub(super) fn write(self, report: &Report, plans: &BTreeSet<String>) -> Result<(), CliError> {
        let shown = report.cases.iter().map(|case| case.plan_findings());
        let shown: Vec<PlanFindings<'_>> = shown.filter(|shown| !is_reference(shown.system)).collect();
        let mut ran: Vec<&str> = shown.iter().map(|shown| shown.system).collect();
        ran.dedup();
        let (old, format) = match (self.old, common_system(&ran)) {
            (Some(old), _) => old,
            (None, Some(system)) => (Baseline::empty(self.file, &system), Format::Causes),
            (None, None) if ran.is_empty() => {
                return Err(CliError::input("the reference agent has no baseline: it must pass"));
            }
            (None, None) => {
                let words = "a baseline belongs to one system, in one or more versions";
                return Err(CliError::input(words));
            }
        };
        if !ran.iter().any(|system| old.is_of(system)) {
            return Err(other_system(self.file, &old, "ran"));
        }
        let built_in = catalogue().manifests().iter().flat_map(|manifest| {
            let names = manifest.modes.iter().map(|mode| manifest.full_name(&mode.name));
            names.collect::<Vec<String>>()
        });
        let systems = built_in.chain(ran.iter().map(|system| (*system).to_owned())).collect();
        let new = rewrite(&old, format, &shown, Known { systems: &systems, plans });
        if let Err(error) = whole_file::write(Path::new(self.file), new.to_yaml().as_bytes()) {
            tell(format!("not written: {}: {error}", self.file));
            return Ok(());
        }
        let n_unexplained = new.entries.iter().filter(|entry| !entry.is_explained()).count();
        let n_entries = match new.entries.len() {
            1 => "1 entry".to_owned(),
            n => format!("{n} entries"),
        };
        tell(format!("{}: {n_entries}, {n_unexplained} not yet explained", self.file));
        Ok(())
    }
}

fn other_system(file: &str, baseline: &Baseline, verb: &str) -> CliError {
    CliError::input(format!("{file} is the baseline of `{}`, and no such system {verb}", baseline.system))
}

/// True if a baseline belongs to a system, or may do so: the version of some systems is known only when they
/// run.
fn may_be_of(baseline: &Baseline, system: &System) -> bool {
    let is_known = |subject: &Subject| match subject.origin {
        Origin::Own(_) => true,
        _ => subject.manifest.version.is_some() && subject.mode.is_some(),
    };
    match system {
        System::Adapted(subject) if !is_known(subject) => true,
        known => baseline.is_of(&known.name()),
    }
}

/// Adds the baselines stored alongside the system manifests, without duplicates.
fn add_own(systems: &[&System], baselines: &mut Vec<Baseline>) -> Result<(), CliError> {
    for system in systems {
        let System::Adapted(subject) = system else { continue };
        let text = subject.manifest.read_text(BASELINE, MAX_TEXT as u64);
        let Some(text) = text.map_err(|error| CliError::cannot_read(BASELINE, error))? else {
            tell(format!("{} has no baseline; every finding counts", system.name()));
            continue;
        };
        let baseline = Baseline::parse(&text, &format!("{}/{BASELINE}", subject.manifest.name))?;
        if !baselines.contains(&baseline) {
            baselines.push(baseline);
        }
    }
    Ok(())
}

fn read(file: &str) -> Result<Baseline, CliError> {
    Ok(Baseline::parse(&text_of(file)?, file)?)
}

/// Like `read`, but also accepts the previous file format, because the file will be rewritten.
fn read_any(file: &str) -> Result<(Baseline, Format), CliError> {
    Ok(Baseline::parse_any(&text_of(file)?, file)?)
}

fn text_of(file: &str) -> Result<String, CliError> {
    let mut text = String::new();
    let opened = regular::open(Path::new(file));
    let read = opened.and_then(|opened| opened.take(MAX_TEXT as u64 + 1).read_to_string(&mut text));
    read.map_err(|error| CliError::cannot_read(file, error))?;
    Ok(text)
}
