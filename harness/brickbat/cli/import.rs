//! `brickbat import`.

mod faults;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure;
use super::interrupt::until_interrupted;
use super::launch::{FOUND, Launch, block_on, start};
use super::options::{SystemOptions, profile};
use super::output::{print, tell};
use super::replay;
use super::stored;
use brickbat_engine::triage::Signature;
use brickbat_rules::Profile;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::yaml;
use brickbat_search::import::{Cause, Imported, Sign};
use brickbat_search::shrink::{Accused, Setting};
use faults::{Fault, Faults};

/// Turn a bricked session into a scenario, keeping its structure but none of its text.
///
/// The scenario keeps the order of the messages, the calls, which of them have results and where, and unusual
/// forms of texts, ids and arguments. New text, names, ids and paths are generated from numbers. Everything
/// that the provider's error does not depend on is then removed. If the store shows how the thread broke, a
/// second scenario reproduces that.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Import {
    /// The session file, `STORE#ID` for one session in a database, or a folder, in which all sessions with the same
    /// fault yield one scenario. In a recording, such as one from `proxy --record`, the last refused request is used,
    /// or the one that `FILE#LINE` names.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// Where to write the scenario. Its history is saved alongside it as `.json`, and a scenario that reproduces the
    /// cause as `-cause.yaml`. For several sessions, this is a folder. By default the name is derived from the rule and
    /// the structure, so that the same fault always gets the same name.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print what the scenario would keep, and write nothing.
    #[arg(long, conflicts_with = "out")]
    explain: bool,
    /// How strict the provider is; by default the newest profile of the dialect that the store uses.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
    #[command(flatten)]
    system: SystemOptions,
}

const EXAMPLES: &str = "Examples:
  brickbat import 7c1f.jsonl --explain           what would be kept
  brickbat import 7c1f.jsonl --out mine.yaml     writes mine.yaml and mine.json
  brickbat import ~/.claude/projects --out found one scenario for each fault, with a count
  brickbat import 7c1f.jsonl --out mine.yaml --system ai-sdk@6/ui-messages
  brickbat replay mine.yaml                      does it still fail there?

Exit codes:
  0  the scenarios are written
  1  a given history cannot express the fault in a session
  2  no session can be read, or none is bricked
  3  the reference agent fails a scenario, so the scenario cannot tell a correct system
     from a broken one";

impl Import {
    pub(super) fn execute(&self) -> Outcome {
        let (stores, unreadable) = stored::find(&self.paths)?;
        let is_one = matches!(stores.as_slice(), [store] if store.is_named);
        let recording = self.paths.first().filter(|_| is_one).map(String::as_str);
        let mut faults = Faults::of(&stores, recording, self.profile)?;
        if is_one && faults.n_sessions > 1 {
            return Err(CliError::input(format!("{}: name one session, as STORE#ID", self.paths[0])));
        }
        if is_one && faults.n_healthy == 1 {
            return Err(CliError::input(format!(
                "{}: the session is not bricked, so there is no failure to keep",
                self.paths[0]
            )));
        }
        let mut code = 0;
        for error in unreadable.into_iter().chain(std::mem::take(&mut faults.unreadable)) {
            code = error.report();
        }
        for (file, why) in &faults.unsaid {
            code = code.max(1);
            tell(format!("error: {file}: {why}"));
        }
        if faults.found.is_empty() && faults.unsaid.is_empty() {
            return Err(CliError::input(format!(
                "none of {} sessions is bricked, so there is no failure to keep",
                faults.n_sessions
            )));
        }
        for fault in &faults.found {
            code = code.max(self.keep(fault, is_one)?);
        }
        if !is_one {
            print(&faults.summary());
        }
        Ok(code)
    }

