//! The adapter's process: its own group, a clean environment, pipes, and an end.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::error::DriverError;

/// How an adapter is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder in which it runs.
    pub folder: PathBuf,
    /// Variables that it is given, after all that is withheld has been taken out.
    pub env: BTreeMap<String, String>,
    /// How long and how much is waited for.
    pub limits: Limits,
}

/// The bounds of one adapter.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the start of the process to its answer to `initialize`.
    pub start: Duration,
    /// Any later answer that does not depend on the provider.
    pub answer: Duration,
    /// Bytes of one line of its standard output.
    pub line_bytes: usize,
}

impl Limits {
    /// What is enough for a healthy adapter on a busy machine.
    pub const STANDARD: Limits = Limits {
        // Node with one SDK starts in 0.4 to 2.5 s; Python with a large one in up to 10 s on a loaded CI machine.
        start: Duration::from_secs(60),
        // An answer takes milliseconds. A machine that needs longer than this is not fit to judge anything.
        answer: Duration::from_secs(20),
        // A stored history of a built-in scenario has about 10 KB; a real session with images stays below this.
        line_bytes: 8 << 20,
    };
}

/// How long a process that has closed its standard output may take to end by itself, and its group to release the pipes.
const EXIT_WAIT: Duration = Duration::from_secs(2);

/// How long it may leave a written line unread before it counts as dead: its pipe holds 64 KiB.
pub(super) const WRITE_WAIT: Duration = Duration::from_secs(20);

/// The part of the standard error that is kept: the last stack trace.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The part of it that an error message shows.
const MAX_STDERR_SHOWN: usize = 4 << 10;

/// A running adapter process. Dropping it kills the whole group.
#[derive(Debug)]
pub(super) struct Process {
    id: Option<u32>,
    group: Arc<Group>,
    status: watch::Receiver<Option<String>>,
    stderr: Arc<Tail>,
}

/// The ends of the pipes that the protocol uses.
#[derive(Debug)]
pub(super) struct Pipes {
    /// What the adapter reads.
    pub(super) stdin: ChildStdin,
    /// What the adapter writes.
    pub(super) stdout: ChildStdout,
}

impl Process {
    /// Starts the program in a process group of its own.
    pub(super) fn start(launch: &Launch) -> Result<(Process, Pipes), DriverError> {
        let failed = |text: String| DriverError::Spawn { program: launch.program.clone(), text };
        let spawned = command(launch).spawn();
        let mut child = spawned.map_err(|error| match error.kind() {
            // The system names a missing folder with the same error as a missing program.
            std::io::ErrorKind::NotFound if launch.folder.is_dir() => DriverError::Missing {
                program: launch.program.clone(),
                advice: format!("install it, or put the folder that holds it on PATH ({error})"),
            },
            _ => failed(format!("{error}, in {}", launch.folder.display())),
        })?;
        let id = child.id();
        let group = Arc::new(Group::of(&child));
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("its pipes are not there".to_owned()));
        };
        let tail = Arc::new(Tail::default());
        let draining = tokio::spawn(drain(stderr, tail.clone()));
        let (ended, status) = watch::channel(None);
        tokio::spawn(reap(child, group.clone(), draining, ended));
        Ok((Process { id, group, status, stderr: tail }, Pipes { stdin, stdout }))
    }

    /// The number of the process that was started; what it started is below it.
    pub(super) fn id(&self) -> Option<u32> {
        self.id
    }

    /// The end of its standard error.
    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Kills the process and everything that it started.
    pub(super) fn kill(&self) {
        self.group.kill();
    }

    /// Sees a process off that has closed its standard output, and says how it ended.
    pub(super) async fn ended(&self) -> DriverError {
        let mut status = self.status.clone();
        let by_itself = tokio::time::timeout(EXIT_WAIT, status.wait_for(Option::is_some)).await;
        let status = match by_itself {
            Ok(Ok(status)) => status.clone().unwrap_or_default(),
            Ok(Err(_)) | Err(_) => "it closed its standard output and went on running".to_owned(),
        };
        self.kill();
        DriverError::Exited { status, stderr: self.stderr() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(launch: &Launch) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .current_dir(&launch.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_withheld) {
        command.env_remove(name);
    }
    command.envs(&launch.env);
    command
}

/// Whether a variable of the environment is kept from adapters: a proxy would stand between the SDK and the provider,
/// a base URL would lead past it, and a credential has no business in a harness.
fn is_withheld(name: &OsString) -> bool {
    const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
    const ENDINGS: [&str; 10] = [
        "_KEY",
        "_KEY_ID",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "_PAT",
        "_AUTH",
        "_CREDENTIALS",
        "_BASE_URL",
        "_API_BASE",
    ];
    // These change what runs inside the adapter.
    const SWITCHES: [&str; 2] = ["NODE_OPTIONS", "NODE_USE_ENV_PROXY"];
    let name = name.to_string_lossy().to_ascii_uppercase();
    PROXIES.contains(&name.as_str())
        || SWITCHES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Waits for the end of the process, ends its group, and publishes the status when its standard error has been read.
async fn reap(
    mut child: Child,
    group: Arc<Group>,
    draining: JoinHandle<()>,
    ended: watch::Sender<Option<String>>,
) {
    let status = child.wait().await;
    // What it started must not outlive it, nor hold its pipes open.
    group.kill();
    let abort = draining.abort_handle();
    if tokio::time::timeout(EXIT_WAIT, draining).await.is_err() {
        abort.abort();
    }
    let text = status.as_ref().map_or_else(ToString::to_string, ExitStatus::to_string);
    ended.send_replace(Some(text));
}

async fn drain(mut stderr: ChildStderr, tail: Arc<Tail>) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        tail.push(&buffer[..n]);
    }
}

/// A process group, until it has been killed.
#[derive(Debug)]
struct Group(Mutex<Option<Pid>>);

impl Group {
    fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(Mutex::new(id.and_then(Pid::from_raw)))
    }

    /// Kills it once: afterwards its number may belong to someone else.
    fn kill(&self) {
        let group = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(group) = group {
            // It may have ended by itself, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..surplus);
    }

    fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end_of(kept.make_contiguous())
    }
}

/// The end of what a program said, as much as an error message shows.
pub(super) fn end_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MAX_STDERR_SHOWN)..]);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_and_credentials_are_withheld() {
        for name in ["http_proxy", "HTTPS_PROXY", "ANTHROPIC_API_KEY", "GH_TOKEN", "NODE_OPTIONS"] {
            assert!(is_withheld(&name.into()), "{name}");
        }
        for name in ["PATH", "HOME", "TOKENIZERS_PARALLELISM"] {
            assert!(!is_withheld(&name.into()), "{name}");
        }
    }

    #[test]
    fn only_the_end_of_a_stream_is_kept() {
        let tail = Tail::default();
        tail.push(&vec![b'a'; 2 * MAX_STDERR_BYTES]);
        tail.push(b"the end");
        assert!(tail.text().ends_with("aathe end"));
        assert_eq!(tail.text().len(), MAX_STDERR_SHOWN);
    }
}
