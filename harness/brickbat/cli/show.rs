//! `brickbat show`.

use brickbat_drive::whole_file;
use brickbat_scenario::plan::CONTROL;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome};
use super::output::{paint, print};
use super::runs;
use super::secrets::redactor;
use super::terminal::width;
use brickbat_drive::folder;
use brickbat_report::record::CaseNote;
use brickbat_report::report::{html, raw, timeline};

/// Show one case of a run, identified by the short cause id that `run` prints.
///
/// The cases that did not pass in the last runs of the project are kept, up to 200 MB; `run --out DIR` keeps every case.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Show {
    /// The short id of a cause, the directory of a case, a plan's id, or a part of an id that matches only
    /// one case of the run.
    #[arg(value_name = "CASE")]
    case: String,
    /// The --out directory of the run that contains the case; by default the most recent run that contains it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only cases from systems whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Show the requests and replies around the fault as they were sent, and what the system had stored.
    #[arg(long)]
    raw: bool,
    /// Write the case to this file as an HTML page: timeline, requests, and what is wrong in them.
    #[arg(long, value_name = "FILE", conflicts_with = "raw")]
    html: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat show 3f2a91
  brickbat show 3f2a91 --raw
  brickbat show 3f2a91 --html case.html
  brickbat show mid-batch#k=1@anthropic
  brickbat run abort/ --system ai-sdk@6/ui-messages --out last
  brickbat show 'abort/mid-batch#k=1@anthropic-messages' --out last
  brickbat show mid-batch#k=1@openai-chat --out last --system ai-sdk";

/// The maximum number of cases that an error lists.
const MAX_CANDIDATES: usize = 20;

impl Show {
    pub(super) fn execute(&self) -> Outcome {
        let wanted =
            WantedCase { case: &self.case, out: self.out.as_deref(), system: self.system.as_deref() };
        let folder = wanted.folder()?;
        let record = folder::read_case(&folder)?;
        if let Some(path) = &self.html {
            let page = redactor().text(&html::of_case(&record)).into_owned();
            whole_file::write(path, page.as_bytes())
                .map_err(|error| CliError::cannot_write(path.display(), error))?;
            print(&format!("{}\n", path.display()));
            return Ok(0);
        }
        print(&timeline::draw(&record, width(), &paint));
        if self.raw {
            print(&raw::draw(&record, &paint));
        }
        print(&format!("in {}\n", folder.display()));
        Ok(0)
    }
}

/// A case in a run, as the user names it.
pub(super) struct WantedCase<'a> {
    /// The short id of a case, its directory, a plan's id, or a part of an id that matches only one case of
    /// the run.
    pub(super) case: &'a str,
    /// The directory of the run; by default the newest of the last runs that has it.
    pub(super) out: Option<&'a Path>,
    /// A part of the name of the case's system.
    pub(super) system: Option<&'a str>,
}

impl WantedCase<'_> {
    /// Finds the directory of the case.
    pub(super) fn folder(&self) -> Result<PathBuf, CliError> {
        match self.out {
            _ if runs::is_short_id(self.case) => Ok(runs::find(self.case, self.out)?.folder),
            Some(out) => self.find(out),
            None if Path::new(self.case).exists() => self.given(),
            None => self.find(&last_run()?),
        }
    }

    /// The case in the directory that the user gave.
    fn given(&self) -> Result<PathBuf, CliError> {
        let path = Path::new(self.case);
        if path.join("case.json").is_file() {
            return Ok(path.to_owned());
        }
        let shown = path.display();
        if folder::read_note(path).is_err() {
            return Err(CliError::input(format!(
                "`{shown}` is not the directory of a case\nhint: to find a plan by its id, name the run with --out DIR"
            )));
        }
        let cases = folder::cases(path)?;
        let cases = candidates(&cases.iter().collect::<Vec<_>>());
        Err(CliError::input(format!(
            "{shown} is a complete run\nhint: name one of its cases: brickbat show PLAN --out \
             {shown}\n{cases}"
        )))
    }

    fn find(&self, out: &Path) -> Result<PathBuf, CliError> {
        folder::read_note(out)?;
        let cases = folder::cases(out)?;
        let of_system = |case: &CaseNote| self.system.is_none_or(|part| case.system.contains(part));
        let cases: Vec<&(PathBuf, CaseNote)> = cases.iter().filter(|(_, case)| of_system(case)).collect();
        let matching = |is_it: &dyn Fn(&CaseNote) -> bool| -> Vec<&(PathBuf, CaseNote)> {
            cases.iter().copied().filter(|(_, case)| is_it(case)).collect()
        };
        // A control plan matches only if the user's text names one.
        let is_meant = |case: &CaseNote| self.case.contains(CONTROL) || !case.plan.ends_with(CONTROL);
        let mut found = matching(&|case| case.plan == self.case);
        if found.is_empty() {
            found = matching(&|case| case.plan.contains(self.case) && is_meant(case));
        }
        let (out, part) = (out.display(), self.case);
        match found.as_slice() {
            [(folder, _)] => Ok(folder.clone()),
            [] => Err(CliError::input(format!(
                "no case in {out} contains `{part}` in its plan\n{}",
                candidates(&cases)
            ))),
            several => Err(CliError::input(format!(
                "{} cases in {out} contain `{part}` in their plan\nhint: give more of the plan's id, or \
                 --system\n{}",
                several.len(),
                candidates(several)
            ))),
        }
    }
}

fn last_run() -> Result<PathBuf, CliError> {
    let hint = "hint: `brickbat run` keeps what does not pass; with --out DIR it keeps every case";
    runs::newest_first()
        .into_iter()
        .next()
        .ok_or_else(|| CliError::input(format!("there is no kept run\n{hint}")))
}

fn candidates(cases: &[&(PathBuf, CaseNote)]) -> String {
    let line = |(_, case): &&(PathBuf, CaseNote)| {
        format!("  {:<13} {} on {}", case.verdict.name(), case.plan, case.system)
    };
    let mut lines: Vec<String> = cases.iter().take(MAX_CANDIDATES).map(line).collect();
    if cases.len() > MAX_CANDIDATES {
        lines.push(format!("  … and {} more", cases.len() - MAX_CANDIDATES));
    }
    lines.join("\n")
}
