//! `brickbat show`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::run::paint;
use super::{bad_input, print};
use brickbat_drive::folder;
use brickbat_report::record::CaseNote;
use brickbat_report::report::timeline;

/// Tells what happened in one case of a run that was kept with `run --out`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Show {
    /// The folder of a case, or a plan's id, or a part of one that only one case of the run folder has.
    #[arg(value_name = "CASE")]
    case: String,
    /// The run folder in which the plan is looked for.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only cases of systems whose name contains this text.
    #[arg(long, value_name = "TEXT", requires = "out")]
    system: Option<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat run abort/ --system ai-sdk@6/ui-messages --out last
  brickbat show 'abort/mid-batch#k=1@anthropic-messages' --out last
  brickbat show mid-batch#k=1@openai-chat --out last --system ai-sdk";

/// Cases that an error names.
const MAX_CANDIDATES: usize = 20;

impl Show {
    pub(super) fn execute(&self) -> u8 {
        let folder = match &self.out {
            Some(out) => self.find(out),
            None => self.given(),
        };
        match folder
            .and_then(|folder| Ok((folder::read_case(&folder).map_err(|error| error.to_string())?, folder)))
        {
            Ok((record, folder)) => {
                print(&timeline::draw(&record, &paint));
                print(&format!("in {}\n", folder.display()));
                0
            }
            Err(error) => bad_input(error),
        }
    }

    fn given(&self) -> Result<PathBuf, String> {
        let path = Path::new(&self.case);
        if path.join("case.json").is_file() {
            return Ok(path.to_owned());
        }
        match folder::read_note(path) {
            Ok(_) => Err(format!(
                "error: {} is a whole run\nhint: name one of its cases: brickbat show PLAN --out {}\n{}",
                path.display(),
                path.display(),
                candidates(
                    &folder::cases(path).map_err(|error| error.to_string())?.iter().collect::<Vec<_>>()
                )
            )),
            Err(_) => Err(format!(
                "error: `{}` is not the folder of a case\nhint: to find a plan by its id, name the run folder with --out DIR",
                self.case
            )),
        }
    }

    fn find(&self, out: &Path) -> Result<PathBuf, String> {
        folder::read_note(out).map_err(|error| error.to_string())?;
        let cases = folder::cases(out).map_err(|error| error.to_string())?;
        let of_system =
            |case: &CaseNote| self.system.as_ref().is_none_or(|part| case.system.contains(part.as_str()));
        let cases: Vec<&(PathBuf, CaseNote)> = cases.iter().filter(|(_, case)| of_system(case)).collect();
        let matching = |is_it: &dyn Fn(&CaseNote) -> bool| -> Vec<&(PathBuf, CaseNote)> {
            cases.iter().copied().filter(|(_, case)| is_it(case)).collect()
        };
        // A control plan is meant only by one who says so.
        let is_meant = |case: &CaseNote| self.case.contains("+control") || !case.plan.ends_with("+control");
        let exact = matching(&|case| case.plan == self.case);
        let found = match exact.is_empty() {
            true => matching(&|case| case.plan.contains(&self.case) && is_meant(case)),
            false => exact,
        };
        match found.as_slice() {
            [(folder, _)] => Ok(folder.clone()),
            [] => Err(format!(
                "error: no case in {} has `{}` in its plan\n{}",
                out.display(),
                self.case,
                candidates(&cases)
            )),
            several => Err(format!(
                "error: {} cases in {} have `{}` in their plan\nhint: say more of the plan or give --system\n{}",
                several.len(),
                out.display(),
                self.case,
                candidates(several)
            )),
        }
    }
}

fn candidates(cases: &[&(PathBuf, CaseNote)]) -> String {
    let mut lines: Vec<String> = cases
        .iter()
        .take(MAX_CANDIDATES)
        .map(|(_, case)| format!("  {:<13} {} on {}", case.verdict.name(), case.plan, case.system))
        .collect();
    if cases.len() > MAX_CANDIDATES {
        lines.push(format!("  … and {} more", cases.len() - MAX_CANDIDATES));
    }
    lines.join("\n")
}
