//! `brickbat explain`.

mod case;
mod fields;
mod rules;
mod since;
mod words;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::embedded::{counts, vectors};
use super::error::{CliError, Outcome};
use super::output::{print, print_plain, tell};
use super::runs;
use brickbat_drive::whole_file;
use brickbat_rules::explain;
use brickbat_rules::streams::StreamRule;
use brickbat_rules::{Profile, Rule};
use brickbat_scenario::parse::did_you_mean;

/// Explain a word that Brickbat prints, a case from a recent run by its short id, or an error from a provider or an
/// SDK.
///
/// A word names a rule, check, severity, verdict, level, receipt, failure class or scenario. An error is the name of an
/// SDK's error, such as `AI_MissingToolResultsError`, or a provider's message in quotes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// A rule, such as `anthropic-messages/tool-result-missing`, where the dialect is optional; any other word; a short id;
    /// an error in quotes; or a file with an error in it. `-` reads it from standard input.
    #[arg(value_name = "WORD|ID|ERROR|FILE")]
    what: Option<String>,
    /// The --out directory of the run that contains the case with the short id.
    #[arg(long, value_name = "DIR", requires = "what")]
    out: Option<PathBuf>,
    /// List everything that can be explained, one item per line; `explain` without a word does the same.
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// List what changed at the providers in this month (YYYY-MM) and after it: features, rules, profiles, facts about
    /// models.
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["what", "all", "html", "book"])]
    since: Option<since::Month>,
    /// Write HTML pages for all rules, profiles and known errors to this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "all"])]
    html: Option<PathBuf>,
    /// Write the same pages to this directory as chapters for mdBook, and their list as `SUMMARY.md`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "all", "html"])]
    book: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat explain 3f2a91                        what is wrong in a case from a recent run
  brickbat explain AI_MissingToolResultsError
  brickbat explain 'No tool output found for function call call_abc.'
  brickbat explain error.log                     the error in a file
  brickbat explain results-kept
  brickbat explain tool-result-missing
  brickbat explain ANT-TU-1
  brickbat explain openai-chat/stream/truncated
  brickbat explain --all | grep thinking
  brickbat explain --since 2026-09               what changed at the providers
  brickbat explain --html rules/                 then open rules/index.html";

/// The maximum number of bytes read from a pasted error. The longest provider errors list hundreds of ids in
/// about 20 kB.
const MAX_PASTED: usize = 64 << 10;

/// The maximum number of characters printed of an unknown word: the longest name has about 70.
const MAX_SHOWN: usize = 80;

impl Explain {
    pub(super) fn execute(&self) -> Outcome {
        if let Some(folder) = &self.html {
            return write(folder, "index.html", &explain::site(&vectors(), &counts()));
        }
        if let Some(folder) = &self.book {
            return write(folder, "SUMMARY.md", &explain::chapters(&vectors(), &counts()));
        }
        if let Some(month) = &self.since {
            print_plain(&since::page(month)?);
            return Ok(0);
        }
        match self.what.as_deref() {
            None => list(),
            Some("-") => explain(beginning(&pasted()?)),
            Some(id) if runs::is_short_id(id) && words::pages(id).is_empty() => {
                print(&case::page(&runs::find(id, self.out.as_deref())?)?);
                Ok(0)
            }
            Some(what) => match of_file(what)? {
                Some(text) => explain(beginning(&text)),
                None => explain(beginning(what)),
            },
        }
    }
}

/// The beginning of a text, up to the limit, without the white space around it.
fn beginning(text: &str) -> &str {
    if text.len() > MAX_PASTED {
        tell(format!("the text is long: only its first {} KiB are read", MAX_PASTED >> 10));
    }
    text[..text.floor_char_boundary(MAX_PASTED)].trim()
}

fn list() -> Outcome {
    let of_bodies = Rule::all().map(|rule| (rule.id, rule.summary));
    let of_streams = StreamRule::all().map(|rule| (rule.id, rule.summary));
    let mut text: String =
        of_bodies.chain(of_streams).map(|(id, summary)| format!("{id}  {summary}\n")).collect();
    words::names().iter().for_each(|(name, kind)| text.push_str(&format!("{name}  ({kind})\n")));
    explain::CLIENT_ERRORS
        .iter()
        .for_each(|error| text.push_str(&format!("{}  ({})\n", error.name, error.sdk)));
    print_plain(&text);
    Ok(0)
}

