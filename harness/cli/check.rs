//! `brickbat check`.

use std::io::IsTerminal;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};

use super::error::{BAD_INPUT, CliError, Outcome, UnknownName};
use super::options::{dialect, profile};
use super::output::{error, print, tell};
use super::requests::{self, Input, Inputs, ReadEvent};
use super::secrets::redactor;
use super::{rule, stream};
use brickbat_rules::Profile;
use brickbat_rules::check::{CheckError, CheckFormat, CheckOptions, CheckReport, Strictness};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;

/// Check whether a strict provider would accept request bodies, lists of messages or recorded streams.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// A file, a directory that is searched for `.json` and `.jsonl`, or `-` for standard input. A file has one request
    /// body or list of messages as JSON, or one on each line; a line may also be an object with the body in its field
    /// `request`.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// The dialect, if the body does not show it.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// How strict the provider is; the newest profile of the dialect by default. `union`, or for example
    /// `union:openai-chat`, checks against the newest profile of every provider that speaks the dialect.
    #[arg(long, value_name = "PROFILE", value_parser = profile_or_union)]
    profile: Option<ProfileOrUnion>,
    /// Check recorded streams instead, one in each file, as the provider sent them.
    #[arg(long, conflicts_with_all = ["profile", "off", "deny"])]
    stream: bool,
    /// The output format: text for people, JSON for programs, SARIF 2.1.0 for code scanning, or annotations in GitHub
    /// workflows.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats())]
    format: CheckFormat,
    /// Ignore violations of this rule: an id, an alias, or a name without its dialect. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    off: Vec<rule::RuleArgs>,
    /// Treat warnings of this rule as errors. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    deny: Vec<rule::RuleArgs>,
}

const EXAMPLES: &str = "Examples:
  brickbat check request.json
  brickbat check --profile anthropic-messages@2026-05 messages.json
  brickbat check traffic/ more.jsonl             all requests of a directory, and of a file with one on each line
  jq -c .body recorded.json | brickbat check -
  brickbat check --deny tool-use-id-reused --off text-empty request.json
  brickbat check --profile union request.json    which providers of its dialect would refuse it?
  brickbat check --stream reply.sse              is the stream legal and complete?
  brickbat check --format sarif histories/ > findings.sarif
  brickbat check --format github histories/      annotations in a GitHub workflow

Exit codes: 0 accepted, 1 a provider would refuse a request, one violates a denied rule, or a stream is illegal or
truncated, 2 something could not be read; everything else is checked even then.";

/// A value of `--profile`.
#[derive(Debug, Clone, Copy)]
enum ProfileOrUnion {
    Profile(&'static Profile),
    /// All newest profiles of the dialect that is named, or else shown by the body.
    Union(Option<Dialect>),
}

fn profile_or_union(word: &str) -> Result<ProfileOrUnion, UnknownName> {
    match word.strip_prefix("union") {
        Some("") => Ok(ProfileOrUnion::Union(None)),
        Some(rest) if rest.starts_with(':') => {
            dialect(&rest[1..]).map(|dialect| ProfileOrUnion::Union(Some(dialect)))
        }
        _ => profile(word)
            .map(ProfileOrUnion::Profile)
            .map_err(|UnknownName(known)| UnknownName(format!("{known}, union, union:DIALECT"))),
    }
}

fn formats() -> impl TypedValueParser<Value = CheckFormat> {
    PossibleValuesParser::new(["text", "json", "sarif", "github"]).map(|word| match word.as_str() {
        "json" => CheckFormat::Json,
        "sarif" => CheckFormat::Sarif,
        "github" => CheckFormat::Github,
        "text" => CheckFormat::Text,
        other => unreachable!("clap has refused `{other}`"),
    })
}

impl Check {
    pub(super) fn execute(&self) -> Outcome {
        if self.stream {
            return Ok(stream::check(&self.paths, self.dialect, self.format));
        }
        let (strictness, of_profile) = match self.profile {
            None => (Strictness::Newest, None),
            Some(ProfileOrUnion::Profile(profile)) => (Strictness::Profile(profile), Some(profile.dialect)),
            Some(ProfileOrUnion::Union(dialect)) => (Strictness::Union, dialect),
        };
        if self.dialect.is_some() && of_profile.is_some_and(|dialect| self.dialect != Some(dialect)) {
            let given = self.dialect.map_or("", Dialect::name);
            let own = of_profile.map_or("", Dialect::name);
            return Err(CliError::input(format!("--profile belongs to {own}, but --dialect is {given}")));
        }
        let terms = CheckOptions {
            dialect: self.dialect.or(of_profile),
            strictness,
            off: rule::all(&self.off),
            denied: rule::all(&self.deny),
        };
        let inputs = Inputs::of(&self.paths);
        let report = CheckReport::new(self.format, Colour::Ansi);
        let mut printer = Printer { files: &inputs.files, report, dialect_hint: dialect_hint(), n_errors: 0 };
        print(&printer.report.begin());
        printer.report.pass_over(inputs.n_passed_over);
        for (folder, words) in &inputs.unreadable {
            printer.trouble(folder, None, &format!("cannot read {folder}: {words}"), None);
        }
        let bar = bar(&inputs.files);
        requests::judge(
            &inputs.files,
            &terms,
            |index, event| match &bar {
                Some(bar) => bar.suspend(|| printer.take(index, event)),
                None => printer.take(index, event),
            },
            |n_bytes| bar.iter().for_each(|bar| bar.set_position(n_bytes)),
        );
        bar.iter().for_each(ProgressBar::finish_and_clear);
        printer.count_unprinted();
        print(&printer.report.end());
        let tally = printer.report.tally();
        match (tally.n_unjudged, tally.n_requests, tally.n_refused + tally.n_denied) {
            (0, 0, _) => Err(CliError::input(format!("no request in {}", self.paths.join(" ")))),
            (0, _, 0) => Ok(0),
            (0, _, _) => Ok(1),
            _ => Ok(BAD_INPUT),
        }
    }
}

/// Prints findings and errors.
struct Printer<'a> {
    files: &'a [Input],
    report: CheckReport,
    /// How to name the dialect; printed once.
    dialect_hint: Option<String>,
    n_errors: usize,
}

