//! `brickbat repair`.

mod live;

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome, UNJUDGED};
use super::options::{model, profile};
use super::output::{print, tell};
use super::stored::{self, Store};
use brickbat_rules::Profile;
use brickbat_sessions::{self as sessions, Files, Mended, Repair, RepairOptions, report};

/// Bring a bricked session back: the fewest edits after which its next request is accepted.
///
/// The true result of a call is looked for first; only where none was recorded, an error is written that says so. Nothing
/// is made up, nothing off the active branch is touched, and a healthy session stays as it is. A copy is written.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RepairSession {
    /// The file of the session, or `STORE#ID` for one session of a database.
    #[arg(value_name = "FILE")]
    path: String,
    /// Where to write the copy; by default next to the file, with `.repaired` in its name.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    out: Option<PathBuf>,
    /// Replace the file itself, with a backup next to it. Refused while a process has it open, and for databases.
    #[arg(long)]
    write: bool,
    /// Also fill calls at the very end that have no result, which the product may still be running.
    #[arg(long)]
    tail: bool,
    /// If nothing else helps, end the conversation before what is refused. What came after is lost to the thread.
    #[arg(long)]
    truncate: bool,
    /// Say what would be done, and write nothing.
    #[arg(long, conflicts_with_all = ["out", "write"])]
    dry_run: bool,
    /// How strict the provider is; by default the newest of the dialect that the store shows.
    #[arg(long, value_name = "PROFILE", value_parser = profile)]
    profile: Option<&'static Profile>,
    /// The model that the next request asks, where the store does not show it: some rules bind for some models only.
    #[arg(long, value_name = "NAME", value_parser = model)]
    model: Option<String>,
}

const EXAMPLES: &str = "Examples:
  brickbat repair 7c1f.jsonl                  writes 7c1f.repaired.jsonl
  brickbat repair 7c1f.jsonl --dry-run        says what it would do
  brickbat repair 7c1f.jsonl --write          in place, with a backup
  brickbat repair opencode.db#ses_41f2 --out repaired.db

Exit codes: 0 mended, or healthy and nothing to do; 1 it cannot be mended from the file alone; 2 not readable as a session
of any known product; 3 the repair was not kept.";

impl RepairSession {
    pub(super) fn execute(&self) -> Outcome {
        let stores = stored::find(std::slice::from_ref(&self.path)).map_err(CliError::input)?;
        let [store] = stores.as_slice() else {
            return Err(CliError::input(format!("{}: name one file", self.path)));
        };
        let files = stored::open(&store.path).map_err(CliError::input)?;
        let index = index_of(&files, store).map_err(CliError::input)?;
        let Self { profile, model, tail, truncate, .. } = self;
        let options = RepairOptions {
            profile: *profile,
            model: model.clone(),
            body: None,
            tail: *tail,
            truncate: *truncate,
        };
        match sessions::repair(&files, index, &options) {
            Ok(Repair::Healthy(_)) => {
                print("healthy: nothing written.\n");
                Ok(0)
            }
            Ok(Repair::Mended(mended)) => {
                print(&report::repaired(&mended));
                self.keep(&store.path, &files, &mended)?;
                Ok(0)
            }
            Ok(Repair::Beyond(beyond)) => {
                print(&format!("cannot be mended from the file alone: {}.\n", beyond.why));
                if beyond.can_truncate {
                    print(
                        "  --truncate ends the conversation before it; what came after is lost to the thread.\n",
                    );
                }
                Ok(1)
            }
            Err(error @ sessions::RepairError::Read(_)) => Err(CliError::input(error.to_string())),
            Err(error) => {
                tell(format!("error: {error}"));
                Ok(UNJUDGED)
            }
        }
    }

    /// Writes what was mended.
    fn keep(&self, path: &Path, before: &Files, mended: &Mended) -> Result<(), CliError> {
        if self.dry_run {
            return Ok(());
        }
        // The log of a database stands in the database after the repair.
        let is_log = |name: &str| name.ends_with("-wal") || name.ends_with("-shm");
        let is_kept = |file: &sessions::File| is_log(&file.name) || mended.files.files.contains(file);
        if !before.files.iter().skip(1).all(is_kept) {
            let words = "the edits are in files next to it, which is not supported: nothing written";
            return Err(CliError::input(words));
        }
        let bytes = mended.files.main();
        match self.write {
            true => self.replace(path, before.main(), bytes),
            false => {
                let out = self.out.clone().unwrap_or_else(|| copy_of(path));
                stored::write_new(&out, bytes)
                    .map_err(|error| CliError::cannot_write(out.display(), error))?;
                print(&format!("wrote {}; the original is as it was.\n", out.display()));
                Ok(())
            }
        }
    }

    /// Replaces the file, if no other process can be writing it.
    fn replace(&self, path: &Path, before: &[u8], after: &[u8]) -> Result<(), CliError> {
        if before.starts_with(b"SQLite format 3\0") {
            let words =
                "refused: a database is never replaced while its product may use it; write a copy with --out";
            return Err(CliError::input(words));
        }
        if let Some(process) = live::process_with(path) {
            return Err(CliError::input(format!("refused: {process}; leave out --write to get a copy")));
        }
        let is_same = std::fs::read(path).is_ok_and(|bytes| bytes == before);
        if !is_same {
            return Err(CliError::input(format!(
                "refused: {} has changed since it was read",
                path.display()
            )));
        }
        let backup = backup_of(path);
        stored::write_new(&backup, before)
            .map_err(|error| CliError::cannot_write(backup.display(), error))?;
        stored::replace(path, after).map_err(|error| CliError::cannot_write(path.display(), error))?;
        print(&format!("wrote {}; the original is {}.\n", path.display(), backup.display()));
        Ok(())
    }
}

/// The index of the session that is meant.
fn index_of(files: &Files, store: &Store) -> Result<usize, String> {
    let sessions = sessions::read(files).map_err(|error| error.to_string())?;
    let mut meant = (0..sessions.len()).filter(|n| store.means(*n, &sessions[*n]));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(format!("no session {}", store.id.as_deref().unwrap_or_default())),
        _ => Err(format!("{} sessions: name one as STORE#ID; `session --list` lists them", sessions.len())),
    }
}

/// `7c1f.jsonl` becomes `7c1f.repaired.jsonl`.
fn copy_of(path: &Path) -> PathBuf {
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{stem}.repaired{ending}"))
}

/// A name for the backup that no file has yet.
fn backup_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let nth = |n: usize| path.with_file_name(format!("{name}.backup-{n}"));
    (1..).map(nth).find(|path| !path.exists()).unwrap_or_else(|| nth(0))
}
