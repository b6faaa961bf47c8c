//! The supervisor with systems that resist being killed: everything that they have started ends when it
//! should.
//!
//! The systems are shell scripts. Each process of a tree holds a pipe open, so the pipe's end proves that all
//! are gone.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere, also outside its own function")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::polite::{self, POLITE, spec};
use brickbat_drive::driver::{Adapter, DriverError, Launch, ProcessLimits, Scratch};
use tempfile::TempDir;

const SUPERVISOR: &str = env!("CARGO_BIN_EXE_brickbat");

/// Longer than a healthy shell needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Trees of processes, each with the number of processes that report that they run.
const TREES: [(&str, usize); 5] = [
    ("children", 2),
    ("daemons in sessions of their own", 2),
    ("processes that ignore signals", 1),
    ("a child that has taken the group along", 1),
    ("a chain that forks for ever", 1),
];

fn tree(name: &str) -> &'static str {
    match name {
        "children" => "{ echo up >&9; sleep 600; } & { echo up >&9; sleep 600; } & ",
        // The parent of the first is dead; so are the parent and the session of the second.
        "daemons in sessions of their own" => {
            "sh -c '{ echo up >&9; sleep 600; } &' ; setsid sh -c 'setsid sh -c \"echo up >&9; sleep 600\" &' ; "
        }
        "processes that ignore signals" => {
            "trap '' TERM INT HUP; { trap '' TERM INT HUP; echo up >&9; sleep 600; } & "
        }
        "a child that has taken the group along" => {
            "setsid sh -c 'sleep 600 & sleep 600 & echo up >&9; wait' & "
        }
        "a chain that forks for ever" => {
            "export CHAIN='sh -c \"$CHAIN\" & exit'; setsid sh -c \"$CHAIN\"; echo up >&9; "
        }
        other => panic!("{other}"),
    }
}

/// A pipe that every process of a system holds open.
struct Alive {
    folder: TempDir,
}

impl Alive {
    fn new() -> Alive {
        let alive = Alive { folder: TempDir::new().unwrap() };
        assert!(Command::new("mkfifo").arg(alive.path()).status().unwrap().success());
        alive
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("alive")
    }

    /// Opened before there is a writer.
    fn reader(&self) -> File {
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().try_into().unwrap();
        OpenOptions::new().read(true).custom_flags(nonblocking).open(self.path()).unwrap()
    }

    /// Makes a script hold the pipe.
    fn held_by(&self, script: &str) -> String {
        format!("exec 9> '{}'; {script}", self.path().display())
    }
}

/// True if no process holds the pipe any more.
fn is_over(mut reader: &File) -> bool {
    loop {
        match reader.read(&mut [0; 64]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits until no process holds the pipe any more.
async fn over(reader: File) {
    let waiting = tokio::task::spawn_blocking(move || {
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::empty()).unwrap();
        std::io::copy(&mut BufReader::new(reader), &mut std::io::sink()).unwrap();
    });
    tokio::time::timeout(PATIENCE, waiting).await.expect("a process lives on").unwrap();
}

/// Waits for `n_processes` to report that they run.
async fn up(reader: &File, n_processes: usize) {
    let reader = reader.try_clone().unwrap();
    let waiting = tokio::task::spawn_blocking(move || {
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::empty()).unwrap();
        let lines = BufReader::new(&reader).lines().take(n_processes);
        assert!(lines.map(Result::unwrap).all(|line| line == "up"));
        rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK).unwrap();
    });
    tokio::time::timeout(PATIENCE, waiting).await.expect("a process does not come up").unwrap();
}

fn launch(script: &str) -> Launch {
    let limits = ProcessLimits { start: PATIENCE, answer: PATIENCE, ..ProcessLimits::STANDARD };
    Launch { limits, ..polite::launch(script, ":") }
}

async fn start(alive: &Alive, script: &str) -> Adapter {
    Adapter::start(&launch(&alive.held_by(&format!("{script}{POLITE}")))).await.unwrap()
}

