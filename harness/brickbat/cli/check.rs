//! `brickbat check`.

mod fix;

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};

use fix::Fix;

use super::error::{BAD_INPUT, CliError, Outcome, UnknownName};
use super::options::{dialect, profile};
use super::output::{error, print, tell};
use super::requests::{self, Input, Inputs, MAX_ERRORS, ReadEvent};
use super::secrets::redactor;
use super::stream::Sender;
use super::{explain, rule, stream};
use brickbat_rules::check::{CheckError, CheckFormat, CheckOptions, CheckReport, Level, Strictness};
use brickbat_rules::colour::Colour;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::plain::is_plain;
use brickbat_rules::{Address, DIALECT_SIGNS, Family, Profile};
use brickbat_sessions::{Files, Product};

/// Check whether a strict provider would accept request bodies, message lists, recorded requests or recorded streams.
///
/// The host's profile applies; --host or the recording names the host. If no host is known, the newest profile of the
/// dialect applies. A request to a host without a profile is not judged.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Check {
    /// A file, a directory that is searched for `.json`, `.jsonl`, `.har` and `.yaml`, packed with gzip or
    /// Zstandard or not, or `-` for standard input. A
    /// file contains one request body or message list as JSON, or one per line; a line may also be an object with the
    /// body in its `request` field and, optionally, `dialect`, `host` or `url`, and `model`. HAR files and VCR
    /// cassettes are read as `recordings` reads them. In any other text, such as a curl command, a log or an export
    /// of another tool, the requests are searched for.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// The dialect, if it cannot be detected from the body.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The host that answers, as a name or a URL, such as `api.x.ai`; by default the host of a recorded request.
    #[arg(long, value_name = "HOST", value_parser = address, conflicts_with = "profile")]
    host: Option<Address>,
    /// The model of the request, if the body names a different one or none.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How strict the provider is; by default the profile of the host, otherwise the newest of the dialect. `union`, or
    /// for example `union:openai-chat`, checks against the newest profile of every provider that speaks the dialect.
    #[arg(long, value_name = "PROFILE", value_parser = profile_or_union)]
    profile: Option<ProfileOrUnion>,
    /// Check recorded streams instead, one per file, exactly as the provider sent them.
    #[arg(long, conflicts_with_all = ["off", "deny"])]
    stream: bool,
    /// Make the smallest edit after which each request is accepted, and write a copy next to its file. The other
    /// options select the rules, as they do without --fix. In a file with several requests, each line is checked and
    /// fixed separately.
    #[arg(long, conflicts_with_all = ["stream", "format"])]
    fix: bool,
    /// Show that edit as a diff, with the surrounding content, and write nothing.
    #[arg(long, conflicts_with_all = ["stream", "format"])]
    diff: bool,
    /// The output format: human-readable text, machine-readable JSON, SARIF 2.1.0 for code scanning, or GitHub
    /// workflow annotations.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats())]
    format: CheckFormat,
    /// Ignore violations of this rule: an id, an alias, or a name without its dialect. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    off: Vec<rule::RuleArgs>,
    /// Treat warnings from this rule as errors. May be repeated.
    #[arg(long, value_name = "RULE", value_parser = rule::named)]
    deny: Vec<rule::RuleArgs>,
}

const EXAMPLES: &str = "Examples:
  brickbat check request.json
  brickbat check --profile anthropic-messages@2026-05 messages.json
  brickbat check traffic/ more.jsonl             all requests in a directory, and in a file with one per line
  jq -c .body recorded.json | brickbat check -
  brickbat check --deny tool-use-id-reused --off text-empty request.json
  brickbat check --host api.x.ai request.json    would this provider accept it?
  brickbat check --host generativelanguage.googleapis.com --model gemini-3-pro-preview contents.json
  brickbat check traffic.har cassettes/          recorded requests, each judged by its host's profile
  brickbat check --profile union request.json    which providers of its dialect would refuse it?
  brickbat check --stream --host api.groq.com reply.sse
  brickbat check --stream reply.sse              is the stream legal and complete?
  brickbat check --format sarif histories/ > findings.sarif
  brickbat check --fix request.json              writes request.fixed.json, which is accepted
  brickbat check --diff request.json             shows the edit
  brickbat check --format github histories/      annotations in a GitHub workflow

