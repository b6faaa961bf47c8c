//! Stored sessions on disk: found in folders, and opened with their companions.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::CliError;
use super::{regular, requests};
use brickbat_sessions::{self as sessions, Beside, Files, Product};

/// The maximum size of one file, in bytes. The largest reported session has 500 MB
/// (anthropics/claude-code#19963).
const MAX_BYTES: u64 = 768 << 20;

/// The maximum number of companions for one file, and their total size in bytes. Companions are large results
/// and sub-agents in separate files.
const MAX_COMPANIONS: usize = 20_000;
const MAX_COMPANION_BYTES: u64 = 512 << 20;

/// The part of a repaired copy's name before its extension.
pub(super) const REPAIRED: &str = ".repaired.";

/// The maximum depth of nested folders.
const MAX_DEPTH: usize = 32;

/// A file to read, named by the user or found in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Store {
    /// The path.
    pub(super) path: PathBuf,
    /// The session in it, if one was named as `STORE#ID`.
    pub(super) id: Option<String>,
    /// True if the user named the file itself, false if it was found in a folder.
    pub(super) is_named: bool,
}

impl Store {
    /// True if the user's choice includes this session: its id, or the name that `session --list` shows for
    /// it.
    pub(super) fn means(&self, n: usize, session: &sessions::Session) -> bool {
        let own = session.id.as_deref();
        self.id.as_deref().is_none_or(|id| own == Some(id) || sessions::report::address(n, own) == id)
    }
}

/// Finds the stores that the user's arguments name. A file is one store, `FILE#ID` is one session of a file,
/// and a folder is searched. Also returns the nested folders that cannot be read, each with the reason,
/// because their contents are unknown.
///
/// # Errors
///
/// If a folder that the user named cannot be read.
pub(super) fn find(words: &[String]) -> Result<(Vec<Store>, Vec<CliError>), CliError> {
    let (mut stores, mut unreadable) = (Vec::new(), Vec::new());
    for word in words {
        let path = Path::new(word);
        if path.is_dir() {
            let mut found = Vec::new();
            walk(path, MAX_DEPTH, &mut found, &mut unreadable)?;
            stores.extend(found.into_iter().map(|path| Store { path, id: None, is_named: false }));
            continue;
        }
        let store = match word.rsplit_once('#') {
            Some((file, id)) if !path.exists() && Path::new(file).exists() => {
                Store { path: PathBuf::from(file), id: Some(id.to_owned()), is_named: true }
            }
            _ => Store { path: path.to_owned(), id: None, is_named: true },
        };
        stores.push(store);
    }
    Ok((stores, unreadable))
}

