//! `brickbat repair`.

mod live;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use super::error::{CliError, Outcome, UNJUDGED};
use super::options::NextRequestOptions;
use super::output::{print, print_json, tell};
use super::stored::{self, Store};
use brickbat_drive::whole_file;
use brickbat_sessions::{
    self as sessions, Files, Mended, ReadError, Repair, RepairOptions, Sent, Session, report,
};

/// Repair a bricked session with the fewest edits after which its next request is accepted.
///
/// If the store contains the real result of a call, `repair` uses it; otherwise the call gets an error that says that
/// no result was recorded. No content is invented, other branches are not touched, and a healthy session does not
/// change. The repair is written to a copy.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RepairSession {
    /// The session file, or `STORE#ID` for one session in a database.
    #[arg(value_name = "FILE")]
    path: String,
    /// Where to write the copy; by default next to the file, with `.repaired` in its name.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    out: Option<PathBuf>,
    /// Replace the file itself and keep a backup next to it. Refused for databases, and while a process has the file
    /// open.
    #[arg(long)]
    write: bool,
    /// Also add results for unanswered calls at the very end, which the product may still be running.
    #[arg(long)]
    tail: bool,
    /// If nothing else helps, end the conversation before the refused part. The thread loses everything after that
    /// point.
    #[arg(long)]
    truncate: bool,
    /// Print the edits and write nothing.
    #[arg(long, conflicts_with_all = ["out", "write"])]
    dry_run: bool,
    #[command(flatten)]
    next: NextRequestOptions,
    /// The output format: human-readable text or machine-readable JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// The written files.
#[derive(Default)]
struct Written {
    file: Option<PathBuf>,
    backup: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat repair 7c1f.jsonl                  writes 7c1f.repaired.jsonl
  brickbat repair 7c1f.jsonl --dry-run        prints what it would do
  brickbat repair 7c1f.jsonl --write          in place, with a backup
  brickbat repair opencode.db#ses_41f2 --out repaired.db

Exit codes:
  0  the session is repaired, or there is nothing to repair
  1  the file does not contain enough to repair it
  2  no known product wrote the file, or the copy cannot be written
  3  the repaired copy failed the check and was discarded";

/// The number of files of a folder that are read to find its sessions.
const MAX_READ: usize = 64;

/// The number of files that are named.
const MAX_NAMED: usize = 3;

/// The files of a folder that have sessions, as the end of an error.
fn files_with_sessions(stores: &[Store]) -> String {
    let has_session = |store: &&Store| {
        let files = stored::open(&store.path).ok();
        files.and_then(|files| sessions::read(&files).ok()).is_some_and(|found| {
            found
                .iter()
                .any(|session| session.product != sessions::Product::Request && !session.messages.is_empty())
        })
    };
    let found: Vec<String> = stores
        .iter()
        .take(MAX_READ)
        .filter(has_session)
        .take(MAX_NAMED + 1)
        .map(|store| format!("\n  brickbat repair {}", store.path.display()))
        .collect();
    let more = if found.len() > MAX_NAMED { "\n  …" } else { "" };
    let colon = if found.is_empty() { "" } else { ":" };
    format!("{colon}{}{more}", found[..found.len().min(MAX_NAMED)].concat())
}

impl RepairSession {
    pub(super) fn execute(&self) -> Outcome {
        let (stores, _) = stored::find(std::slice::from_ref(&self.path))?;
        let [store] = stores.as_slice() else {
            return Err(CliError::input(format!(
                "{}: name one file{}",
                self.path,
                files_with_sessions(&stores)
            )));
        };
        let files = stored::open(&store.path)?;
        if files.main().is_empty() {
            return Err(CliError::input(format!("{}: the file is empty", store.path.display())));
        }
        let (index, session) = meant(&files, store)?;
        let product = session.product;
        let Self { next, tail, truncate, .. } = self;
        let options = RepairOptions {
            profile: next.profile,
            model: next.model.clone(),
            body: None,
            tail: *tail,
            truncate: *truncate,
        };
        let repair = match sessions::repair_session(&files, index, session, &options) {
            Ok(repair) => repair,
            Err(error @ sessions::RepairError::Read(_)) => return Err(error.into()),
            Err(error) => {
                tell(format!("error: {error}"));
                return Ok(UNJUDGED);
            }
        };
        if self.format == Format::Text {
            print(&text(&repair));
        }
        let written = match &repair {
            Repair::Mended(mended) => self.keep(&store.path, &files, mended)?,
            Repair::Healthy(_) | Repair::Beyond(_) => Written::default(),
        };
        match self.format {
            Format::Text => print(&written.words(&store.path, is_database(files.main()))),
            Format::Json => {
                let file = store.path.display().to_string();
                let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
                let mut report = report::repair_json(&file, product, &repair);
                report["written"] = json!(path(&written.file));
                report["backup"] = json!(path(&written.backup));
                print_json(report);
            }
        }
        let code = u8::from(matches!(repair, Repair::Beyond(_)));
        // The program ends here. Freeing a large session block by block takes as long as reading it.
        std::mem::forget((files, repair));
        Ok(code)
    }

