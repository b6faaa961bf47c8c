//! The options of `brickbat run` that speak of baselines.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::embedded::catalogue;
use super::{bad_input, tell};
use brickbat_drive::driver::BASELINE;
use brickbat_drive::runner::{Origin, Subject, System};
use brickbat_report::baseline::{Baseline, Known, Shown, common_system, rewrite};
use brickbat_report::report::{Report, is_reference};
use brickbat_scenario::parse::MAX_TEXT;

/// Known findings: held against, and written.
#[derive(Args)]
pub(super) struct BaselineOptions {
    /// Hold the findings against a baseline: FILE, or the one beside each system's manifest if no FILE is given.
    /// The word that follows is FILE, so write scenarios before it. May be repeated.
    #[arg(long = "baseline", value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    files: Vec<String>,
    /// Write the findings of this run as a baseline; reasons and links that are already in FILE are kept.
    #[arg(long = "write-baseline", value_name = "FILE")]
    write: Option<PathBuf>,
}

impl BaselineOptions {
    /// The baselines that are asked for.
    pub(super) fn load(&self, systems: &[&System]) -> Result<Vec<Baseline>, u8> {
        let mut baselines: Vec<Baseline> = Vec::new();
        for file in &self.files {
            match file.as_str() {
                "" => beside(systems, &mut baselines)?,
                path => {
                    let baseline = read(Path::new(path))?;
                    if !systems.iter().any(|system| may_be_of(&baseline, system)) {
                        let words =
                            format!("error: {path} is of `{}`, and no such system runs", baseline.system);
                        return Err(bad_input(words));
                    }
                    baselines.push(baseline);
                }
            }
        }
        Ok(baselines)
    }

    /// What is to be written, as far as it is known before the run: the old file, if there is one.
    pub(super) fn pending(&self) -> Result<Option<Pending<'_>>, u8> {
        let Some(path) = &self.write else { return Ok(None) };
        // An empty file is what a run leaves that was killed before it could write.
        let is_written = std::fs::metadata(path).is_ok_and(|file| file.len() > 0 || !file.is_file());
        let old = if is_written { Some(read(path)?) } else { None };
        match std::fs::OpenOptions::new().append(true).create(old.is_none()).open(path) {
            Ok(_) => Ok(Some(Pending { path, old })),
            Err(error) => Err(unwritable(path, &error)),
        }
    }
}

/// A baseline that the run will write.
pub(super) struct Pending<'a> {
    path: &'a Path,
    old: Option<Baseline>,
}

impl Pending<'_> {
    /// Writes it. `plans` are all plans that there are, also those that did not run.
    pub(super) fn write(self, report: &Report, plans: &BTreeSet<String>) -> Result<(), u8> {
        let shown: Vec<Shown<'_>> = report.cases.iter().map(|case| case.shown()).collect();
        let shown: Vec<Shown<'_>> = shown.into_iter().filter(|shown| !is_reference(shown.system)).collect();
        let mut ran: Vec<&str> = shown.iter().map(|shown| shown.system).collect();
        ran.dedup();
        let old = match (self.old, common_system(&ran)) {
            (Some(old), _) => old,
            (None, Some(system)) => Baseline::empty(&self.path.to_string_lossy(), &system),
            (None, None) if ran.is_empty() => {
                return Err(bad_input("error: the reference agent has no baseline: it must pass"));
            }
            (None, None) => {
                return Err(bad_input("error: a baseline is of one system, in one or more versions"));
            }
        };
        if !ran.iter().any(|system| old.is_of(system)) {
            let path = self.path.display();
            return Err(bad_input(format!("error: {path} is of `{}`, and no such system ran", old.system)));
        }
        let built_in = catalogue().manifests().iter().flat_map(|manifest| {
            let names = manifest.modes.iter().map(|mode| manifest.full_name(&mode.name));
            names.collect::<Vec<String>>()
        });
        let systems = built_in.chain(ran.iter().map(|system| (*system).to_owned())).collect();
        let new = rewrite(&old, &shown, Known { systems: &systems, plans });
        std::fs::write(self.path, new.to_yaml()).map_err(|error| unwritable(self.path, &error))?;
        let n_unexplained = new.entries.iter().filter(|entry| !entry.is_explained()).count();
        tell(format!(
            "{}: {} entries, {n_unexplained} not yet explained",
            self.path.display(),
            new.entries.len()
        ));
        Ok(())
    }
}

/// Whether a baseline is of a system, or may turn out to be: of some the version is known only when they run.
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

/// The baselines beside the manifests of systems, each once.
fn beside(systems: &[&System], baselines: &mut Vec<Baseline>) -> Result<(), u8> {
    for system in systems {
        let System::Adapted(subject) = system else { continue };
        let Some(text) = subject.manifest.text(BASELINE) else {
            tell(format!("{} has no baseline; every finding counts", system.name()));
            continue;
        };
        let file = format!("{}/{BASELINE}", subject.manifest.name);
        let baseline = Baseline::parse(&text, &file).map_err(bad_input)?;
        if !baselines.contains(&baseline) {
            baselines.push(baseline);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Baseline, u8> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| bad_input(format!("error: cannot read {shown}: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    Baseline::parse(&text, &path.to_string_lossy()).map_err(bad_input)
}

fn unwritable(path: &Path, error: &std::io::Error) -> u8 {
    bad_input(format!("error: cannot write {}: {error}", path.display()))
}
