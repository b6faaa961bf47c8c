//! The adapter's process: its supervisor, clean environment, pipes, and end.

mod pipe;

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::environment;
use super::error::{DriverError, InstalledIn};
use super::stopwatch::within;
use super::supervisor_handle::{self, Input, NotStarted, SupervisorHandle, program_status};
use super::waits::Waits;
use pipe::Pipe;

#[derive(Debug, Clone)]
pub struct Launch {
    pub program: String,
    pub args: Vec<String>,
    pub folder: PathBuf,
    /// The path to its dependencies in the cache, if they were installed.
    pub installed: Option<InstalledIn>,
    /// The variables that it receives, set after others have been withheld.
    pub env: BTreeMap<String, String>,
    /// The program `brickbat`, which supervises the adapter.
    pub supervisor: PathBuf,
    /// The temporary folder of the run, with the adapter's home and its temporary files; without one it sees
    /// the user's.
    pub scratch: Option<PathBuf>,
    /// Time and size limits.
    pub limits: ProcessLimits,
}

#[derive(Debug, Clone, Copy)]
pub struct ProcessLimits {
    /// From the start of the process to its answer to `initialize`.
    pub start: Duration,
    /// Any later answer that does not depend on the provider.
    pub answer: Duration,
    /// The size limit for one line on its standard output, in bytes.
    pub line_bytes: usize,
}

impl ProcessLimits {
    /// Enough for a healthy adapter. On a busy machine these times grow (see `stopwatch`).
    pub const STANDARD: ProcessLimits = ProcessLimits {
        start: Waits::STANDARD.start,
        answer: Waits::STANDARD.answer,
        // A stored history of a built-in scenario has about 10 KB; a real session with images stays below
        // this limit.
        line_bytes: 8 << 20,
    };
}

/// The time limit for a process that has closed its standard output to exit, and for its last output to be
/// read.
const EXIT_WAIT: Duration = Duration::from_secs(2);

/// The time for which it may leave a written line unread before it is considered dead. Its pipe
/// holds 64 KiB.
pub(super) const WRITE_WAIT: Duration = Duration::from_secs(20);

/// The amount of standard error output that is kept: enough for the last stack trace.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The maximum amount that an error message shows.
const MAX_STDERR_SHOWN: usize = 4 << 10;

/// A running adapter process. Dropping it kills every process that it started.
#[derive(Debug)]
pub(super) struct Process {
    id: Option<u32>,
    handle: SupervisorHandle,
    status: watch::Receiver<Option<String>>,
    stderr: Arc<Stderr>,
}

/// The ends of the pipes that the protocol uses.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    pub(super) async fn start(launch: &Launch) -> Result<(Process, Pipes), DriverError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| DriverError::Spawn {
            program: launch.program.clone(),
            source: source.into(),
        };
        let (stdin, ours) = std::io::pipe().map_err(|error| failed(error.into()))?;
        let stdin_writer = std::process::ChildStdin::from(Input::from(ours));
        let started = SupervisorHandle::start(command(launch), Some(stdin.into())).await;
        let (mut supervisor, handle) = started.map_err(|error| match error {
            NotStarted::Program(error) if error.kind() == ErrorKind::NotFound => {
                DriverError::ProgramMissing {
                    program: launch.program.clone(),
                    advice: format!("install it, or put its folder on PATH ({error})"),
                }
            }
            error => failed(format!("{error}, in {}", launch.folder.display()).into()),
        })?;
        let (Ok(stdin), Some(stdout), Some(stderr)) =
            (ChildStdin::from_std(stdin_writer), supervisor.stdout.take(), supervisor.stderr.take())
        else {
            return Err(failed("its pipes are missing".into()));
        };
        let stderr = Arc::new(Stderr::of(Pipe::of(stderr).map_err(|error| failed(error.into()))?));
        let draining = tokio::spawn({
            let stderr = Arc::clone(&stderr);
            async move { stderr.drain().await }
        });
        let (ended, status) = watch::channel(None);
        let id = supervisor.id();
        tokio::spawn(reap(supervisor, draining, ended));
        Ok((Process { id, handle, status, stderr }, Pipes { stdin, stdout }))
    }

    /// The process id of the supervisor, which is the ancestor of every process that it has started.
    pub(super) fn id(&self) -> Option<u32> {
        self.id
    }

    /// The end of its standard error output, up to and including everything written before the last known
    /// event.
    pub(super) fn stderr(&self) -> String {
        self.stderr.tail().text()
    }

    /// The number of bytes that it has written to its standard error so far.
    pub(super) fn stderr_len(&self) -> u64 {
        self.stderr.tail().len
    }

    /// The retained text that it has written to its standard error since the first `len` bytes.
    pub(super) fn stderr_since(&self, len: u64) -> String {
        self.stderr.tail().since(len)
    }

    /// Kills the process and every process that it started. All of them are gone when [`Process::ended`]
    /// returns.
    pub(super) fn kill(&self) {
        self.handle.let_go();
    }

    /// Waits until the process and every process that it started are gone, and returns how the process ended.
    pub(super) async fn ended(&self) -> String {
        let mut status = self.status.clone();
        let status = status.wait_for(Option::is_some).await;
        status.ok().and_then(|status| status.clone()).unwrap_or_default()
    }

    /// Waits for a process that has no more input, and returns how it ended, or that it still runs.
    pub(super) async fn outlived(&self, wait: Duration) -> DriverError {
        let mut status = self.status.clone();
        match within(self.id, wait, status.wait_for(Option::is_some)).await {
            Ok(Ok(status)) => DriverError::AdapterExited {
                status: status.clone().unwrap_or_default(),
                stderr: self.stderr(),
            },
            Ok(Err(_)) | Err(_) => DriverError::AnswerTimedOut {
                method: "the end of its standard input".to_owned(),
                waited: wait,
                stderr: self.stderr(),
            },
        }
    }

    /// Waits for a process that has closed its standard output to exit, and returns how it ended.
    pub(super) async fn seen_off(&self) -> DriverError {
        let by_itself = within(self.id, EXIT_WAIT, self.ended()).await;
        let status =
            by_itself.unwrap_or_else(|_| "it closed its standard output and kept running".to_owned());
        self.kill();
        DriverError::AdapterExited { status, stderr: self.stderr() }
    }
}

