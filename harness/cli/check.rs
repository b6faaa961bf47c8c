//! `brickbat check`.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::requests::{self, Event, Input, Inputs};
use super::run::{dialect, profile};
use super::secrets::redactor;
use super::{BAD_INPUT, bad_input, print, rule, stream, tell};
use brickbat_rules::Profile;
use brickbat_rules::check::{CheckError, CheckFormat, CheckOptions, CheckReport, Strictness};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;

/// Says what a strict provider would say to request bodies, or to bare lists of messages.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// A file, a folder that is searched for `.json` and `.jsonl`, or `-` for standard input. A file holds one request
    /// body or list of messages as JSON, or one on each line; a line may also be a row that holds the body in its
    /// field `request`.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// The dialect, where the body does not show it.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// How strict the provider is; the newest profile of the dialect by default. `union`, or for example
    /// `union:openai-chat`, asks all newest profiles of the dialect.
    #[arg(long, value_name = "PROFILE", value_parser = asked)]
    profile: Option<Asked>,
    /// The files hold recorded streams, one in each, as the provider sent them.
    #[arg(long, conflicts_with_all = ["profile", "off", "deny"])]
    stream: bool,
    /// How findings are written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Written,
    /// Pass over breaches of this rule: an id, an alias, or a name without its dialect. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    off: Vec<rule::Named>,
    /// Take a warning of this rule for an error. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    deny: Vec<rule::Named>,
}

const EXAMPLES: &str = "Examples:
  brickbat check request.json
  brickbat check --profile anthropic-messages@2026-05 messages.json
  brickbat check traffic/ more.jsonl             every request of a folder, and of a file with one on each line
  jq -c .body recorded.json | brickbat check -
  brickbat check --deny tool-use-id-reused --off text-empty request.json
  brickbat check --profile union request.json    who of all that speak its dialect refuses it?
  brickbat check --stream reply.sse              is this a legal stream, and did it end?
  brickbat check --format sarif histories/ > findings.sarif
  brickbat check --format github histories/      annotations in a workflow of GitHub

Exit code 1 means that a provider would refuse at least one of them, that one breaks a denied rule, or that a stream
is illegal or truncated; 2 that one could not be read, while all others are judged.";

/// A word for `--profile`.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Profile(&'static Profile),
    /// All of the dialect that is named, or else shown by the body.
    Union(Option<Dialect>),
}

fn asked(word: &str) -> Result<Asked, String> {
    match word.strip_prefix("union") {
        Some("") => Ok(Asked::Union(None)),
        Some(rest) if rest.starts_with(':') => dialect(&rest[1..]).map(|dialect| Asked::Union(Some(dialect))),
        _ => match profile(word) {
            Ok(profile) => Ok(Asked::Profile(profile)),
            Err(known) => Err(format!("{known}, union, union:DIALECT")),
        },
    }
}

/// How findings are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Written {
    /// For people.
    Text,
    /// JSON, for programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Commands of GitHub's workflows.
    Github,
}

