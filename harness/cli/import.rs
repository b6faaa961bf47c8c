//! `brickbat import`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure;
use super::launch::FOUND;
use super::library::one_scenario;
use super::options::profile;
use super::output::{print, tell};
use super::recorded;
use super::stored;
use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::simulate::judged;
use brickbat_rules::{Dialect, Profile};
use brickbat_scenario::lower;
use brickbat_scenario::verdict::Verdict;
use brickbat_search::import::{ImportError, Imported, import};
use brickbat_sessions::{Session, judge};

/// Make a scenario of a bricked session: its structure, and none of its words.
///
/// Kept are who spoke in which order, the calls, which of them have results and where those stand. Words, names, ids and
/// paths are made anew from numbers. Then everything goes without which the provider still refuses for the same reason.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Import {
    /// The file of the session, or `STORE#ID` for one session of a database. Of a recording, such as `proxy --record` makes
    /// it, the last refused request, or the one that `FILE#LINE` names.
    #[arg(value_name = "FILE")]
    path: String,
    /// Where to write the scenario; its history goes next to it, with `.json`. By default the name is made of the rule and
    /// of the structure, so that one fault has one name.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Say what would be kept, and write nothing.
    #[arg(long, conflicts_with = "out")]
    explain: bool,
    /// How strict the provider is; by default the newest of the dialect that the store shows.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
}

const EXAMPLES: &str = "Examples:
  brickbat import 7c1f.jsonl --explain           what would be kept
  brickbat import 7c1f.jsonl --out mine.yaml     writes mine.yaml and mine.json
  brickbat run --system ai-sdk@6/ui-messages mine.yaml

Exit codes: 0 written; 1 the fault is in what a given history cannot say; 2 not readable, or not bricked; 3 the reference
agent does not survive the scenario, so it could not tell a correct system from a broken one.";

impl Import {
    pub(super) fn execute(&self) -> Outcome {
        let stores = stored::find(std::slice::from_ref(&self.path)).map_err(CliError::input)?;
        let [store] = stores.as_slice() else {
            return Err(CliError::input(format!("{}: name one file", self.path)));
        };
        let files = stored::open(&store.path).map_err(CliError::input)?;
        let (sessions, is_recorded) = match brickbat_sessions::read(&files) {
            Ok(sessions) => (sessions, false),
            Err(error) => match recorded::refused(&self.path) {
                Some(session) => (vec![session?], true),
                None => return Err(CliError::input(format!("{}: {error}", self.path))),
            },
        };
        let means = |(n, one): &(usize, &Session)| is_recorded || store.means(*n, one);
        let mut meant = sessions.iter().enumerate().filter(means).map(|(_, one)| one);
        let (Some(session), None) = (meant.next(), meant.next()) else {
            return Err(CliError::input(format!("{}: name one session, as STORE#ID", self.path)));
        };
        let judgement = judge(session, self.profile);
        // The name of the history is known when its structure is.
        let name = |imported: &Imported| {
            let rule = imported.rule.id.split_once('/').map_or(imported.rule.id, |(_, rule)| rule);
            PathBuf::from(format!("{rule}-{}.yaml", imported.hash))
        };
        let first = match import(session, &judgement, "history.json") {
            Ok(imported) => imported,
            Err(error @ ImportError::Healthy) => {
                return Err(CliError::input(format!("{}: {error}", self.path)));
            }
            Err(error) => {
                tell(format!("error: {}: {error}", self.path));
                return Ok(1);
            }
        };
        let out = self.out.clone().unwrap_or_else(|| name(&first));
        let history = out.with_extension("json");
        let file = history.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let imported = import(session, &judgement, &file)
            .map_err(|error| CliError::input(format!("{}: {error}", self.path)))?;
        self.say(&imported);
        if self.explain {
            return Ok(0);
        }
        write(&out, &history, &imported)?;
        if !survived(&out, judgement.profile.dialect)? {
            tell(
                "error: the reference agent fails this scenario, too, so it could not tell a correct system from a broken one",
            );
            return Ok(UNJUDGED);
        }
        print(&format!("wrote {} and {file}.\n", out.display()));
        Ok(0)
    }

    fn say(&self, imported: &Imported) {
        print(&format!(
            "{} messages → {} after {} tries; keeps: {}. No text, path or name was copied.\n",
            imported.n_before, imported.n_after, imported.n_tried, imported.rule.id
        ));
        if !imported.left_out.is_empty() {
            print(&format!(
                "left out, since a given history cannot say it: {}.\n",
                imported.left_out.join(", ")
            ));
        }
        if self.explain {
            print(&imported.scenario);
            print(&format!("{:#}\n", imported.history));
        }
    }
}

fn write(out: &Path, history: &Path, imported: &Imported) -> Result<(), CliError> {
    failure::make_folder(out.parent().filter(|folder| !folder.as_os_str().is_empty()))?;
    let text = |value: &Value| format!("{value:#}\n");
    for (path, text) in [(history, text(&imported.history)), (out, imported.scenario.clone())] {
        stored::write_new(path, text.as_bytes())
            .map_err(|error| CliError::cannot_write(path.display(), error))?;
    }
    Ok(())
}

/// Whether the reference agent survives it.
fn survived(out: &Path, dialect: Dialect) -> Result<bool, CliError> {
    let (_, scenario) = one_scenario(&out.to_string_lossy()).map_err(CliError::input)?;
    let plan = lower::lower(FOUND, "", &scenario, dialect, 0)
        .map_err(|_| CliError::input(format!("{}: the scenario cannot be played", out.display())))?;
    let judgement = judged(&plan, |plan| Agent::of_plan(plan, Delivery::Streamed, None));
    Ok(judgement.is_ok_and(|judgement| judgement.verdict == Verdict::Pass))
}