fn walk(
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    unreadable: &mut Vec<CliError>,
) -> Result<(), CliError> {
    if depth == 0 {
        let words = format!("{}: folders are nested more than {MAX_DEPTH} deep", folder.display());
        return Err(CliError::input(words));
    }
    let cannot = |error: io::Error| CliError::cannot_read(folder.display(), error);
    let mut entries =
        fs::read_dir(folder).and_then(|all| all.collect::<io::Result<Vec<_>>>()).map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in &entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && has_companions(&path) => {}
            // Links to folders are not followed, because they may form cycles.
            Ok(kind) if kind.is_dir() => {
                if let Err(error) = walk(&path, depth - 1, found, unreadable) {
                    unreadable.push(error);
                }
            }
            Ok(_) if path.is_file() && is_store(&path) => found.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// True if a session with the folder's name is next to it. The folder has that session's companions.
fn has_companions(folder: &Path) -> bool {
    let kept = Product::ALL.iter().filter(|product| product.beside().contains(&Beside::Folder));
    kept.flat_map(|product| product.endings()).any(|ending| folder.with_extension(ending).is_file())
}

fn is_store(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    Product::ALL.iter().flat_map(|product| product.endings()).any(|known| ending == known)
}

/// Opens a file with its companions.
pub(super) fn open(path: &Path) -> Result<Files, CliError> {
    let bytes = read(path, MAX_BYTES)?;
    let main = match requests::gunzipped(&bytes) {
        Some(unpacked) => {
            let bytes = unpacked.map_err(|error| CliError::cannot_read(path.display(), error))?;
            sessions::File { name: requests::plain_name(&file_name(path)).to_owned(), bytes }
        }
        None => sessions::File { name: file_name(path), bytes },
    };
    let mut files = Files { files: vec![main] };
    let mut n_bytes = 0;
    for companion in companions(path) {
        if files.files.len() > MAX_COMPANIONS || n_bytes > MAX_COMPANION_BYTES {
            let words = format!("more than {MAX_COMPANIONS} files, or 512 MiB, next to {}", path.display());
            return Err(CliError::input(words));
        }
        // An unreadable companion is treated as missing: the session is judged without it.
        let Ok(bytes) = read(&companion.path, MAX_COMPANION_BYTES) else { continue };
        n_bytes += bytes.len() as u64;
        files.files.push(sessions::File { name: companion.name, bytes });
    }
    add_parents(path, &mut files);
    Ok(files)
}

/// The maximum number of parent rollouts opened for a Codex fork. A fork of a fork has two.
const MAX_PARENTS: usize = 32;

/// Folders in which Codex keeps rollouts, in subfolders for years, months and days.
const ROLLOUTS: [&str; 2] = ["sessions", "archived_sessions"];
const MAX_DATE_DEPTH: usize = 4;

/// Adds a Codex fork's parent rollouts, if they exist.
fn add_parents(path: &Path, files: &mut Files) {
    let mut n_bytes = 0;
    let mut child = 0;
    for _ in 0..MAX_PARENTS {
        let thread = files.files.get(child).and_then(|file| sessions::parent_of(&file.bytes));
        let Some(path) = thread.and_then(|thread| rollout_of(path, &thread)) else { return };
        let name = file_name(&path);
        if n_bytes > MAX_COMPANION_BYTES || files.files.iter().any(|file| file.name == name) {
            return;
        }
        let Ok(bytes) = read(&path, MAX_BYTES) else { return };
        n_bytes += bytes.len() as u64;
        child = files.files.len();
        files.files.push(sessions::File { name, bytes });
    }
}

/// Finds the rollout of a thread, whose file name ends with the thread's id. It is in the same folder as the
/// other rollout, or in a folder where Codex keeps rollouts.
fn rollout_of(other: &Path, thread: &str) -> Option<PathBuf> {
    let is_meant = |name: &str| {
        let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl");
        stem.is_some_and(|stem| stem.starts_with("rollout-") && stem.ends_with(thread))
    };
    let folder = other.parent().unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_home = |folder: &&Path| ROLLOUTS.iter().any(|name| folder.ends_with(name));
    let home = folder.ancestors().find(is_home).and_then(Path::parent);
    let mut kept = home.into_iter().flat_map(|home| ROLLOUTS.iter().map(|name| home.join(name)));
    // Folders next to the fork are not searched: the fork may be anywhere, such as in the home folder.
    named(folder, 1, &is_meant).or_else(|| kept.find_map(|folder| named(&folder, MAX_DATE_DEPTH, &is_meant)))
}

/// The first file in a folder, or in its subfolders, whose name matches.
fn named(folder: &Path, depth: usize, is_meant: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).ok()?.filter_map(Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let own =
        entries.iter().find(|entry| !is_folder(entry) && is_meant(&entry.file_name().to_string_lossy()));
    let inner = || {
        let folders = entries.iter().filter(|entry| depth > 1 && is_folder(entry));
        folders.map(|entry| entry.path()).find_map(|folder| named(&folder, depth - 1, is_meant))
    };
    own.map(fs::DirEntry::path).or_else(inner)
}

/// A file that belongs to another.
struct Companion {
    path: PathBuf,
    /// Relative to the folder of the main file, with `/`.
    name: String,
}

/// The files of every kind that products keep next to a file, because its product is not known yet.
fn companions(path: &Path) -> Vec<Companion> {
    let kinds: BTreeSet<Beside> = Product::ALL.iter().flat_map(|product| product.beside()).copied().collect();
    let mut companions = Vec::new();
    for kind in kinds {
        add_beside(kind, path, &mut companions);
    }
    companions.sort_by(|a, b| a.name.cmp(&b.name));
    companions
}

/// The files that belong to the session in this file, including those that are not read.
pub(super) fn belonging(path: &Path) -> Vec<PathBuf> {
    let mut belonging: Vec<PathBuf> = companions(path).into_iter().map(|companion| companion.path).collect();
    let Some(folder) = path.parent() else { return belonging };
    match file_name(path).as_str() {
        // Strands: `session_<id>/session.json` describes the session of `session_<id>/agents/agent_<id>/agent.json`.
        "agent.json" => {
            belonging.extend(folder.ancestors().nth(2).map(|session| session.join("session.json")))
        }
        // Cline: what the window shows.
        "api_conversation_history.json" => belonging.push(folder.join("ui_messages.json")),
        _ => {}
    }
    // opencode before 1.2: the project of a session, and what its window shows.
    if let (Some(storage), Some(name)) = (storage_of(path), path.file_name()) {
        belonging.extend(["session_diff", "todo"].map(|shown| storage.join(shown).join(name)));
        let project = folder.file_name().map(|project| Path::new(project).with_extension("json"));
        belonging.extend(project.map(|project| storage.join("project").join(project)));
    }
    belonging
}

/// opencode's folder `storage`, if the file is in it.
fn storage_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.ends_with("storage"))
}

