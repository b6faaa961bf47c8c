//! `brickbat promote`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::replay::one_found;
use super::secrets::redactor;
use super::{bad_input, print};
use brickbat_engine::triage::{Signature, file_name, kinds};
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::yaml;

/// Files a scenario with what it was found to show, as a regression: in its one form, under the name of its cause.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Promote {
    /// A scenario file with the key `found`, as `brickbat shrink` writes it.
    #[arg(value_name = "FILE")]
    file: String,
    /// The folder of the regressions.
    #[arg(long, value_name = "DIR", default_value = "corpora/regressions")]
    into: PathBuf,
}

const EXAMPLES: &str = "Examples:
  brickbat shrink found/bricked-by-client-stop.yaml --out small.yaml
  brickbat promote small.yaml
  brickbat promote small.yaml --into regressions
  brickbat replay regressions/thread-survives-abort-0a1b2c.yaml

Where a planted bug shows the same cause in the simulation, the file names it.";

impl Promote {
    pub(super) fn execute(&self) -> u8 {
        match self.promote() {
            Ok(path) => {
                print(&format!("filed {}\n", path.display()));
                0
            }
            Err(error) => bad_input(error),
        }
    }

    fn promote(&self) -> Result<PathBuf, String> {
        let (mut scenario, mut found) = one_found(&self.file)?;
        if scenario.given.is_some() {
            return Err(format!(
                "error: {} begins with a given history, which is a file of its own\nhint: file it among the scenarios, with its history",
                self.file
            ));
        }
        let cause = Signature::of_found(&found);
        if let Some(there) = self.duplicate(&cause, &scenario)? {
            return Err(format!(
                "error: {} is of the same cause: {} of {}, by {}\nhint: replay that one, also on another system; to take its place, remove it first",
                there.display(),
                found.harm.name(),
                found.check,
                kinds(&scenario).into_iter().collect::<Vec<_>>().join(", "),
            ));
        }
        found.canary = super::shows::planted(&scenario, &found);
        scenario.found = Some(found);
        scenario.vary.clear();
        let path = self.into.join(file_name(&cause, &scenario));
        let wrong = |error: std::io::Error| format!("error: cannot write {}: {error}", path.display());
        std::fs::create_dir_all(&self.into).map_err(wrong)?;
        let text = yaml::text(&scenario);
        std::fs::write(&path, redactor().text(&text).as_bytes()).map_err(wrong)?;
        Ok(path)
    }

    /// The regression of the same cause that is there already.
    fn duplicate(&self, cause: &Signature, scenario: &Scenario) -> Result<Option<PathBuf>, String> {
        for path in files(&self.into)? {
            let (there, found) = one_found(&path.to_string_lossy())?;
            if Signature::of_found(&found) == *cause && kinds(&there) == kinds(scenario) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

/// The regressions of a folder, which need not exist yet.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |error: std::io::Error| format!("error: cannot read {}: {error}", folder.display());
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