/// Prints the pages about everything that a word names, or otherwise about the errors that a text quotes.
fn explain(what: &str) -> Outcome {
    if what.is_empty() {
        return Err(CliError::input("the text is empty"));
    }
    let mut pages: Vec<String> = rules::pages(what);
    pages.extend(words::pages(what));
    if pages.is_empty() {
        pages.extend(rules::of_error(what));
    }
    if pages.is_empty() {
        return Err(unknown(what));
    }
    print_plain(&pages.join("\n"));
    Ok(0)
}

/// The pages about the errors that the beginning of a longer text quotes.
pub(super) fn quoted(text: &str) -> Vec<String> {
    rules::of_sure_error(text[..text.floor_char_boundary(MAX_PASTED)].trim())
}

/// The pages about the errors that the beginning of a longer text may be about.
pub(super) fn near(text: &str) -> Vec<String> {
    rules::of_error(text[..text.floor_char_boundary(MAX_PASTED)].trim())
}

/// The rules of the refusal that the beginning of a longer text quotes.
pub(super) fn refusal_in(text: &str) -> Option<Vec<&'static Rule>> {
    explain::refusal_in(text[..text.floor_char_boundary(MAX_PASTED)].trim())
}

/// Returns whether a text has the status of a refused request, such as `HTTP 400` or `422 Unprocessable Entity`.
pub(super) fn tells_of_refusal(text: &str) -> bool {
    const WORDS: [&str; 8] =
        ["error", "status", "http", "code", "bad request", "unprocessable", "returns", "refus"];
    text.lines().map(str::to_lowercase).any(|line| {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| matches!(word, "400" | "422")) && WORDS.iter().any(|word| line.contains(word))
    })
}

/// Returns whether the beginning of a longer text has the sentence of this provider for a rule.
pub(super) fn is_said_by(profile: &'static Profile, rule: &'static Rule, text: &str) -> bool {
    explain::is_said_by(profile, rule, text[..text.floor_char_boundary(MAX_PASTED)].trim())
}

/// The rules with a sentence, or a part of one, in the beginning of a longer text.
pub(super) fn rules_near(text: &str) -> Vec<&'static Rule> {
    explain::rules_near(text[..text.floor_char_boundary(MAX_PASTED)].trim())
}

fn unknown(what: &str) -> CliError {
    // A text in another script has no spaces.
    let is_name = what.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_name {
        let words = "no rule and no known SDK has this error, or a similar one\nhint: paste the complete sentence; `brickbat \
                     check FILE` judges the request itself";
        return CliError::input(words);
    }
    let names = words::names();
    let rules = Rule::all().flat_map(|rule| [rule.id, rule.alias, rule.short_name()]);
    let of_streams = StreamRule::all().flat_map(|rule| [rule.id, rule.short_name()]);
    let clients = explain::CLIENT_ERRORS.iter().map(|error| error.name);
    let known: Vec<&str> =
        rules.chain(of_streams).chain(names.iter().map(|(name, _)| name.as_str())).chain(clients).collect();
    let hint =
        did_you_mean(what, &known).unwrap_or_else(|| "`brickbat explain --all` lists them all".to_owned());
    let shown: String = what.chars().take(MAX_SHOWN).collect();
    let cut = if shown.len() < what.len() { "…" } else { "" };
    CliError::input(format!("nothing is known about `{shown}{cut}`\nhint: {hint}"))
}

/// The beginning of the file that a word names, if there is such a file. No word of Brickbat names a file by chance, since
/// words have no extension.
fn of_file(what: &str) -> Result<Option<String>, CliError> {
    let path = Path::new(what);
    if path.extension().is_none() || what.contains('\n') || !path.is_file() {
        return Ok(None);
    }
    let file = std::fs::File::open(path).map_err(|error| CliError::cannot_read(path.display(), error))?;
    text_of(file).map(Some).map_err(|error| CliError::cannot_read(path.display(), error))
}

/// Standard input up to the limit, and one byte more, which shows that there is more.
fn pasted() -> Result<String, CliError> {
    text_of(std::io::stdin()).map_err(|error| CliError::cannot_read("standard input", error))
}

fn text_of(input: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(MAX_PASTED as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(folder: &Path, first: &str, files: &BTreeMap<String, String>) -> Outcome {
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written =
            std::fs::create_dir_all(parent).and_then(|()| whole_file::write(&path, text.as_bytes()));
        written.map_err(|error| CliError::cannot_write(path.display(), error))?;
    }
    print_plain(&format!("{}: {} pages\n", folder.join(first).display(), files.len()));
    Ok(0)
}
