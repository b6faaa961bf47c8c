//! The program's behaviour when its output is not read.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::TempDir;

use crate::program::{command, folder_of};

const BAD: &str = r#"{"model":"claude-opus-4-5","messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":[{"type":"tool_use","id":"w1","name":"weather","input":{}}]},{"role":"user","content":"Well?"}]}"#;
const ROW: &str = r#"{"host":"api.anthropic.com","status":200,"request":{"messages":[]},"error":null}"#;
const CUT: &str =
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{}}]}\n\n";

/// Commands that print something, each with its exit code when the output is read.
const COMMANDS: [(&[&str], i32); 17] = [
    (&["--help"], 0),
    (&["--version"], 0),
    (&["run", "control/plain-batch", "--system", "reference/simulated"], 0),
    (&["run", "--list"], 0),
    (&["run", "control/plain-batch", "--system", "reference/simulated", "--out", "kept"], 0),
    (&["check", "bad.json"], 1),
    (&["check", "--format", "sarif", "bad.json"], 1),
    (&["check", "--stream", "cut.sse"], 1),
    (&["explain"], 0),
    (&["explain", "--all"], 0),
    (&["explain", "tool-result-missing"], 0),
    (&["explain", "--html", "pages"], 0),
    (&["explain", "--book", "chapters"], 0),
    (&["schema", "scenario"], 0),
    (&["systems"], 0),
    (&["recordings", "rows.jsonl"], 0),
    (&["init", "--lang", "python", "adapter"], 0),
];

fn folder() -> TempDir {
    folder_of(&[("bad.json", BAD), ("rows.jsonl", ROW), ("cut.sse", CUT)])
}

fn with_output(folder: &Path, args: &[&str], out: Stdio, err: Stdio) -> Output {
    command(folder, args).stdout(out).stderr(err).spawn().unwrap().wait_with_output().unwrap()
}

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

/// A pipe without a reader.
fn closed() -> Stdio {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_full_disk_is_reported() {
    for (args, _) in COMMANDS {
        let folder = folder();
        let output = with_output(folder.path(), args, full(), Stdio::piped());
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains("error: cannot write to standard output: "), "{args:?}: {err}");
        assert!(!err.contains("panicked"), "{args:?}: {err}");
    }
}

#[test]
fn a_closed_output_gets_no_error_and_the_work_is_done() {
    for (args, code) in COMMANDS {
        let folder = folder();
        let output = with_output(folder.path(), args, closed(), Stdio::piped());
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        assert!(!err.contains("cannot write") && !err.contains("panicked"), "{args:?}: {err}");
        let made = ["--out", "--html", "--book", "init"].iter().any(|word| args.contains(word));
        let there = ["kept/report.json", "pages/index.html", "chapters/index.md", "adapter/system.yaml"];
        assert_eq!(there.iter().any(|file| folder.path().join(file).is_file()), made, "{args:?}");
    }
}

#[test]
fn unread_errors_change_nothing() {
    for (args, code) in COMMANDS {
        for (out, err) in [(Stdio::piped(), full()), (closed(), closed())] {
            let output = with_output(folder().path(), args, out, err);
            assert_eq!(output.status.code(), Some(code), "{args:?}");
        }
    }
    for args in [&["run", "--nonsense"][..], &["run", "nothing-of-that-name"], &["check", "none.json"]] {
        let folder = folder();
        assert_eq!(with_output(folder.path(), args, full(), full()).status.code(), Some(2), "{args:?}");
        assert_eq!(with_output(folder.path(), args, closed(), closed()).status.code(), Some(2), "{args:?}");
    }
}
