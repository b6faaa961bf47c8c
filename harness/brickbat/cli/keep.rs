//! `brickbat keep`, and the folder of regressions that `run` plays and judges.
//!
//! The folder is `brickbat/regressions`, next to the project's manifest. A scenario in it is played like any other. A
//! request or a session is judged again; the file `NAME.kept.json` next to it has the verdict that it was kept with.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::config::FOLDER;
use super::error::{CliError, Outcome};
use super::failure;
use super::options::NextRequestOptions;
use super::output::{print, tell};
use super::regular;
use super::secrets::redactor;
use brickbat_drive::whole_file;
use brickbat_report::report::Shard;
use brickbat_rules::Profile;
use brickbat_scenario::parse;
use brickbat_sessions::{self as sessions, Files, Judgement, Product, Verdict, judge_for};

/// Keep a request, a session or a scenario as a regression of your project, with its verdict.
///
/// The file is copied into `brickbat/regressions`, without keys, credentials, e-mail addresses, machine names and home
/// paths. `brickbat run` plays the scenarios there, and judges the requests and sessions again: it reports each
/// changed verdict. The rest of the text is kept, so read the copy before you publish it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Keep {
    /// A request body, a session file or a scenario.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The directory for regressions.
    #[arg(long, value_name = "DIR", default_value = "brickbat/regressions")]
    into: PathBuf,
    #[command(flatten)]
    next: NextRequestOptions,
}

const EXAMPLES: &str = "Examples:
  brickbat keep body.json                     the provider refuses it: will it still?
  brickbat keep body.json --model claude-opus-4-8
  brickbat keep ~/.claude/projects/shop/7c1f.jsonl
  brickbat keep found/small.yaml              played by each `brickbat run`

Exit codes: 0 kept, 2 usage or bad input.";

/// The largest file that is kept, in bytes. A larger one does not belong into a repository.
const MAX_BYTES: u64 = 16 << 20;
/// The end of the name of a verdict file.
const KEPT: &str = ".kept.json";
/// The version of the format of verdict files.
const SCHEMA: u32 = 1;
/// The largest number of regressions that are judged.
const MAX_KEPT: usize = 10_000;

/// The verdict that a request or a session was kept with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    schema: u32,
    /// The file next to this one.
    file: String,
    /// The product, such as `claude-code`; `request` for a request body.
    product: String,
    /// The profile that it was judged by.
    profile: String,
    /// The model that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    verdict: String,
    /// The rules that it breaks.
    rules: Vec<String>,
}

impl Keep {
    pub(super) fn execute(&self) -> Outcome {
        let text = regular::text(&self.file, MAX_BYTES)
            .map_err(|error| CliError::cannot_read(self.file.display(), error))?;
        let clean = redactor().text(&text).into_owned();
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = self.into.join(redactor().text(&name).as_ref());
        if path.exists() {
            let words =
                format!("{} already exists\nhint: rename the file, or delete the one there", path.display());
            return Err(CliError::input(words));
        }
        let kept = match self.is_scenario() {
            true => {
                parse::parse(&name, &clean)?;
                None
            }
            false => Some(self.judged(&name, &text, &clean)?),
        };
        failure::make_folder(Some(&self.into))?;
        let write = |path: &Path, text: &str| {
            whole_file::write_private(path, text.as_bytes())
                .map_err(|error| CliError::cannot_write(path.display(), error))
        };
        write(&path, &clean)?;
        if let Some(kept) = kept {
            write(&verdict_file(&path), &format!("{:#}\n", json!(kept)))?;
            print(&format!("{}: {}\n", kept.product, summary(&kept)));
        }
        print(&format!("wrote {}\n", path.display()));
        Ok(0)
    }

    fn is_scenario(&self) -> bool {
        self.file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
    }

    /// The verdict on the file, which the redaction must not change.
    fn judged(&self, name: &str, text: &str, clean: &str) -> Result<Kept, CliError> {
        let model = self.next.model.as_deref();
        let before = judge_file(name, text.as_bytes(), self.next.profile, model)?;
        let after = judge_file(name, clean.as_bytes(), self.next.profile, model)?;
        if before != after {
            let words = "without its private parts, the file gets another verdict\nhint: replace keys and names in it by hand, and keep that copy";
            return Err(CliError::input(words));
        }
        Ok(after)
    }
}

/// The file with the verdict on a kept file.
fn verdict_file(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{name}{KEPT}"))
}

fn judge_file(
    name: &str,
    bytes: &[u8],
    profile: Option<&'static Profile>,
    model: Option<&str>,
) -> Result<Kept, CliError> {
    let mut read = sessions::read(&Files::one(name, bytes))?;
    if read.len() != 1 {
        let words = format!("{name} has {} sessions, and one is kept at a time", read.len());
        return Err(CliError::input(words));
    }
    let session = read.remove(0);
    let judgement = judge_for(&session, profile, model);
    let model = model.map(str::to_owned);
    let (profile, verdict) = (judgement.profile.name.to_owned(), word(judgement.verdict).to_owned());
    let product = session.product.id().to_owned();
    Ok(Kept {
        schema: SCHEMA,
        file: name.to_owned(),
        product,
        profile,
        model,
        verdict,
        rules: rules(&judgement),
    })
}

