//! Whether a process may be writing a session.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A process that has the file open, or has registered the session as its own; in words.
///
/// On Linux the open files of every process of this user are looked at. Claude Code also registers live processes in
/// `sessions/<pid>.json` two folders above a session, and Codex locks `thread-writer-locks/<id>.lock`, which it keeps open.
pub(super) fn process_with(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    holder(&path)
        .map(|pid| format!("process {pid} has this file open"))
        .or_else(|| registered(&path).map(|pid| format!("process {pid} has this session open")))
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