/// The end of an adapter that exits by itself.
async fn exited(script: &str) -> (String, String) {
    match Adapter::start(&launch(script)).await.unwrap_err() {
        DriverError::AdapterExited { status, stderr } => (status, stderr),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn when_the_adapter_is_dropped_its_tree_is_killed() {
    for (name, n_processes) in TREES {
        let alive = Alive::new();
        let reader = alive.reader();
        let adapter = start(&alive, tree(name)).await;
        up(&reader, n_processes).await;
        assert!(!is_over(&reader), "{name} ended by itself");
        drop(adapter);
        over(reader).await;
    }
}

#[tokio::test]
async fn when_kill_returns_the_tree_is_gone() {
    for (name, n_processes) in TREES {
        let alive = Alive::new();
        let reader = alive.reader();
        let adapter = start(&alive, tree(name)).await;
        up(&reader, n_processes).await;
        adapter.kill().await.unwrap();
        assert!(is_over(&reader), "{name} outlived the kill");
    }
}

#[tokio::test]
async fn when_the_adapter_exits_its_tree_is_killed() {
    for (name, _) in TREES {
        let alive = Alive::new();
        let reader = alive.reader();
        let script = alive.held_by(&format!("{} echo 'the end' >&2; exit 3", tree(name)));
        assert_eq!(exited(&script).await, ("exit status: 3".to_owned(), "the end".to_owned()), "{name}");
        over(reader).await;
    }
}

#[tokio::test]
async fn a_killed_adapter_is_reported_as_killed() {
    let adapter = Adapter::start(&launch(POLITE)).await.unwrap();
    adapter.kill().await.unwrap();
    // A second kill does no harm.
    adapter.kill().await.unwrap();
    let error = adapter.open(&spec(Path::new("/tmp"))).await.unwrap_err();
    assert!(error.to_string().starts_with("the adapter ended (signal: 9 (SIGKILL))"), "{error}");
}

#[tokio::test]
async fn signals_to_its_own_group_do_not_reach_the_supervisor() {
    // Not INT: if these tests are started in the background, it is ignored, and so would the adapter ignore
    // it.
    for signal in ["TERM", "USR1", "KILL"] {
        let alive = Alive::new();
        let reader = alive.reader();
        let script = alive.held_by(&format!("setsid sleep 600 & kill -{signal} 0"));
        let (status, _) = exited(&script).await;
        assert!(status.contains(&format!("(SIG{signal})")), "{status}");
        over(reader).await;
    }
}

#[tokio::test]
async fn an_adapter_that_closes_its_output_and_stays_is_detected() {
    let alive = Alive::new();
    let reader = alive.reader();
    let (status, _) = exited(&alive.held_by("exec >&-; sleep 600 <&-")).await;
    assert_eq!(status, "it closed its standard output and kept running");
    over(reader).await;
}

#[tokio::test]
async fn an_adapter_gets_its_pipes_and_no_other_descriptor() {
    // The descriptors that the test itself was started with do not come from the supervisor.
    let list = "exec ls /proc/self/fd >&2";
    let plain = Command::new("/bin/sh").args(["-c", list]).stdin(Stdio::null()).output().unwrap();
    let (_, seen) = exited(list).await;
    assert_eq!(seen, String::from_utf8(plain.stderr).unwrap().trim());
    assert!(seen.starts_with("0\n1\n"), "{seen}");
}

#[tokio::test]
async fn a_missing_supervisor_is_not_a_missing_adapter() {
    let launch = Launch { supervisor: "/no/such/brickbat".into(), ..launch(POLITE) };
    let error = Adapter::start(&launch).await.unwrap_err();
    assert!(error.to_string().contains("its supervisor does not start"), "{error}");
}

#[tokio::test]
async fn the_home_of_an_adapter_is_in_the_folder_of_the_run() {
    let folder = Scratch::create(Path::new(SUPERVISOR)).await.unwrap();
    let path = folder.path().to_owned();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let script = r#"mkdir -p "$XDG_STATE_HOME/locked" && touch "$XDG_STATE_HOME/locked/x" "$TMPDIR/y"
        chmod 500 "$XDG_STATE_HOME/locked"; echo "$HOME" >&2; exit 3"#;
    let launch = Launch { scratch: Some(path.clone()), ..launch(script) };
    let error = Adapter::start(&launch).await.unwrap_err();
    assert!(error.to_string().ends_with(&format!("{}/home", path.display())), "{error}");
    assert!(path.join("home/.local/state/locked/x").is_file() && path.join("tmp/y").is_file());
    drop(folder);
    assert!(!path.exists());
}

#[tokio::test]
async fn the_folder_is_removed_after_the_last_adapter_in_it() {
    let alive = Alive::new();
    let reader = alive.reader();
    let folder = Scratch::create(Path::new(SUPERVISOR)).await.unwrap();
    let path = folder.path().to_owned();
    // It writes as fast as it can, even while it is being killed.
    let script = format!("sh -c 'while :; do echo x > \"$TMPDIR/$(date +%N)\"; done' & {POLITE}");
    let launch = Launch { scratch: Some(path.clone()), ..launch(&alive.held_by(&script)) };
    let adapter = Adapter::start(&launch).await.unwrap();
    drop(adapter);
    drop(folder);
    assert!(!path.exists());
    assert!(is_over(&reader));
}

#[tokio::test]
async fn no_adapter_starts_in_a_folder_that_is_gone() {
    let folder = Scratch::create(Path::new(SUPERVISOR)).await.unwrap();
    let path = folder.path().to_owned();
    drop(folder);
    let error = Adapter::start(&Launch { scratch: Some(path), ..launch(POLITE) }).await.unwrap_err();
    assert!(
        matches!(&error, DriverError::Spawn { source, .. } if source.to_string().contains("No such file")),
        "{error}"
    );
}

#[test]
fn a_supervisor_without_an_owner_reports_an_error() {
    for args in [&["--", "/bin/sh", "-c", "echo started"][..], &["--folder", "/no/such/folder"]] {
        let mut command = Command::new(SUPERVISOR);
        let output = command.arg("supervisor").args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(127), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("a supervisor is started by brickbat itself"), "{said}");
    }
    let output = Command::new(SUPERVISOR).arg("supervisor").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn an_interrupted_run_reports_what_it_has() {
    let mut command = Command::new(SUPERVISOR);
    command.args(["run", "--jobs", "1"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    // A line of progress comes after a number of plans or a time, whichever is first.
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines();
    let first = said.next().unwrap().unwrap();
    assert!(first.starts_with("reference: 0 causes; ") && first.contains(" judged, 0 failed"), "{first}");
    let id = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert!(said.any(|line| line.unwrap().starts_with("interrupted")));
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("the run was interrupted") && report.contains(" pass, 0 fail, "), "{report}");
}
