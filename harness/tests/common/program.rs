//! The program as a child process, with bounded patience.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub const BRICKBAT: &str = env!("CARGO_BIN_EXE_brickbat");

/// A command that hangs fails its test after this time instead. The longest waits twice for an adapter that
/// is silent for 20 s.
const PATIENCE: Duration = Duration::from_secs(300);

/// The output of a command and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The cache of the tests, which keeps them away from the user's.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// Brickbat in a folder, without input.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BRICKBAT);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command.env("BRICKBAT_CACHE", CACHE).env_remove("COLUMNS");
    command
}

/// Runs a command to its end with that input.
#[track_caller]
pub fn finish(mut command: Command, input: &[u8]) -> Said {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().unwrap();
    let drain = |stream: Option<Box<dyn Read + Send>>| {
        let (sender, text) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stream.unwrap().read_to_end(&mut bytes).unwrap();
            let _ = sender.send(String::from_utf8(bytes).unwrap());
        });
        text
    };
    let out = drain(child.stdout.take().map(|stream| Box::new(stream) as _));
    let err = drain(child.stderr.take().map(|stream| Box::new(stream) as _));
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).unwrap();
    }
    let Ok(out) = out.recv_timeout(PATIENCE) else {
        child.kill().unwrap();
        panic!("{command:?} does not end");
    };
    let code = child.wait().unwrap().code();
    let said = Said { code, out, err: err.recv_timeout(PATIENCE).unwrap() };
    assert!(!said.err.contains("panicked"), "{said:#?}");
    said
}

/// Runs brickbat in a folder, with environment variables.
#[track_caller]
pub fn brickbat(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = command(folder, args);
    command.envs(variables.iter().copied());
    finish(command, b"")
}

/// A folder with these files.
pub fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A JSON report that a run has written.
#[track_caller]
pub fn report(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The ids in front of the causes of a closing block.
pub fn ids(out: &str) -> Vec<String> {
    let is_id = |word: &str| word.len() >= 6 && word.chars().all(|c| c.is_ascii_hexdigit());
    let lines = out.lines().filter_map(|line| match line.trim_start().strip_prefix("also ") {
        Some(other) => Some(other),
        None => line.strip_prefix("  ").filter(|line| !line.starts_with(' ')),
    });
    lines
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()).filter(|word| is_id(word)))
        .collect()
}
