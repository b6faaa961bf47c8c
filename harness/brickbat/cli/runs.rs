//! The last runs, stored in the user's cache folder. `show`, `explain` and `replay` find a case there by its
//! short id. The cache contains only cases that did not pass; `--out` keeps every case.
//!
//! Each project has runs of its own, so the runs of one do not push out the evidence of another. They are
//! bounded by their size. A run in which everything passed keeps nothing, and pushes nothing out.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::CliError;
use brickbat_drive::driver::install::cache_folder;
use brickbat_drive::folder;
use brickbat_report::record::CaseNote;
use brickbat_report::report::short::{case_id, cause_id, may_be_id};
use brickbat_scenario::hash::fnv1a;

/// The maximum total size of a project's kept runs, in bytes; the newest run stays, regardless of its size. A run
/// with a hundred failures has about 10 MB.
const MAX_BYTES: u64 = 200 << 20;

/// The maximum total size of all kept runs, in bytes. A user has a handful of projects.
const MAX_ALL_BYTES: u64 = 5 * MAX_BYTES;

/// Milliseconds after which an unfinished run counts as abandoned.
const ABANDONED_MS: u128 = 24 * 60 * 60 * 1000;

/// Removes older runs, and returns the folder for a new run. `None` if there is no cache folder.
pub(super) fn new_folder() -> Option<PathBuf> {
    let all = runs_folder()?;
    let runs = all.join(project());
    std::fs::create_dir_all(&runs).ok()?;
    drop_empty(&finished(entries(&runs)));
    prune(finished(entries(&runs)), MAX_BYTES);
    let of_all = projects(&all).iter().flat_map(|project| entries(project)).collect();
    prune(finished(sorted(of_all)), MAX_ALL_BYTES);
    Some(runs.join(format!("{:014}-{}", now_ms(), std::process::id())))
}

/// A case in a kept run.
pub(super) struct KeptCase {
    /// The folder of its run.
    pub(super) run: PathBuf,
    /// Its own folder.
    pub(super) folder: PathBuf,
    pub(super) note: CaseNote,
    /// The 0-based index of the finding, if the id identifies a cause.
    pub(super) finding: Option<usize>,
}

/// Something in a run that has an id: a cause, together with its representative case, or a case.
struct Named<'a> {
    id: String,
    folder: &'a Path,
    note: &'a CaseNote,
    finding: Option<usize>,
}

/// Finds the case with a short id, in the run in the given folder, or otherwise in the newest run that
/// contains it: the case that represents the cause with that id, or the case with that id.
pub(super) fn find(short: &str, out: Option<&Path>) -> Result<KeptCase, CliError> {
    let places = match out {
        Some(folder) => vec![folder.to_owned()],
        None => newest_first(),
    };
    for run in &places {
        let cases = match folder::cases(run) {
            Ok(cases) => cases,
            Err(error) if out.is_some() => return Err(error.into()),
            // Another process may be removing this run.
            Err(_) => continue,
        };
        for named in [printed(run, &cases), shown(&cases), by_case(&cases)] {
            let mut found = named.into_iter().filter(|named| named.id.starts_with(short));
            let Some(first) = found.next() else { continue };
            let others: Vec<Named<'_>> = found.filter(|other| other.id != first.id).collect();
            if others.is_empty() {
                let Named { folder, note, finding, .. } = first;
                return Ok(KeptCase {
                    run: run.clone(),
                    folder: folder.to_owned(),
                    note: note.clone(),
                    finding,
                });
            }
            let line =
                |named: &Named<'_>| format!("\n  {}  {} on {}", named.id, named.note.plan, named.note.system);
            let all: String = std::iter::once(&first).chain(&others).map(line).collect();
            return Err(CliError::input(format!(
                "`{short}` is the beginning of {} ids\nhint: give more digits{all}",
                others.len() + 1
            )));
        }
    }
    let whose = out.map_or("one of the last runs".to_owned(), |folder| folder.display().to_string());
    Err(CliError::input(format!(
        "no case of {whose} has the id `{short}`\nhint: `brickbat run` prints an id in front of each cause; \
         what passed is kept with --out only"
    )))
}

/// The causes that a run has printed, if their cases are kept.
fn printed<'a>(run: &Path, cases: &'a [(PathBuf, CaseNote)]) -> Vec<Named<'a>> {
    let causes = folder::read_note(run).map(|note| note.causes).unwrap_or_default();
    let named = causes.into_iter().filter_map(|cause| {
        let is_it = |(_, note): &&(PathBuf, CaseNote)| note.system == cause.system && note.plan == cause.plan;
        let (folder, note) = cases.iter().find(is_it)?;
        Some(Named { id: cause.id, folder, note, finding: Some(cause.finding) })
    });
    named.collect()
}