fn add_beside(kind: Beside, path: &Path, companions: &mut Vec<Companion>) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut sibling = |name: String| {
        let path = folder.join(&name);
        if path.is_file() {
            companions.push(Companion { path, name });
        }
    };
    match kind {
        Beside::Folder => {
            let own = folder.join(&stem);
            if own != path && own.is_dir() {
                add_folder(&own, &stem, MAX_DEPTH, companions);
            }
        }
        Beside::Log => sibling(format!("{}-wal", file_name(path))),
        Beside::OfCline => {
            let name = file_name(path).replace(REPAIRED, ".");
            if name == "api_conversation_history.json" {
                sibling("context_history.json".to_owned());
                sibling("task_metadata.json".to_owned());
                sibling("history_item.json".to_owned());
            }
            if let Some(stem) = name.strip_suffix(".messages.json") {
                sibling(format!("{stem}.compaction.json"));
                sibling(format!("{stem}.json"));
            }
        }
        Beside::OfOpenhands => {
            if file_name(path) == "base_state.json" {
                add_folder(&folder.join("events"), "events", 1, companions);
            }
        }
        Beside::OfPicoclaw => {
            if let Some(stem) = file_name(path).replace(REPAIRED, ".").strip_suffix(".jsonl") {
                sibling(format!("{stem}.meta.json"));
            }
        }
        Beside::OfStrands => {
            if file_name(path) == "agent.json" {
                add_folder(&folder.join("messages"), "messages", 1, companions);
            }
        }
        Beside::Storage => {
            let Some(storage) = storage_of(path) else { return };
            let messages = storage.join("message").join(&stem);
            let mut found = Vec::new();
            add_folder(&messages, &format!("message/{stem}"), 2, &mut found);
            for message in &found {
                let id = Path::new(&message.name).file_stem().map(|id| id.to_string_lossy().into_owned());
                let id = id.unwrap_or_default();
                add_folder(&storage.join("part").join(&id), &format!("part/{id}"), 2, companions);
            }
            companions.extend(found);
        }
    }
}

fn add_folder(folder: &Path, name: &str, depth: usize, companions: &mut Vec<Companion>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        if companions.len() > MAX_COMPANIONS || depth == 0 {
            return;
        }
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => add_folder(&entry.path(), &name, depth - 1, companions),
            Ok(kind) if kind.is_file() => companions.push(Companion { path: entry.path(), name }),
            _ => {}
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The bytes in a regular file. A device or a pipe might never end, so it is rejected.
fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, CliError> {
    let cannot = |error: io::Error| CliError::cannot_read(path.display(), error);
    let file = regular::open(path).map_err(cannot)?;
    if file.metadata().map_err(cannot)?.len() > max_bytes {
        return Err(CliError::cannot_read(path.display(), format!("more than {} MiB", max_bytes >> 20)));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}