    /// Writes the repaired files.
    fn keep(&self, path: &Path, before: &Files, mended: &Mended) -> Result<Written, CliError> {
        if self.dry_run {
            return Ok(Written::default());
        }
        // After the repair, the contents of a database's log are in the database.
        let is_log = |name: &str| name.ends_with("-wal") || name.ends_with("-shm");
        let is_kept = |file: &sessions::File| is_log(&file.name) || mended.files.files.contains(file);
        let changed: Vec<&sessions::File> =
            before.files.iter().skip(1).filter(|file| !is_kept(file)).collect();
        let after = &mended.files; // quoted: the name of the variant
        let has_same_main = before.main() == after.main();
        let names: BTreeSet<&str> = after.files.iter().map(|file| file.name.as_str()).collect();
        if has_same_main
            && !changed.is_empty()
            && changed.iter().all(|file| !names.contains(file.name.as_str()))
        {
            // Nothing has to be written. The product reads what is left.
            let lines = changed.iter().map(|file| format!("  {}\n", file.name)).collect::<String>();
            tell(format!(
                "nothing was written. End every process of the product, and move these files elsewhere:\n{lines}"
            ));
            return Ok(Written::default());
        }
        if !changed.is_empty() {
            let words = "the repair would edit files next to it, which is not supported; nothing was written";
            return Err(CliError::input(words));
        }
        let bytes = mended.files.main();
        match self.write {
            true => replace(path, before.main(), bytes),
            false => {
                let out = self.out.clone().unwrap_or_else(|| copy_of(path));
                whole_file::create_like(path, &out, bytes).map_err(|error| {
                    CliError::cannot_write_new(&out, error, "choose another file with --out")
                })?;
                Ok(Written { file: Some(out), backup: None })
            }
        }
    }
}

/// The result of a repair, as human-readable text.
fn text(repair: &Repair) -> String {
    match repair {
        Repair::Healthy(judgement) => format!("healthy: nothing written.\n{}", because(&judgement.sent)),
        Repair::Mended(mended) => report::repaired(mended),
        Repair::Beyond(beyond) => {
            format!("beyond repair: {}.\n  {}\n", beyond.why, beyond.way_out())
        }
    }
}

/// The changes without which the provider may refuse the session.
fn because(sent: &Sent) -> String {
    let changes: Vec<String> = sent.mended.iter().map(|(words, n)| format!("{words} ({n})")).collect();
    match changes.is_empty() {
        true => String::new(),
        false => format!(
            "The product {} when it sends. An older version may not do so; `brickbat session` names the version.\n",
            changes.join(", and ")
        ),
    }
}

fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

impl Written {
    /// Describes where the result is, and how to install a copy of a database.
    fn words(&self, path: &Path, is_database: bool) -> String {
        let path = path.display();
        match (&self.file, &self.backup) {
            (None, _) => String::new(),
            (Some(file), Some(backup)) => {
                format!("wrote {}; the original is {}.\n", file.display(), backup.display())
            }
            (Some(file), None) => {
                let file = file.display();
                let wrote = format!("wrote {file}; the original is unchanged.\n");
                match is_database {
                    true => format!(
                        "{wrote}To use it: end every process of the product, move {path} and its -wal and -shm files elsewhere, \
                         and put the copy in its place. A log that is left there would undo the repair.\n"
                    ),
                    false => wrote,
                }
            }
        }
    }
}

/// Replaces the file, if no other process can be writing it. For a link, the target is replaced.
fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<Written, CliError> {
    if is_database(before) {
        let words = "refused: a database is never replaced, because its product may be using it; write a copy with --out";
        return Err(CliError::input(words));
    }
    if let Some(process) = live::process_with(path) {
        return Err(CliError::input(format!("refused: {process}; leave out --write to get a copy")));
    }
    let path = &match path.is_symlink() {
        true => fs::canonicalize(path).map_err(|error| CliError::cannot_read(path.display(), error))?,
        false => path.to_owned(),
    };
    let is_same = fs::read(path).is_ok_and(|bytes| bytes == before);
    if !is_same {
        return Err(CliError::input(format!("refused: {} has changed since it was read", path.display())));
    }
    let backup = backup_of(path);
    whole_file::create_like(path, &backup, before)
        .map_err(|error| CliError::cannot_write(backup.display(), error))?;
    whole_file::write_private(path, after).map_err(|error| CliError::cannot_write(path.display(), error))?;
    Ok(Written { file: Some(path.clone()), backup: Some(backup) })
}

/// The chosen session and its index.
fn meant(files: &Files, store: &Store) -> Result<(usize, Session), CliError> {
    let sessions = sessions::read(files).map_err(|error| match error {
        ReadError::Unknown => {
            let near = report::hint(&sessions::nearest(files));
            let name = store.path.display().to_string();
            let next = match sessions::found(files).is_empty() {
                true => sessions::next_step(files, &name),
                false => format!(
                    "\n  Brickbat reads its messages and does not write them. It can repair the next request:\n    \
                     brickbat session {name} --request > body.json\n    brickbat check --fix body.json"
                ),
            };
            CliError::input(format!("{error}{near}{next}"))
        }
        ReadError::Form { .. } => error.into(),
    })?;
    let n_sessions = sessions.len();
    let mut meant = sessions.into_iter().enumerate().filter(|(n, session)| store.means(*n, session));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(CliError::input(format!("no session {}", store.id.as_deref().unwrap_or_default()))),
        _ => Err(CliError::input(format!(
            "{n_sessions} sessions: name one as STORE#ID; `session --list` lists them"
        ))),
    }
}

/// `7c1f.jsonl` becomes `7c1f.repaired.jsonl`.
fn copy_of(path: &Path) -> PathBuf {
    // A copy of a packed file is not packed.
    let plain = path.to_string_lossy();
    let path = plain.strip_suffix(".gz").map_or(path, Path::new);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let name = format!("{stem}{}{ending}", stored::REPAIRED);
    path.with_file_name(name.trim_end_matches('.'))
}

/// An unused name for the backup.
fn backup_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let nth = |n: usize| path.with_file_name(format!("{name}.backup-{n}"));
    (1..).map(nth).find(|path| !path.exists()).unwrap_or_else(|| nth(0))
}