/// The causes found in the cases. A killed run has printed no causes, and if the case of a cause could not be
/// kept, another case may represent it.
fn shown(cases: &[(PathBuf, CaseNote)]) -> Vec<Named<'_>> {
    let named = cases.iter().flat_map(|(folder, note)| {
        note.findings.iter().enumerate().map(move |(at, finding)| {
            let id = cause_id(&note.system, &finding.signature());
            Named { id, folder: folder.as_path(), note, finding: Some(at) }
        })
    });
    named.collect()
}

/// The cases by their own ids.
fn by_case(cases: &[(PathBuf, CaseNote)]) -> Vec<Named<'_>> {
    let named = cases.iter().map(|(folder, note)| Named {
        id: case_id(&note.system, &note.plan),
        folder,
        note,
        finding: None,
    });
    named.collect()
}

/// True if a word is the short id of a case. An existing file of that name takes precedence.
pub(super) fn is_short_id(word: &str) -> bool {
    may_be_id(word) && !Path::new(word).exists()
}

/// The folders of kept runs, newest first: those of this project, and then those of the others.
pub(super) fn newest_first() -> Vec<PathBuf> {
    let Some(all) = runs_folder() else { return Vec::new() };
    let own = all.join(project());
    let others = projects(&all).into_iter().filter(|project| *project != own);
    let mut others = sorted(others.flat_map(|project| entries(&project)).collect());
    others.extend(entries(&own));
    others.reverse();
    others
}

/// The name of the folder for the runs of this project: the nearest folder with a repository or a
/// configuration, or the working directory.
fn project() -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let is_project = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).exists());
    let folder = here.ancestors().find(is_project).unwrap_or(&here);
    format!("project-{:016x}", fnv1a(folder.as_os_str().as_encoded_bytes()))
}

/// A folder with one of these files is a project.
const MARKERS: [&str; 3] = [".git", "brickbat.toml", "brickbat/system.yaml"];

/// The folders of the projects that have runs.
fn projects(all: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(all).into_iter().flatten().flatten();
    let is_project = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("project-"))
    };
    found.map(|entry| entry.path()).filter(is_project).collect()
}

fn runs_folder() -> Option<PathBuf> {
    Some(cache_folder().ok()?.join("runs"))
}

/// The runs that are not running any more.
fn finished(mut runs: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_busy = |run: &PathBuf| {
        let is_unfinished = folder::read_note(run).is_ok_and(|note| !note.finished);
        let name = run.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let began = name.split('-').next().and_then(|began| began.parse::<u128>().ok()).unwrap_or(0);
        is_unfinished && now_ms().saturating_sub(began) < ABANDONED_MS
    };
    runs.retain(|run| !is_busy(run));
    runs
}

/// Removes the runs that keep no case, except for the last one.
fn drop_empty(runs: &[PathBuf]) {
    let Some((_, earlier)) = runs.split_last() else { return };
    let is_empty = |run: &&PathBuf| folder::cases(run).is_ok_and(|cases| cases.is_empty());
    for run in earlier.iter().filter(is_empty) {
        // If this fails, the next run tries again.
        let _ = std::fs::remove_dir_all(run);
    }
}

/// Removes the oldest runs, until the rest is small enough.
fn prune(mut left: Vec<PathBuf>, max_bytes: u64) {
    let mut sizes: Vec<u64> = left.iter().map(|run| size(run)).collect();
    while left.len() > 1 && sizes.iter().sum::<u64>() > max_bytes {
        let (oldest, _) = (left.remove(0), sizes.remove(0));
        // If this fails, the next run tries again.
        let _ = std::fs::remove_dir_all(oldest);
    }
}

/// The runs in a folder, oldest first; everything else in it is ignored.
fn entries(runs: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut runs: Vec<PathBuf> = found.filter(is_folder).map(|entry| entry.path()).collect();
    let is_ours = |run: &PathBuf| {
        let name = run.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.split_once('-').is_some_and(|(began, _)| began.len() == 14 && began.parse::<u64>().is_ok())
    };
    runs.retain(is_ours);
    sorted(runs)
}

/// Runs in the order in which they began, in whatever project.
fn sorted(mut runs: Vec<PathBuf>) -> Vec<PathBuf> {
    runs.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    runs
}

/// The total size of the files in a folder, in bytes. Links are not followed.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) if found.is_file() => found.len(),
            _ => 0,
        })
        .sum()
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
}
