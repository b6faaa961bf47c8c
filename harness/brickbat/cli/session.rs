//! `brickbat session`.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use serde_json::Value;

use super::error::{BAD_INPUT, CliError, Outcome, UNJUDGED};
use super::options::NextRequestOptions;
use super::output::{print, print_json, tell};
use super::stored::{self, Store};
use brickbat_sessions::report::{self, Examined, Sarif, Survey, Unread};
use brickbat_sessions::{FormError, Product, ReadError, Verdict, judge_for, nearest, next_step};

/// Read sessions as agents store them, and check whether the provider would accept the next request in each.
///
/// The product that wrote a file is detected from the content. The request that the product would send is judged, so a
/// fault that the product repairs itself is not reported. The content is never printed, and no file is changed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Session {
    /// A file, a folder to search, or `STORE#ID` for one session in a database.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// List every session, one per line.
    #[arg(long, conflicts_with_all = ["request", "format"])]
    list: bool,
    /// Print the body of the session's next request, with its content: for `check`, or for a bug report.
    #[arg(long, conflicts_with = "format")]
    request: bool,
    #[command(flatten)]
    next: NextRequestOptions,
    /// The output format: human-readable text, machine-readable JSON, or SARIF 2.1.0 for code scanning.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

const EXAMPLES: &str = "Examples:
  brickbat session ~/.claude/projects                    a survey: which sessions are bricked?
  brickbat session 7c1f.jsonl                            one session: what is wrong, and where
  brickbat session ~/.local/share/opencode/opencode.db --list
  brickbat session opencode.db#ses_41f2                  one session in a database
  brickbat session 7c1f.jsonl --request > body.json      what the product would send
  brickbat session --format sarif ~/.claude/projects > sessions.sarif

Exit codes:
  0  the next request would be accepted; this includes open tails, excerpts and cut threads
  1  the next request would be refused
  2  no known product wrote the file, and it has no messages that can be read
  3  a known product wrote the file, but in a form that cannot be judged";

/// The findings to show. A folder may contain more sessions than fit into memory, so only the report lines of
/// each session are kept.
#[derive(Default)]
struct Found {
    n_sessions: usize,
    verdicts: BTreeSet<Verdict>,
    survey: Survey,
    list: String,
    json: Vec<Value>,
    sarif: Sarif,
    /// The session, if there is only one, for the detailed output.
    only: Option<Examined>,
    unread: Vec<Unread>,
    /// The files in folders that no known product wrote, or that have no session.
    passed_over: BTreeSet<PathBuf>,
    /// A description of the first of these that a known product wrote.
    beside: Option<String>,
    /// The files that belong to a session next to them.
    belonging: BTreeSet<PathBuf>,
    /// A salt from the first file, so that hashes of ids differ between reports.
    salt: String,
}