fn rules(judgement: &Judgement) -> Vec<String> {
    let name =
        |refusal: &sessions::Refusal| refusal.rule.map_or("the product gives up", |rule| rule.id).to_owned();
    let mut rules: Vec<String> = judgement.refusals.iter().map(name).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        // A request in the same folder is refused, too.
        Verdict::Refused => "refused",
        other => other.name(),
    }
}

fn summary(kept: &Kept) -> String {
    let rules = if kept.rules.is_empty() { String::new() } else { format!(" ({})", kept.rules.join(", ")) };
    format!("{} by {}{rules}", kept.verdict, kept.profile)
}

/// The regressions of the project around the working directory.
#[derive(Debug, Default)]
pub(super) struct Regressions {
    /// The folder, if it contains scenarios.
    pub(super) scenarios: Option<PathBuf>,
    /// The verdict files.
    kept: Vec<PathBuf>,
}

impl Regressions {
    /// Those of the folder below the working directory or the nearest directory above it.
    pub(super) fn near() -> Regressions {
        let Ok(here) = std::env::current_dir() else { return Regressions::default() };
        let folder = here.ancestors().map(|above| above.join(FOLDER).join("regressions"));
        folder
            .into_iter()
            .find(|folder| folder.is_dir())
            .map_or_else(Regressions::default, |folder| Regressions::of(&folder))
    }

    /// The folder with scenarios, for a run of all built-in scenarios.
    pub(super) fn beside(
        scenarios: &[String],
        filter: Option<&str>,
        shard: Option<Shard>,
    ) -> Option<PathBuf> {
        let is_whole = scenarios.is_empty() && filter.is_none() && shard.is_none();
        is_whole.then(Regressions::near).and_then(|near| near.scenarios)
    }

    fn of(folder: &Path) -> Regressions {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let is_scenario = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "yaml");
        let scenarios = paths.iter().any(is_scenario).then(|| folder.to_owned());
        let is_kept = |path: &PathBuf| path.to_string_lossy().ends_with(KEPT);
        Regressions { scenarios, kept: paths.into_iter().filter(is_kept).take(MAX_KEPT).collect() }
    }

    /// Judges the kept requests and sessions again, and prints each changed verdict.
    ///
    /// # Errors
    ///
    /// A file cannot be read or judged.
    pub(super) fn judge(&self) -> Outcome {
        let mut n_changed = 0;
        for path in &self.kept {
            let (kept, now) = judge_again(path)?;
            if now != kept {
                n_changed += 1;
                print(&format!(
                    "CHANGED  {}: kept as {}; now {}\n",
                    kept.file,
                    summary(&kept),
                    summary(&now)
                ));
            }
        }
        if !self.kept.is_empty() {
            tell(format!("{} kept requests and sessions judged again, {n_changed} changed", self.kept.len()));
        }
        Ok(u8::from(n_changed > 0))
    }
}

/// The verdict that a file was kept with, and its verdict now.
fn judge_again(path: &Path) -> Result<(Kept, Kept), CliError> {
    let cannot = |path: &Path, error: std::io::Error| CliError::cannot_read(path.display(), error);
    let text = regular::text(path, MAX_BYTES).map_err(|error| cannot(path, error))?;
    let kept: Kept =
        serde_json::from_str(&text).map_err(|error| CliError::cannot_read(path.display(), error))?;
    if kept.schema != SCHEMA {
        let words = format!("{} has schema {}, and only {SCHEMA} is known", path.display(), kept.schema);
        return Err(CliError::input(words));
    }
    let is_plain = Path::new(&kept.file).file_name().is_some_and(|name| *name == *kept.file);
    if !is_plain {
        return Err(CliError::input(format!("{} names a file in another folder", path.display())));
    }
    let file = path.with_file_name(&kept.file);
    let text = regular::text(&file, MAX_BYTES).map_err(|error| cannot(&file, error))?;
    let profile = Profile::named(&kept.profile);
    let profile = profile.filter(|_| Product::from_id(&kept.product).is_some());
    let profile = profile
        .ok_or_else(|| CliError::input(format!("{} names an unknown profile or product", path.display())))?;
    let now = judge_file(&kept.file, text.as_bytes(), Some(profile), kept.model.as_deref())?;
    Ok((kept, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = r#"{"model":"claude-sonnet-5","max_tokens":9,"messages":[
        {"role":"user","content":"Look."},
        {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"find","input":{}}]},
        {"role":"user","content":"Well?"}]}"#;

    #[test]
    fn a_changed_verdict_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        let kept = judge_file("body.json", REFUSED.as_bytes(), None, None).unwrap();
        write("body.json", REFUSED);
        write("body.json.kept.json", &json!(kept).to_string());
        let judged = || Regressions::of(folder.path()).judge();
        assert_eq!(judged().unwrap(), 0);
        let healthy = REFUSED.replace(
            r#"{"type":"tool_use","id":"toolu_1","name":"find","input":{}}"#,
            r#"{"type":"text","text":"Seen."}"#,
        );
        write("body.json", &healthy);
        assert_eq!(judged().unwrap(), 1);
        write("body.json.kept.json", &json!(Kept { file: "../body.json".to_owned(), ..kept }).to_string());
        assert!(judged().is_err());
    }
}
