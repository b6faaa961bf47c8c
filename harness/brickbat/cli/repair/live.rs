//! Finds a process that may be writing a session.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Describes a process that has the file open, or has registered the session as its own.
///
/// On Linux, it checks the open files of every process of this user. Claude Code also registers live
/// processes in `sessions/<pid>.json` two folders above a session, and Codex keeps
/// `thread-writer-locks/<id>.lock` open. Without a list of open files, as outside Linux, it reports that,
/// because a file is not replaced on a guess.
pub(super) fn process_with(path: &Path) -> Option<String> {
    if !Path::new("/proc/self/fd").exists() {
        return Some("this machine does not show which process has the file open".to_owned());
    }
    let path = fs::canonicalize(path).ok()?;
    holder(&path).map(|pid| format!("process {pid} has this file open")).or_else(|| {
        let pid = registered(&path).or_else(|| locked(&path))?;
        Some(format!("process {pid} has this session open"))
    })
}

/// The process that holds a Codex session's lock. The session's id is at the end of its rollout's name.
fn locked(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let locks =
        path.ancestors().map(|folder| folder.join("thread-writer-locks")).find(|locks| locks.is_dir())?;
    let locks = fs::read_dir(locks).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let is_of_session = |lock: &std::path::PathBuf| {
        let id = lock.file_stem().and_then(|id| id.to_str()).filter(|id| !id.is_empty());
        id.is_some_and(|id| name.contains(id))
    };
    locks.filter(is_of_session).find_map(|lock| holder(&lock))
}

fn holder(path: &Path) -> Option<u32> {
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != own).find(|pid| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.filter_map(Result::ok).any(|link| fs::read_link(link.path()).is_ok_and(|target| target == path))
    })
}

fn registered(path: &Path) -> Option<u32> {
    let registry = path.parent()?.parent()?.parent()?.join("sessions");
    let session = path.file_stem()?.to_str()?;
    for entry in fs::read_dir(registry).ok()?.filter_map(Result::ok) {
        let file = entry.path();
        let Some(pid) = file.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok()) else {
            continue;
        };
        let is_alive = Path::new(&format!("/proc/{pid}")).exists();
        let text = fs::read_to_string(&file).unwrap_or_default();
        let is_this = serde_json::from_str::<Value>(&text)
            .is_ok_and(|value| value.get("sessionId").and_then(Value::as_str) == Some(session));
        if is_alive && is_this {
            return Some(pid);
        }
    }
    None
}
