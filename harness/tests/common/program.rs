//! The program as a child process, with bounded patience.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program under test.
pub const BRICKBAT: &str = env!("CARGO_BIN_EXE_brickbat");

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs brickbat in a folder, with variables of the environment.
#[track_caller]
pub fn brickbat(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Said {
    let started = Instant::now();
    let mut command = Command::new(BRICKBAT);
    command.args(args).current_dir(folder).envs(variables.iter().copied()).stdin(Stdio::null());
    let output = command.output().unwrap();
    // The longest waits twice for an adapter that is silent for 20 s.
    assert!(started.elapsed() < Duration::from_secs(300), "{args:?} took {:?}", started.elapsed());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said = Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{said:#?}");
    said
}

/// A JSON report that a run has written.
#[track_caller]
pub fn report(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
