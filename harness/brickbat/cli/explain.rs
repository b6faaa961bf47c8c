//! `brickbat explain`.

mod case;
mod clients;
mod neighbours;
mod rules;
mod since;
mod words;

use std::path::{Path, PathBuf};

use clap::Args;

use super::embedded::{counts, vectors};
use super::error::{CliError, Outcome};
use super::output::{print, print_plain, tell};
use super::runs;
use brickbat_drive::whole_file;
use brickbat_rules::Rule;
use brickbat_rules::explain::{self, Answer, Reported, Subject};
use brickbat_rules::streams::StreamRule;
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
    /// or an error in quotes. `-` reads it from standard input.
    #[arg(value_name = "WORD|ID|ERROR")]
    what: Option<String>,
    /// The --out directory of the run that contains the case with the short id.
    #[arg(long, value_name = "DIR", requires = "what")]
    out: Option<PathBuf>,
    /// List everything that can be explained, one item per line; `explain` without a word does the same.
    #[arg(long, conflicts_with = "what")]
    all: bool,
    /// List what changed at the providers in this month (YYYY-MM) and after it: features, rules, profiles, facts about
    /// models.
    #[arg(long, value_name = "MONTH", conflicts_with_all = ["what", "all", "html"])]
    since: Option<since::Month>,
    /// Write HTML pages for all rules and profiles to this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["what", "all"])]
    html: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat explain 3f2a91                        what is wrong in a case from a recent run
  brickbat explain AI_MissingToolResultsError
  brickbat explain 'No tool output found for function call call_abc.'
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
            return write(folder);
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
            Some(what) => explain(beginning(what)),
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
    clients::CLIENT_ERRORS
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
        pages.extend(of_error(what));
    }
    if pages.is_empty() {
        return Err(unknown(what));
    }
    print_plain(&pages.join("\n"));
    Ok(0)
}

/// The beginning of the AI SDK's error for a reply that does not have the required form.
const OF_REPLY: &str = "no object generated";

/// The pages about an error message: first those about complete sentences, then the nearest sentences.
fn of_error(text: &str) -> Vec<String> {
    let (mut pages, near) = known_error(text);
    if pages.is_empty() {
        pages.extend(neighbours::of_status(text).map(neighbours::page));
    }
    if pages.is_empty() && !near.is_empty() && text.split_whitespace().count() > 1 {
        pages.push(rules::nearest(&near));
    }
    if pages.is_empty() {
        pages.extend(
            Some(explain::about(text))
                .filter(|about| !about.is_empty())
                .map(|about| rules::on_subject(&about)),
        );
    }
    pages
}

/// The pages about the errors that the beginning of a longer text quotes.
pub(super) fn quoted(text: &str) -> Vec<String> {
    known_error(text[..text.floor_char_boundary(MAX_PASTED)].trim()).0
}

/// The pages about an error message with a known sentence, and otherwise the nearest sentences.
fn known_error(text: &str) -> (Vec<String>, Vec<explain::Near>) {
    let neighbours: Vec<String> = neighbours::in_text(text).map(neighbours::page).collect();
    // The AI SDK's check of types is quoted for replies too.
    let is_of_reply = text.to_lowercase().contains(OF_REPLY);
    let clients = clients::in_text(text).filter(|error| !is_of_reply || error.name != clients::TYPES);
    let mut pages: Vec<String> = clients.map(clients::page).collect();
    if neighbours::names_parameter(text) || pages.is_empty() && is_of_reply {
        pages.extend(neighbours);
        return (pages, Vec::new());
    }
    match explain::answer(text) {
        Answer::Said(said) => pages.extend(rules::of(&said)),
        Answer::Reported(found) => {
            // The frame of a gateway says less than the kind of error inside it.
            let is_frame = found.iter().all(|own| own.about == Subject::Frame);
            if !neighbours.is_empty() && is_frame {
                pages.extend(neighbours);
            } else {
                pages.extend(found.iter().map(Reported::page));
            }
        }
        Answer::Near(near) => {
            pages.extend(neighbours);
            return (pages, near);
        }
    }
    (pages, Vec::new())
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
    let clients = clients::CLIENT_ERRORS.iter().map(|error| error.name);
    let known: Vec<&str> =
        rules.chain(of_streams).chain(names.iter().map(|(name, _)| name.as_str())).chain(clients).collect();
    let hint =
        did_you_mean(what, &known).unwrap_or_else(|| "`brickbat explain --all` lists them all".to_owned());
    let shown: String = what.chars().take(MAX_SHOWN).collect();
    let cut = if shown.len() < what.len() { "…" } else { "" };
    CliError::input(format!("nothing is known about `{shown}{cut}`\nhint: {hint}"))
}

/// Standard input up to the limit, and one byte more, which shows that there is more.
fn pasted() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let input = std::io::Read::take(std::io::stdin(), MAX_PASTED as u64 + 1);
    let read = std::io::Read::read_to_end(&mut { input }, &mut bytes);
    read.map_err(|error| CliError::cannot_read("standard input", error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(folder: &Path) -> Outcome {
    let site = explain::site(&vectors(), &counts());
    for (path, html) in &site {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written =
            std::fs::create_dir_all(parent).and_then(|()| whole_file::write(&path, html.as_bytes()));
        written.map_err(|error| CliError::cannot_write(path.display(), error))?;
    }
    print_plain(&format!("{}: {} pages\n", folder.join("index.html").display(), site.len()));
    Ok(0)
}
