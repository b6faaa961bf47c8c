//! The run folder: the files that a run leaves on the disk, and how they are read later.
//!
//! A folder has `run.json` (the description of the run), `report.json`, and a folder for each case below
//! `cases/`, written when the case is done. It gives no verdict: it writes the files of
//! [`brickbat_report::record`].

mod error;
mod names;

use std::error::Error;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

pub use error::FolderError;
pub use names::case_path;

use crate::whole_file;
use brickbat_report::record::{CaseNote, Record, RecordError};
use brickbat_rules::redact::Redactor;
use brickbat_scenario::verdict::Verdict;

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The first failed write; nothing is written after it.
    failure: Mutex<Option<FolderError>>,
    /// The folder itself, locked while it is written. The operating system releases the lock when the process
    /// ends for any reason. `None` if the file system cannot lock folders.
    _lock: Option<File>,
}

/// `run.json`: the description of the run, with which it can be repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunNote {
    /// The kind of the folder, [`KIND`].
    pub kind: String,
    pub schema: u32,
    pub brickbat: String,
    pub arguments: RunArguments,
    pub finished: bool,
    /// Every case that is kept, sorted; empty until the run is finished.
    pub cases: Vec<RunCase>,
    /// The causes that the run has printed; empty until the run is finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<RunCause>,
    /// Durations; the only part that differs between equal runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<brickbat_report::report::Timing>,
}

/// The arguments that select the plans to run. Options that only affect how it runs are not
/// included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunArguments {
    /// Scenarios as they were named; empty for all built-in ones.
    pub scenarios: Vec<String>,
    pub systems: Vec<String>,
    /// The user's manifest that lists the systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The command of the user's adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The version of the SDK that was requested instead of the lockfile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk_version: Option<String>,
    /// The model that systems were asked to use. `None` if each used its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The factor of all waits. `None` if it is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<f64>,
    pub dialects: Vec<String>,
    pub profiles: Vec<String>,
    /// The premises of the plans; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub premises: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Plans that contain one of these texts are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    pub seed: u64,
    /// The shard of the plans that was run; none for all plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<brickbat_report::report::Shard>,
}

impl RunArguments {
    /// The user's own words, which may contain a secret.
    pub fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        // Listed one by one, so that a new argument is not forgotten here.
        let RunArguments {
            scenarios,
            systems,
            manifest,
            command,
            mode,
            sdk_version,
            model,
            dialects: _,
            profiles: _,
            premises: _,
            filter,
            exclude,
            patience: _,
            seed: _,
            shard: _,
        } = self;
        let single = [manifest, command, mode, sdk_version, model, filter].into_iter().flatten();
        single.chain([scenarios, systems, exclude].into_iter().flatten())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCase {
    pub system: String,
    pub plan: String,
    pub verdict: Verdict,
    pub folder: String,
}

/// A cause, with the case that represents it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCause {
    /// Its complete id. The run has printed the beginning.
    pub id: String,
    pub system: String,
    pub plan: String,
    /// The index of the finding in the case, counted from 0.
    pub finding: usize,
}

/// The value of `kind` in every `run.json` of Brickbat.
pub const KIND: &str = "brickbat-run";

/// The version of the format that is written and read here.
pub const SCHEMA: u32 = 1;

const RUN: &str = "run.json";
const REPORT: &str = "report.json";
const CASES: &str = "cases";
const CASE: &str = "case.json";

/// The files that lead to the others. Each is complete or missing.
const KEYS: [&str; 3] = [RUN, REPORT, CASE];

/// The largest file that is read, in bytes: the largest that is written has twice 4 MiB plus the overhead of
/// JSON.
const MAX_READ: u64 = 64 << 20;

/// The maximum number of cases listed for one folder. The built-in suite has a few hundred for each
/// system.
const MAX_CASES: usize = 100_000;