impl Check {
    pub(super) fn execute(&self) -> u8 {
        let format = match self.format {
            Written::Text => CheckFormat::Text,
            Written::Json => CheckFormat::Json,
            Written::Sarif => CheckFormat::Sarif,
            Written::Github => CheckFormat::Github,
        };
        if self.stream {
            return stream::check(&self.paths, self.dialect, format);
        }
        let (strictness, of_profile) = match self.profile {
            None => (Strictness::Newest, None),
            Some(Asked::Profile(profile)) => (Strictness::Profile(profile), Some(profile.dialect)),
            Some(Asked::Union(dialect)) => (Strictness::Union, dialect),
        };
        if self.dialect.is_some() && of_profile.is_some_and(|dialect| self.dialect != Some(dialect)) {
            let given = self.dialect.map_or("", Dialect::name);
            let own = of_profile.map_or("", Dialect::name);
            return bad_input(format!("error: --profile is of {own}, and --dialect is {given}"));
        }
        let terms = CheckOptions {
            dialect: self.dialect.or(of_profile),
            strictness,
            off: rule::all(&self.off),
            denied: rule::all(&self.deny),
        };
        let inputs = Inputs::of(&self.paths);
        let report = CheckReport::new(format, Colour::Ansi);
        let mut desk = Desk { files: &inputs.files, report, dialect_hint: dialect_hint(), n_told: 0 };
        print(&desk.report.begin());
        desk.report.pass_over(inputs.n_passed_over);
        for (folder, words) in &inputs.unreadable {
            desk.trouble(folder, None, &format!("cannot read {folder}: {words}"), None);
        }
        let bar = bar(&inputs.files);
        requests::judge(
            &inputs.files,
            &terms,
            |index, event| match &bar {
                Some(bar) => bar.suspend(|| desk.take(index, event)),
                None => desk.take(index, event),
            },
            |n_bytes| bar.iter().for_each(|bar| bar.set_position(n_bytes)),
        );
        bar.iter().for_each(ProgressBar::finish_and_clear);
        desk.count_untold();
        print(&desk.report.end());
        let tally = desk.report.tally();
        match (tally.n_unjudged, tally.n_requests, tally.n_refused + tally.n_denied) {
            (0, 0, _) => bad_input(format!("error: no request in {}", self.paths.join(" "))),
            (0, _, 0) => 0,
            (0, _, _) => 1,
            _ => BAD_INPUT,
        }
    }
}

/// Where what was found becomes text.
struct Desk<'a> {
    files: &'a [Input],
    report: CheckReport,
    /// How to say the dialect; told once.
    dialect_hint: Option<String>,
    /// Errors that were told.
    n_told: usize,
}

/// Errors that are told one by one. A file of another kind would have one on each line.
const MAX_TOLD: usize = 20;

fn dialect_hint() -> Option<String> {
    let options = Dialect::ALL.map(|dialect| format!("--dialect {dialect}"));
    Some(format!("give {}", options.join(" or ")))
}

impl Desk<'_> {
    fn take(&mut self, index: usize, event: Event) {
        let Some(input) = self.files.get(index) else { return };
        let file = input.path.as_str();
        let place = |line: Option<u64>| line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
        match event {
            Event::Judged(audited) => print(&self.report.request(file, &audited)),
            Event::End => print(&self.report.end_of_file(file)),
            Event::Unreadable(line, words) => {
                let words = format!("cannot read {}: {words}", place(line));
                self.trouble(file, line, &words, None);
            }
            Event::Unjudged(line, CheckError::NotJson(words)) => {
                // A line of a file is the first of its own text.
                let words = match line {
                    Some(_) => words.replacen(" at line 1 column ", " at column ", 1),
                    None => words,
                };
                let words = format!("cannot read {} as JSON: {words}", place(line));
                self.trouble(file, line, &words, None);
            }
            // A folder also holds other JSON.
            Event::Unjudged(_, CheckError::NoConversation) if !input.is_named => self.report.pass_over(1),
            Event::Unjudged(line, _) => {
                let hint = self.dialect_hint.take();
                self.trouble(file, line, &format!("{} does not show its dialect", place(line)), hint);
            }
        }
    }

    fn trouble(&mut self, file: &str, line: Option<u64>, words: &str, hint: Option<String>) {
        self.n_told += 1;
        if self.n_told <= MAX_TOLD {
            let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            bad_input(format!("error: {words}{hint}"));
        }
        let words = redactor().text(words).into_owned();
        print(&self.report.unjudged(file, line, &words));
    }

    fn count_untold(&self) {
        match self.n_told.saturating_sub(MAX_TOLD) {
            0 => {}
            n => tell(format!("… and {n} more that could not be judged")),
        }
    }
}

/// Progress for work that takes longer than people like to wait, on a terminal.
fn bar(files: &[Input]) -> Option<ProgressBar> {
    const MIN_BYTES: u64 = 64 << 20;
    let sizes = files.iter().filter_map(|file| Some(std::fs::metadata(&file.path).ok()?.len()));
    let n_bytes: u64 = sizes.sum();
    let is_shown = n_bytes >= MIN_BYTES && std::io::stderr().is_terminal();
    let style = ProgressStyle::with_template("[{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}");
    is_shown
        .then(|| ProgressBar::new(n_bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
}