    /// Writes the scenarios of a fault, or prints them.
    fn keep(&self, fault: &Fault, is_one: bool) -> Outcome {
        let Fault { imported, .. } = fault;
        let name = format!("{}.yaml", fault.name());
        let path = match (&self.out, is_one) {
            (Some(path), true) => path.clone(),
            (Some(folder), false) => folder.join(name),
            (None, _) => PathBuf::from(name),
        };
        self.say(fault, is_one);
        if self.explain {
            explain(&path, &imported.scenario);
            if let Cause::Found(_, scenario) = &imported.cause {
                explain(&cause_path(&path), scenario);
            }
            return Ok(0);
        }
        if !imported.is_survived {
            tell(format!(
                "error: {}: the reference agent fails this scenario too, so it could not tell a correct system from a broken one",
                fault.name()
            ));
            return Ok(UNJUDGED);
        }
        let mut scenario = imported.scenario.clone();
        let mut cause = match &imported.cause {
            Cause::Found(_, scenario) => Some(scenario.as_ref().clone()),
            Cause::NotShown | Cause::NotFound(_) => None,
        };
        if self.system.is_given() {
            let of_fault = [Some(&mut scenario), cause.as_mut()].into_iter().flatten();
            self.run(imported, of_fault.collect())?;
        }
        failure::make_folder(path.parent().filter(|folder| !folder.as_os_str().is_empty()))?;
        let history = path.with_extension("json");
        let mut written = vec![path.clone(), history];
        written.extend(cause.is_some().then(|| cause_path(&path)));
        if let Some(taken) = written.iter().find(|path| path.exists()) {
            return Err(CliError::input(format!(
                "{} already exists\nhint: name another file",
                taken.display()
            )));
        }
        failure::write(&path, &scenario)?;
        if let Some(cause) = &cause {
            failure::write(&cause_path(&path), cause)?;
        }
        let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        print(&format!("wrote {}.\n", names.join(", ")));
        Ok(0)
    }

    /// Runs scenarios on the user's system, and stores the result in each scenario.
    fn run(&self, imported: &Imported, scenarios: Vec<&mut Scenario>) -> Result<(), CliError> {
        let system = self.system.one_system()?;
        let launch = Launch::newest()?;
        let options = launch.options(1);
        let setting = Setting { id: FOUND, dialect: imported.dialect, seed: 0, accused: Accused::System };
        let work = async {
            let started = start(&system, options.supervisor).await?;
            for scenario in scenarios {
                let cases = replay::runs(&started, setting, scenario, 1, options).await;
                let what = if scenario.given.is_some() { "the stored thread" } else { "the cause" };
                let Some(case) = cases.first() else { continue };
                let finding = case.all_findings().next().filter(|_| case.verdict == Verdict::Fail);
                match finding {
                    Some(finding) => {
                        let canary = scenario.found.take().and_then(|found| found.canary);
                        let mut found = Signature::of(finding).found(started.name(), imported.dialect, 0);
                        found.canary = canary;
                        scenario.found = Some(found);
                        print(&format!("fails on {} ({what}): {}.\n", started.name(), finding.check));
                    }
                    None => print(&format!(
                        "{} on {} ({what}){}\n",
                        case.verdict.name(),
                        started.name(),
                        case.reason.as_ref().map_or_else(|| ".".to_owned(), |reason| format!(": {reason}"))
                    )),
                }
            }
            Ok::<_, CliError>(())
        };
        block_on(until_interrupted(work))?.ok_or(CliError::Interrupted)?
    }

    fn say(&self, fault: &Fault, is_one: bool) {
        let Fault { imported, n_sessions, .. } = fault;
        let count = match (is_one, n_sessions) {
            (true, _) => String::new(),
            (false, 1) => format!("1 session with {}: ", fault.name()),
            (false, n) => format!("{n} sessions with {}: ", fault.name()),
        };
        print(&format!(
            "{count}{} messages → {} after {} tries; keeps: {}. No text, path or name was copied.\n",
            imported.n_before, imported.n_after, imported.n_tried, imported.rule.id
        ));
        if !imported.left_out.is_empty() {
            print(&format!(
                "left out, because a given history cannot express it: {}.\n",
                imported.left_out.join(", ")
            ));
        }
        print(&match &imported.cause {
            Cause::NotShown => "The store does not show how the thread broke.\n".to_owned(),
            Cause::NotFound(signs) => format!(
                "The store shows how the thread broke ({}), but no scenario made from it makes a planted bug fail in this way.\n",
                signs.iter().copied().map(Sign::words).collect::<Vec<_>>().join("; ")
            ),
            Cause::Found(sign, scenario) => format!(
                "The store shows how the thread broke ({}): a scenario made from it makes the planted bug {} fail.\n",
                sign.words(),
                scenario.found.as_ref().and_then(|found| found.canary.as_deref()).unwrap_or_default()
            ),
        });
    }
}

/// The path of the cause's scenario.
fn cause_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-cause.yaml"))
}

/// Prints a scenario as it would be written, and its history.
fn explain(path: &Path, scenario: &Scenario) {
    let mut scenario = scenario.clone();
    let Some(given) = &mut scenario.given else { return print(&yaml::text(&scenario)) };
    let file = path.with_extension("json");
    given.history = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let history = json!(given.content);
    print(&yaml::text(&scenario));
    print(&format!("{history:#}\n"));
}