impl RunFolder {
    /// Prepares a folder. If it has an earlier run, the cases of that run are removed.
    pub fn create(path: &Path, note: &RunNote) -> Result<RunFolder, FolderError> {
        std::fs::create_dir_all(path).map_err(|error| FolderError::unwritable(path, error))?;
        let folder = RunFolder { path: path.to_owned(), failure: Mutex::default(), _lock: lock(path)? };
        let is_empty = match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => return Err(FolderError::unwritable(path, error)),
        };
        if !is_empty {
            match std::fs::symlink_metadata(path.join(RUN)) {
                Ok(file) if file.is_file() => read_note(path).map_err(|error| error.unless_foreign(path))?,
                _ => return Err(FolderError::foreign(path)),
            };
            folder.clear()?;
        }
        let cases = path.join(CASES);
        std::fs::create_dir_all(&cases).map_err(|error| FolderError::unwritable(&cases, error))?;
        folder.write(RUN, &pretty(note))?;
        Ok(folder)
    }

    /// Removes only files from an earlier run. Links are not followed.
    fn clear(&self) -> Result<(), FolderError> {
        let cases = self.path.join(CASES);
        match std::fs::symlink_metadata(&cases) {
            Ok(found) if found.is_dir() => {
                std::fs::remove_dir_all(&cases).map_err(|error| FolderError::unwritable(&cases, error))?;
            }
            Ok(_) => return Err(FolderError::foreign(&cases)),
            Err(_) => {}
        }
        for name in [RUN, REPORT] {
            let file = self.path.join(name);
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FolderError::unwritable(&file, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a case's record. A failure is reported by [`RunFolder::finish`].
    pub fn keep(&self, record: &Record, redactor: &Redactor) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            *failure = self.write_record(record, redactor).err();
        }
    }

    /// Removes a case's record that was kept before its plan ran again.
    pub fn forget(&self, system: &str, plan: &str) {
        let folder = self.path.join(case_path(system, plan));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            *failure = remove(&folder).err();
        }
    }

    /// The first failed write so far.
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map(ToString::to_string)
    }

    fn write_record(&self, record: &Record, redactor: &Redactor) -> Result<(), FolderError> {
        let below = case_path(&record.case.system, &record.case.plan);
        // The files of an earlier run of the same plan are removed.
        remove(&self.path.join(&below))?;
        let mut files = record.files(redactor);
        // The first file identifies a case. It is written last, so that a case is complete or not there.
        files.rotate_left(1);
        files.iter().try_for_each(|file| self.write(&format!("{below}/{}", file.name), &file.text))
    }

    /// Writes the report and the final `run.json`.
    pub fn finish(&self, note: &RunNote, report: &str) -> Result<(), FolderError> {
        if let Some(failure) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failure);
        }
        self.write(REPORT, report)?;
        self.write(RUN, &pretty(note))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let write = || {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            match KEYS.contains(&path.file_name().unwrap_or_default().to_string_lossy().as_ref()) {
                true => whole_file::write(&path, text.as_bytes()),
                false => File::create(&path)?.write_all(text.as_bytes()),
            }
        };
        write().map_err(|error| FolderError::unwritable(&path, error))
    }
}

/// Locks a folder against other runs.
fn lock(path: &Path) -> Result<Option<File>, FolderError> {
    let folder = File::open(path).map_err(|error| FolderError::unwritable(path, error))?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(FolderError::Busy { path: path.to_owned() }),
        // Some network file systems lock only files that are open for writing, which a folder cannot be.
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Removes a case, starting with the file that identifies it, so a case is either complete or absent.
fn remove(case: &Path) -> Result<(), FolderError> {
    let is_gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let removed = std::fs::remove_file(case.join(CASE))
        .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) });
    let removed = removed.and_then(|()| std::fs::remove_dir_all(case));
    removed.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(FolderError::unwritable(case, error)) })
}

/// Reads the description of the run.
pub fn read_note(folder: &Path) -> Result<RunNote, FolderError> {
    let path = folder.join(RUN);
    let no_run = || FolderError::NoRun { path: folder.to_owned() };
    let text = read(&path).map_err(|error| FolderError::unreadable(&path, error))?.ok_or_else(no_run)?;
    let head: Head = serde_json::from_str(&text).map_err(|error| FolderError::unreadable(&path, error))?;
    if head.kind != KIND {
        return Err(no_run());
    }
    let of_other = |source| FolderError::OtherVersion { path: path.clone(), brickbat: head.brickbat, source };
    if head.schema != SCHEMA {
        return Err(of_other(format!("its schema is {}, not {SCHEMA}", head.schema).into()));
    }
    // A verdict or a severity may be newer than this program.
    serde_json::from_str(&text).map_err(|error| of_other(error.into()))
}

/// The part of `run.json` that every version writes.
#[derive(Debug, Deserialize)]
struct Head {
    kind: String,
    schema: u32,
    #[serde(default)]
    brickbat: String,
}

/// The cases in a run folder, each with its own folder, sorted by system and plan. After an interrupted
/// run, these are the finished cases.
pub fn cases(folder: &Path) -> Result<Vec<(PathBuf, CaseNote)>, FolderError> {
    let mut found = Vec::new();
    for system in entries(&folder.join(CASES))? {
        for case in entries(&system)? {
            let path = case.join(CASE);
            let unreadable = |error| FolderError::unreadable(&path, error);
            let Some(text) = read(&path).map_err(unreadable)? else { continue };
            let note: CaseNote = serde_json::from_str(&text).map_err(|error| unreadable(error.into()))?;
            found.push((case, note));
            if found.len() >= MAX_CASES {
                return Err(unreadable(format!("there are more than {MAX_CASES} cases").into()));
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| (&a.system, &a.plan).cmp(&(&b.system, &b.plan)));
    Ok(found)
}

/// Reads a case's record from its folder.
pub fn read_case(folder: &Path) -> Result<Record, FolderError> {
    let file = |name: &str| read(&folder.join(name)).map_err(|error| RecordError::new(name, error));
    Record::read(&file).map_err(|error| FolderError::unreadable(folder, error))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let unreadable = |error: std::io::Error| FolderError::unreadable(folder, error);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_type().map_err(unreadable)?.is_dir() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// The text of a file. `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_READ + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_READ {
        return Err(format!("it is too large: more than {MAX_READ} bytes").into());
    }
    Ok(Some(String::from_utf8(bytes)?))
}

fn pretty(note: &RunNote) -> String {
    serde_json::to_string_pretty(note).unwrap_or_default() + "\n"
}