Exit codes:
  0  everything is accepted
  1  a provider would refuse a request, a request violates a denied rule, or a stream is
     illegal or truncated
  2  something could not be read, or a text has no request; everything else is still checked, and
     the error that such a text quotes is explained; or a text quotes a refusal, and its
     request is accepted";

/// A `--profile` value.
#[derive(Debug, Clone, Copy)]
enum ProfileOrUnion {
    Profile(&'static Profile),
    /// The newest profiles for the given dialect, or for the dialect detected from the body.
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

/// A host or a URL.
fn address(word: &str) -> Result<Address, UnknownName> {
    let address = Address::of(word);
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    match !address.host.is_empty() && address.host.chars().all(is_host) {
        true => Ok(address),
        false => Err(UnknownName("expected a host or a URL, such as `api.openai.com`".to_owned())),
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
    /// The stream sender.
    fn sender(&self) -> Result<Sender, CliError> {
        let profile = match self.profile {
            None => None,
            Some(ProfileOrUnion::Profile(profile)) => Some(profile),
            Some(ProfileOrUnion::Union(_)) => {
                return Err(CliError::input(
                    "a stream comes from one provider, so --profile cannot name a union here",
                ));
            }
        };
        self.hold_to_dialect(profile.map(|profile| profile.dialect))?;
        let address = self.host.clone().unwrap_or_default();
        Ok(Sender { dialect: self.dialect, profile, address, model: self.model.clone() })
    }

    /// Rejects a profile for another dialect.
    fn hold_to_dialect(&self, of_profile: Option<Dialect>) -> Result<(), CliError> {
        match (self.dialect, of_profile) {
            (Some(given), Some(own)) if given != own => {
                Err(CliError::input(format!("--profile belongs to {own}, but --dialect is {given}")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn execute(&self) -> Outcome {
        if self.stream {
            return Ok(stream::check(&self.paths, &self.sender()?, self.format));
        }
        let (strictness, dialect, of_profile) = match self.profile {
            None => (Strictness::Newest, self.dialect, None),
            Some(ProfileOrUnion::Profile(profile)) => {
                (Strictness::Profile(profile), self.dialect, Some(profile.dialect))
            }
            Some(ProfileOrUnion::Union(dialect)) => (Strictness::Union, self.dialect.or(dialect), dialect),
        };
        self.hold_to_dialect(of_profile)?;
        let terms = CheckOptions {
            dialect,
            strictness,
            address: self.host.clone().unwrap_or_default(),
            model: self.model.clone(),
            off: rule::all(&self.off),
            denied: rule::all(&self.deny),
        };
        let inputs = Inputs::of(&self.paths);
        if self.fix || self.diff {
            return fix::fix(&inputs, &terms, if self.diff { Fix::Diff } else { Fix::Write });
        }
        let mut printer = Printer::new(&inputs.files, self.format);
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
        requests::tell_unprinted(printer.n_errors, "judged");
        print(&printer.report.end());
        let tally = printer.report.tally();
        match (tally.n_unjudged, tally.n_requests, tally.n_refused + tally.n_denied) {
            // Nothing of these texts was judged.
            (0, ..) if printer.n_explained > 0 => Ok(2),
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
    /// True after the hint on how to name a profile, which is printed once.
    is_profile_explained: bool,
    n_errors: usize,
    /// The product that wrote a file, by the file's index, for files with something that is not a request.
    sessions: BTreeMap<usize, Option<Product>>,
    /// The index of the last file with rows of a guessed dialect.
    guessed: Option<usize>,
    /// The index of the last file with rows for training that end with a call.
    trained: Option<usize>,
    /// Texts without a request, or with one that is accepted. The error in each was explained.
    n_explained: usize,
    /// The names of the rules that the requests in the current file break.
    broken: BTreeSet<&'static str>,
    /// Those for which a request is refused.
    refused: BTreeSet<&'static str>,
    /// True after a request in the current file was judged.
    is_judged: bool,
    /// True if the request that was checked last has findings that refuse it.
    is_last_refused: bool,
    format: CheckFormat,
}

/// The largest file in bytes that is read again as a session.
const MAX_SESSION: u64 = 64 << 20;

/// The product that wrote a session, if the file is one.
fn product_of(path: &str) -> Option<Product> {
    if path == "-" {
        return None;
    }
    let (bytes, _) =
        requests::content(path, MAX_SESSION).ok().filter(|(bytes, _)| bytes.len() as u64 <= MAX_SESSION)?;
    let sessions = brickbat_sessions::read(&Files::one(path, bytes)).ok()?;
    sessions.first().map(|session| session.product).filter(|product| *product != Product::Request)
}

/// The reason why the text at a location is not judged.
fn unjudged(place: &str, is_line: bool, problem: &CheckError) -> String {
    match problem {
        // A line of a file is parsed as its own text, so its line is always 1.
        CheckError::NotJson(words) if is_line => {
            let words = words.replacen(" at line 1 column ", " at column ", 1);
            format!("cannot read {place} as JSON: {words}")
        }
        // The text does not begin like JSON.
        CheckError::NotJson(words) if words.starts_with("expected value at line 1 column 1") => format!(
            "cannot read {place} as JSON: {words}; no request was found in it, and `brickbat explain -` explains an error that \
             it quotes"
        ),
        CheckError::NotJson(words) => format!("cannot read {place} as JSON: {words}"),
        CheckError::NotSpoken(name) => {
            format!("{place} is written for {name}, which Brickbat does not support")
        }
        CheckError::NoProfile { dialect, host } => {
            format!("{place}: no profile known for {dialect} at {host}")
        }
        CheckError::OtherDialect { dialect, profile } => {
            format!("{place} is a request of {dialect}, which the profile {profile} does not judge")
        }
        CheckError::NoDialect | CheckError::NoConversation => format!("{place} does not show its dialect"),
        CheckError::NoReply => format!("{place} does not request a reply"),
    }
}

/// The signs of each dialect that were not found, and the options for naming the dialect.
fn dialect_hint() -> String {
    let signs: String =
        DIALECT_SIGNS.iter().map(|(dialect, signs)| format!("\n  {dialect}: {signs}")).collect();
    let options = Dialect::ALL.map(|dialect| format!("--dialect {dialect}")).join(" or ");
    format!(
        "found none of the signs of a dialect:{signs}\nhint: give {options}, or the request's URL with --host; a \
        framework's stored history is not a request"
    )
}

/// The profiles of a dialect, each with its provider.
fn profile_hint(dialect: Dialect) -> String {
    let named = |profile: &Profile| format!("`{}` ({})", profile.undated(), profile.provider);
    let names: BTreeSet<String> = Profile::newest_of_each_name(dialect).map(named).collect();
    let names: Vec<String> = names.into_iter().collect();
    format!("hint: --profile says how strict it is; profiles of {dialect}: {}", names.join(", "))
}

impl<'a> Printer<'a> {
    fn new(files: &'a [Input], format: CheckFormat) -> Printer<'a> {
        Printer {
            files,
            report: CheckReport::new(format, Colour::Ansi),
            dialect_hint: Some(dialect_hint()),
            is_profile_explained: false,
            n_errors: 0,
            sessions: BTreeMap::new(),
            guessed: None,
            trained: None,
            n_explained: 0,
            broken: BTreeSet::new(),
            refused: BTreeSet::new(),
            is_judged: false,
            is_last_refused: false,
            format,
        }
    }

    /// The product that wrote the session in a file. It is reported once for each file.
    fn session(&mut self, index: usize, input: &Input) -> Option<Product> {
        if let Some(known) = self.sessions.get(&index) {
            return *known;
        }
        let product = product_of(&input.path);
        self.sessions.insert(index, product);
        if let Some(product) = product.filter(|_| input.is_named) {
            let words = format!("{} is a session of {}, not a request", input.path, product);
            let hint = format!("hint: `brickbat session {}` judges it", input.path);
            self.trouble(&input.path, None, &words, Some(hint));
        }
        product
    }

    fn take(&mut self, index: usize, event: ReadEvent) {
        let Some(input) = self.files.get(index) else { return };
        let file = input.path.as_str();
        let place = |line: Option<u64>| line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
        match event {
            ReadEvent::Marked => tell(requests::marked(file)),
            ReadEvent::Found(line, place) => tell(requests::found(file, line, &place)),
            ReadEvent::Missed(line, why) => tell(format!("note: {file}:{line} was not judged: {why}")),
            ReadEvent::UnknownHost(host) => tell(format!(
                "note: {file}: the strictness of {host} is not known, so the provider of the dialect or of the model judged; \
                 --profile names another"
            )),
            ReadEvent::Guessed(dialect) => {
                if self.guessed.replace(index) != Some(index) {
                    tell(format!(
                        "note: {file}: rows with only texts show no dialect, so {dialect} judged them; --dialect names another"
                    ));
                }
            }
            ReadEvent::Training => {
                if self.trained.replace(index) != Some(index) {
                    tell(format!(
                        "note: {file}: rows without a model that end with a call are judged as rows for training; as requests, \
                         they would be refused"
                    ));
                }
            }
            ReadEvent::Judged(audited) => {
                self.is_judged = true;
                self.is_last_refused = audited.findings.iter().any(|finding| finding.level == Level::Refused);
                let refused = audited.findings.iter().filter(|finding| finding.level == Level::Refused);
                self.refused.extend(refused.map(|finding| finding.rule.short_name()));
                self.broken.extend(audited.findings.iter().map(|finding| finding.rule.short_name()));
                print(&self.report.request(file, &audited));
            }
            ReadEvent::Quoted(profile) => tell(format!(
                "note: {file}: the text quotes a refusal of {}, so its rules judged ({}); --profile names others",
                profile.provider, profile.name
            )),
            ReadEvent::Refused(line, status, words) => {
                self.compare_recorded(&place(Some(line)), status, &words)
            }
            ReadEvent::Around(text) => self.compare(input, &text),
            ReadEvent::NoRequest(problem, text) => {
                if !self.explained(index, input, &text) {
                    self.take(index, ReadEvent::Unjudged(None, problem));
                }
            }
            ReadEvent::End => {
                self.broken.clear();
                self.refused.clear();
                self.is_judged = false;
                print(&self.report.end_of_file(file));
            }
            ReadEvent::Unreadable(line, words) => {
                let words = format!("cannot read {}: {words}", place(line));
                self.trouble(file, line, &words, None);
            }
            ReadEvent::Unjudged(
                _,
                CheckError::NoConversation
                | CheckError::NoDialect
                | CheckError::NotJson(_)
                | CheckError::NotSpoken(_),
            ) if self.session(index, input).is_some() => {
                if !input.is_named {
                    self.report.pass_over(1);
                }
            }
            // A folder also holds other JSON and YAML.
            ReadEvent::Unjudged(_, CheckError::NoConversation) if !input.is_named => self.report.pass_over(1),
            ReadEvent::Unjudged(None, CheckError::NotJson(_)) if !input.is_named && input.is_yaml() => {
                self.report.pass_over(1);
            }
            ReadEvent::Unjudged(_, CheckError::NoReply) => self.report.no_reply(),
            ReadEvent::Unjudged(line, problem) => {
                let hint = match &problem {
                    CheckError::NoProfile { dialect, .. } | CheckError::OtherDialect { dialect, .. } => {
                        let is_new = !std::mem::replace(&mut self.is_profile_explained, true);
                        is_new.then(|| profile_hint(*dialect))
                    }
                    CheckError::NoDialect | CheckError::NoConversation => self.dialect_hint.take(),
                    CheckError::NotJson(_) | CheckError::NotSpoken(_) | CheckError::NoReply => None,
                };
                self.trouble(file, line, &unjudged(&place(line), line.is_some(), &problem), hint);
            }
        }
    }

    /// Explains the error that a text without a request quotes, if it is known.
    fn explained(&mut self, index: usize, input: &Input, text: &str) -> bool {
        let is_meant = input.is_named && matches!(self.format, CheckFormat::Text);
        if !is_meant || self.session(index, input).is_some() {
            return false;
        }
        let sure = explain::quoted(text);
        let (pages, about) = match sure.is_empty() {
            false => (sure, "the text contains an error"),
            true => (explain::near(text), "the text may be about this error"),
        };
        if pages.is_empty() {
            return false;
        }
        self.n_explained += 1;
        tell(format!("note: {}: no request was found; {about}:", input.path));
        print(&pages.join("\n"));
        true
    }

    /// Tells that a recorded server refused a request in which these rules find no reason.
    fn compare_recorded(&mut self, place: &str, status: u16, words: &str) {
        if self.is_last_refused || !matches!(self.format, CheckFormat::Text) {
            return;
        }
        let said = redactor().text(words).replace(|c: char| !is_plain(c), "\u{fffd}");
        tell(format!(
            "note: {place}: the recorded server refused this request with status {status}, and these rules find no reason \
             in it: {said}"
        ));
        if explain::refusal_in(words).is_some() {
            print(&explain::quoted(words).join("\n"));
            self.n_explained += 1;
        }
    }

    /// Compares the findings in a text with the refusal that it quotes.
    fn compare(&mut self, input: &Input, around: &str) {
        if !matches!(self.format, CheckFormat::Text) {
            return;
        }
        if !self.is_judged {
            let pages = explain::quoted(around);
            if !pages.is_empty() {
                tell(format!("note: {}: the text contains an error:", input.path));
                print(&pages.join("\n"));
            }
            return;
        }
        let Some(rules) = explain::refusal_in(around) else {
            let pages = if self.refused.is_empty() { explain::quoted(around) } else { Vec::new() };
            if !pages.is_empty() {
                tell(format!("note: {}: the text also contains an error:", input.path));
                print(&pages.join("\n"));
                self.n_explained += 1;
            } else if self.refused.is_empty() && explain::tells_of_refusal(around) {
                self.n_explained += 1;
                tell(format!(
                    "note: {}: the text says that a request was refused, and these rules find no reason in the request that it \
                     shows; --host or --profile names the server that refused it",
                    input.path
                ));
            }
            return;
        };
        if rules.iter().any(|rule| self.broken.contains(rule.short_name())) {
            return;
        }
        // The refusal may be that of a converter behind another dialect.
        let families = |names: &mut dyn Iterator<Item = &'static str>| -> Vec<Family> {
            names.filter_map(Family::of).collect()
        };
        let refused = families(&mut self.refused.iter().copied());
        if families(&mut rules.iter().map(|rule| rule.short_name())).iter().any(|own| refused.contains(own)) {
            return;
        }
        tell(format!(
            "note: {}: the text also quotes a refusal for which these rules find no reason in its request. Another server \
             may have refused it (--host names one), or another request was refused:",
            input.path
        ));
        print(&explain::quoted(around).join("\n"));
        self.n_explained += usize::from(self.refused.is_empty());
    }

    fn trouble(&mut self, file: &str, line: Option<u64>, words: &str, hint: Option<String>) {
        // Text from a file must not move the terminal's cursor.
        let words = &words.replace(|c: char| !is_plain(c) && c != '\n', "\u{fffd}");
        self.n_errors += 1;
        if self.n_errors <= MAX_ERRORS {
            let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
            error(format!("{words}{hint}"));
        }
        let words = redactor().text(words).into_owned();
        print(&self.report.unjudged(file, line, &words));
    }
}

/// Progress on a terminal, for long work.
fn bar(files: &[Input]) -> Option<ProgressBar> {
    const MIN_BYTES: u64 = 64 << 20;
    let sizes = files.iter().filter_map(|file| Some(std::fs::metadata(&file.path).ok()?.len()));
    let n_bytes: u64 = sizes.sum();
    let is_shown = n_bytes >= MIN_BYTES && std::io::stderr().is_terminal();
    let style = ProgressStyle::with_template("[{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}");
    is_shown
        .then(|| ProgressBar::new(n_bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
}
