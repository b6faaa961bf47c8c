//! `brickbat promote`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome};
use super::failure;
use super::launch::FOUND;
use super::output::print;
use super::replay::one_found;
use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::judged;
use brickbat_engine::triage::{Signature, file_name, kinds};
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::{Provenance, Scenario};
use brickbat_scenario::verdict::{Finding, Verdict};

/// Store a minimised scenario as a regression test, named after its failure.
///
/// If a planted bug causes the same failure in the simulation, the file names that bug. A given history is stored
/// alongside the scenario.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Promote {
    /// A scenario file with the key `found`, written by `brickbat shrink`.
    #[arg(value_name = "FILE")]
    file: String,
    /// The directory for regressions.
    #[arg(long, value_name = "DIR", default_value = "corpora/regressions")]
    into: PathBuf,
}

const EXAMPLES: &str = "Examples:
  brickbat shrink found/bricked-by-client-stop.yaml --out small.yaml
  brickbat promote small.yaml
  brickbat promote small.yaml --into regressions
  brickbat replay regressions/thread-survives-abort-0a1b2c.yaml";

impl Promote {
    pub(super) fn execute(&self) -> Outcome {
        let (mut scenario, mut found) = one_found(&self.file)?;
        let cause = Signature::of_found(&found);
        if let Some(known) = self.duplicate(&cause, &scenario)? {
            return Err(CliError::input(format!(
                "{} shows the same failure: {} of {}, by {}\nhint: replay that one, on this system as well; to replace it, delete it first",
                known.display(),
                found.severity.name(),
                found.check,
                kinds(&scenario).into_iter().collect::<Vec<_>>().join(", "),
            )));
        }
        found.canary = planted(&scenario, &found);
        scenario.found = Some(found);
        scenario.vary.clear();
        let path = self.into.join(file_name(&cause, &scenario));
        failure::make_folder(Some(&self.into))?;
        failure::write(&path, &scenario)?;
        print(&format!("wrote {}\n", path.display()));
        Ok(0)
    }

    /// The existing regression with the same failure.
    fn duplicate(&self, cause: &Signature, scenario: &Scenario) -> Result<Option<PathBuf>, CliError> {
        for path in files(&self.into)? {
            let (known, found) = one_found(&path.to_string_lossy())?;
            if Signature::of_found(&found).is_like(cause) && kinds(&known) == kinds(scenario) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

/// The regressions in a directory. The directory may not exist yet.
fn files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| CliError::cannot_read(folder.display(), error))?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).collect();
    files.sort();
    Ok(files)
}

/// The planted bug that causes the scenario's failure in the simulation. The bug that the scenario names, or
/// on which it was found, is tried first.
fn planted(scenario: &Scenario, found: &Provenance) -> Option<String> {
    let plan = lower::lower(FOUND, "", scenario, found.dialect, found.seed).ok()?;
    let cause = Signature::of_found(found);
    let own = found.system.strip_prefix("canary/").map(|rest| rest.split('/').next().unwrap_or(rest));
    let named = found.canary.as_deref().or(own).and_then(Canary::from_name);
    let others = Canary::all().filter(|canary| Some(*canary) != named);
    let mut canaries = named.into_iter().chain(others);
    let shows = |canary: &Canary| cause.is_among(&simulated(&plan, *canary));
    canaries.find(shows).map(|canary| canary.name().to_owned())
}

/// The findings on a planted bug. Empty if its control plan does not pass.
fn simulated(plan: &Plan, canary: Canary) -> Vec<Finding> {
    let judgement = judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, Some(canary)));
    let failed = judgement.ok().filter(|judgement| judgement.verdict == Verdict::Fail);
    failed.map(|judgement| judgement.findings).unwrap_or_default()
}