/// Errors that are printed one by one. A file of another kind would have one on each line.
const MAX_ERRORS: usize = 20;

fn dialect_hint() -> Option<String> {
    let options = Dialect::ALL.map(|dialect| format!("--dialect {dialect}"));
    Some(format!("give {}", options.join(" or ")))
}

impl Printer<'_> {
    fn take(&mut self, index: usize, event: ReadEvent) {
        let Some(input) = self.files.get(index) else { return };
        let file = input.path.as_str();
        let place = |line: Option<u64>| line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
        match event {
            ReadEvent::Judged(audited) => print(&self.report.request(file, &audited)),
            ReadEvent::End => print(&self.report.end_of_file(file)),
            ReadEvent::Unreadable(line, words) => {
                let words = format!("cannot read {}: {words}", place(line));
                self.trouble(file, line, &words, None);
            }
            ReadEvent::Unjudged(line, CheckError::NotJson(words)) => {
                // A line of a file is the first of its own text.
                let words = match line {
                    Some(_) => words.replacen(" at line 1 column ", " at column ", 1),
                    None => words,
                };
                let words = format!("cannot read {} as JSON: {words}", place(line));
                self.trouble(file, line, &words, None);
            }
            // A folder also holds other JSON.
            ReadEvent::Unjudged(_, CheckError::NoConversation) if !input.is_named => self.report.pass_over(1),
            ReadEvent::Unjudged(line, _) => {
                let hint = self.dialect_hint.take();
                self.trouble(file, line, &format!("{} does not show its dialect", place(line)), hint);
            }
        }
    }

    fn trouble(&mut self, file: &str, line: Option<u64>, words: &str, hint: Option<String>) {
        self.n_errors += 1;
        if self.n_errors <= MAX_ERRORS {
            let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            error(format!("{words}{hint}"));
        }
        let words = redactor().text(words).into_owned();
        print(&self.report.unjudged(file, line, &words));
    }

    fn count_unprinted(&self) {
        match self.n_errors.saturating_sub(MAX_ERRORS) {
            0 => {}
            n => tell(format!("… and {n} more that could not be judged")),
        }
    }
}

/// Progress on a terminal, for work that takes long.
fn bar(files: &[Input]) -> Option<ProgressBar> {
    const MIN_BYTES: u64 = 64 << 20;
    let sizes = files.iter().filter_map(|file| Some(std::fs::metadata(&file.path).ok()?.len()));
    let n_bytes: u64 = sizes.sum();
    let is_shown = n_bytes >= MIN_BYTES && std::io::stderr().is_terminal();
    let style = ProgressStyle::with_template("[{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}");
    is_shown
        .then(|| ProgressBar::new(n_bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
}