fn command(launch: &Launch) -> Command {
    let program = std::iter::once(&launch.program).chain(&launch.args);
    let mut command = supervisor_handle::command(&launch.supervisor, launch.scratch.as_deref(), program);
    command.current_dir(&launch.folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    environment::set(&mut command, launch.scratch.as_deref());
    command.envs(&launch.env);
    command
}

/// Waits for the supervisor to exit, and publishes the program's status once its standard error has been
/// read.
async fn reap(mut supervisor: Child, draining: JoinHandle<()>, ended: watch::Sender<Option<String>>) {
    let status = supervisor.wait().await.map(program_status);
    let abort = draining.abort_handle();
    if tokio::time::timeout(EXIT_WAIT, draining).await.is_err() {
        abort.abort();
    }
    let text = status.as_ref().map_or_else(ToString::to_string, ExitStatus::to_string);
    ended.send_replace(Some(text));
}

/// The standard error of a process, read as it arrives.
#[derive(Debug)]
struct Stderr {
    pipe: Pipe,
    tail: Mutex<Tail>,
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
    /// Bytes of the complete stream so far.
    len: u64,
}

/// The number of bytes that are read at a time.
const BUFFER_BYTES: usize = 8 << 10;

impl Stderr {
    fn of(pipe: Pipe) -> Stderr {
        Stderr { pipe, tail: Mutex::default() }
    }

    /// Reads until the end of the stream.
    async fn drain(&self) {
        let mut buffer = [0; BUFFER_BYTES];
        while self.pipe.readable().await.is_ok() {
            // The lock is held during the read, so that no later bytes are kept before these.
            let mut tail = self.kept();
            match self.pipe.try_read(&mut buffer) {
                Ok(n @ 1..) => tail.push(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => break,
            }
        }
    }

    /// The written bytes, including those that still wait in the pipe. If a process writes an error and then
    /// answers, its error is included, even if the runtime has not noticed it yet.
    fn tail(&self) -> MutexGuard<'_, Tail> {
        let mut tail = self.kept();
        let mut buffer = [0; BUFFER_BYTES];
        for _ in 0..MAX_STDERR_BYTES / BUFFER_BYTES {
            match self.pipe.read_now(&mut buffer) {
                Ok(n @ 1..) => tail.push(&buffer[..n]),
                Ok(0) | Err(_) => break,
            }
        }
        tail
    }

    fn kept(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(MAX_STDERR_BYTES);
        self.bytes.drain(..surplus);
    }

    fn text(&mut self) -> String {
        end_of(self.bytes.make_contiguous())
    }

    fn since(&mut self, len: u64) -> String {
        let wanted = usize::try_from(self.len.saturating_sub(len)).unwrap_or(usize::MAX);
        let bytes = self.bytes.make_contiguous();
        let lost = wanted.saturating_sub(bytes.len());
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(wanted)..]).into_owned();
        if lost == 0 { text } else { format!("[cut: {lost} bytes before this are not kept]\n{text}") }
    }
}

/// The end of a program's output, cut to the length that an error message shows.
pub(super) fn end_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MAX_STDERR_SHOWN)..]);
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_stream_is_kept() {
        let mut tail = Tail::default();
        tail.push(&vec![b'a'; 2 * MAX_STDERR_BYTES]);
        tail.push(b"the end");
        assert!(tail.text().ends_with("aathe end"));
        assert_eq!(tail.text().len(), MAX_STDERR_SHOWN);
    }

    #[test]
    fn the_output_since_a_given_length_is_kept() {
        let mut tail = Tail::default();
        tail.push(b"before ");
        let mark = tail.len;
        assert_eq!(tail.since(mark), "");
        tail.push(b"after");
        assert_eq!(tail.since(mark), "after");
        tail.push(&vec![b'a'; MAX_STDERR_BYTES]);
        let piece = tail.since(mark);
        assert!(piece.starts_with("[cut: 5 bytes before this are not kept]\naaa"), "{}", &piece[..60]);
    }
}