impl Session {
    pub(super) fn execute(&self) -> Outcome {
        let (stores, unreadable) = stored::find(&self.paths)?;
        let mut found = Found::default();
        let mut code = 0;
        for error in unreadable {
            code = error.report();
        }
        let bar = bar(stores.len());
        for store in &stores {
            if let Err(error) = self.examine(store, &mut found) {
                code = error.report();
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if self.request {
            return self.print_request(&found);
        }
        if code != 0 && found.n_sessions == 0 && found.unread.is_empty() {
            return Ok(code);
        }
        let of_found = found.code();
        self.print(found, stores.iter().all(|store| store.is_named) && stores.len() == 1)?;
        Ok(code.max(of_found))
    }

    /// Reads and judges the sessions in a file.
    fn examine(&self, store: &Store, found: &mut Found) -> Result<(), CliError> {
        let files = stored::open(&store.path)?;
        if found.salt.is_empty() {
            found.salt = report::hashed(&String::from_utf8_lossy(files.main()), "");
        }
        let file = store.path.display().to_string();
        if store.is_named && files.main().is_empty() {
            return Err(CliError::input(format!("{file}: the file is empty")));
        }
        // A folder has many files with lists, such as translations and logs.
        let read = if store.is_named { brickbat_sessions::read_named } else { brickbat_sessions::read };
        let sessions = match read(&files) {
            Ok(sessions) => sessions,
            Err(error) if !store.is_named && is_no_session(&error) => {
                found.passed_over.insert(store.path.clone());
                if matches!(error, ReadError::Form { .. }) {
                    found.beside.get_or_insert_with(|| format!("{file}: {error}"));
                }
                return Ok(());
            }
            Err(error) => {
                let (near, next) = match error {
                    ReadError::Unknown => (nearest(&files), next_step(&files, &file)),
                    ReadError::Form { .. } => (Vec::new(), String::new()),
                };
                found.unread.push(Unread { file, error, near, next });
                return Ok(());
            }
        };
        if !store.is_named {
            found.belonging.extend(stored::belonging(&store.path));
        }
        let companions = files.companions();
        let before = found.n_sessions;
        // A product writes the file of a session before its first message.
        let is_begun = |session: &brickbat_sessions::Session| {
            store.is_named || session.n_records > 0 || session.product != Product::Opencode
        };
        let meant = sessions.into_iter().enumerate().filter(|(n, session)| store.means(*n, session));
        for (n, mut session) in meant.filter(|(_, session)| is_begun(session)) {
            session.fork = session.product.fork_at(&file).or(session.fork);
            let judgement = judge_for(&session, self.next.profile, self.next.model.as_deref());
            let (file, companions) = (file.clone(), companions.clone());
            self.add(Examined { file, companions, n, session, judgement }, found);
        }
        match &store.id {
            Some(id) if found.n_sessions == before => {
                Err(CliError::input(format!("{file} contains no session {id}")))
            }
            _ => Ok(()),
        }
    }

    /// Adds a session to the output.
    fn add(&self, examined: Examined, found: &mut Found) {
        found.n_sessions += 1;
        found.verdicts.insert(examined.judgement.verdict);
        match self.format {
            Format::Json => found.json.push(report::json_session(&examined, &found.salt)),
            Format::Sarif => found.sarif.add(&examined),
            Format::Text if self.list => found.list.push_str(&report::line(&examined)),
            Format::Text => found.survey.add(&examined),
        }
        found.only = (found.n_sessions == 1).then_some(examined);
    }

    fn print_request(&self, found: &Found) -> Outcome {
        let Some(one) = &found.only else {
            let n = found.n_sessions;
            return Err(CliError::input(format!("--request needs one session, and there are {n}")));
        };
        let n_stored = one.session.messages.len();
        tell(format!(
            "{n_stored} messages as {} sends them, {}",
            one.session.product, one.judgement.profile.dialect
        ));
        print(&format!("{}\n", String::from_utf8_lossy(&one.judgement.body)));
        Ok(found.code())
    }

    fn print(&self, found: Found, is_one: bool) -> Result<(), CliError> {
        let is_empty = found.n_sessions == 0 && found.unread.is_empty();
        match self.format {
            Format::Json => print_json(report::json(&found.json, &found.unread)),
            Format::Sarif => print_json(found.sarif.report(&found.unread)),
            Format::Text => {
                for unread in &found.unread {
                    CliError::input(format!("{}: {}{}", unread.file, unread.error, unread.hint())).report();
                }
                match &found.only {
                    Some(one) if is_one && !self.list => print(&report::detail(one)),
                    _ if self.list => print(&found.list),
                    _ => print(&found.survey.text()),
                }
                let n_skipped = found.passed_over.difference(&found.belonging).count();
                if n_skipped > 0 {
                    tell(format!("{n_skipped} other files were skipped"));
                }
            }
        }
        match is_empty {
            true => {
                let beside = found.beside.map(|beside| format!("\n  {beside}")).unwrap_or_default();
                Err(CliError::input(format!("no session in {}{beside}", self.paths.join(" "))))
            }
            false => Ok(()),
        }
    }
}

impl Found {
    fn code(&self) -> u8 {
        let has = |verdict: Verdict| self.verdicts.contains(&verdict);
        let is_unknown = |unread: &Unread| matches!(unread.error, ReadError::Unknown);
        if self.unread.iter().any(is_unknown) {
            BAD_INPUT
        } else if !self.unread.is_empty()
            || [Verdict::Unreadable, Verdict::Undecided, Verdict::Incomplete].into_iter().any(has)
        {
            UNJUDGED
        } else {
            u8::from(has(Verdict::Refused))
        }
    }
}

/// Returns whether a file has no session.
fn is_no_session(error: &ReadError) -> bool {
    matches!(error, ReadError::Unknown | ReadError::Form { cause: FormError::NoSession(_), .. })
}

/// A progress bar on a terminal, if there are many files.
fn bar(n_files: usize) -> ProgressBar {
    const MANY: usize = 20;
    match n_files >= MANY && std::io::stderr().is_terminal() {
        true => ProgressBar::new(n_files as u64),
        false => ProgressBar::hidden(),
    }
}
