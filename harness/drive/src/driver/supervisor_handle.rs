//! Brickbat's side of a supervisor: starts it, hands the program's standard input over, and holds the socket.

use std::ffi::OsStr;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::stopwatch::{TimeOver, within};
use super::supervisor::{INTERRUPT, NO_PROGRAM, NO_SUPERVISOR, SIGNALLED, STARTED};

/// What holds a supervisor to its task: when it is dropped, or when this process ends in any way, the supervisor ends
/// what it supervises.
#[derive(Debug)]
pub(super) struct SupervisorHandle(Mutex<Option<UnixStream>>);

/// Why there is no supervised process.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    #[error("its supervisor does not come up: {0}")]
    Supervisor(#[source] io::Error),
    #[error("{0}")]
    Program(#[source] io::Error),
}

/// The command that starts a supervisor with that program, or the reaper of that folder. What is set on it, such as the
/// environment, the working folder and the other pipes, is the program's.
pub(super) fn command<S: AsRef<OsStr>>(
    supervisor: &Path,
    folder: Option<&Path>,
    program: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(supervisor);
    command.arg("supervisor");
    if let Some(folder) = folder {
        command.arg("--folder").arg(folder);
    }
    command.arg("--").args(program);
    command
}

/// How long a supervisor may take to say that its program runs: it takes milliseconds, and the machine may be loaded.
const START_WAIT: Duration = Duration::from_secs(30);

/// A supervisor says one short line.
const MAX_LINE_BYTES: u64 = 4 << 10;

impl SupervisorHandle {
    /// Starts a supervisor. With a program, `stdin` is what the program reads.
    pub(super) async fn start(
        mut command: Command,
        stdin: Option<OwnedFd>,
    ) -> Result<(Child, SupervisorHandle), NotStarted> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(NotStarted::Supervisor)?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
        // The command holds the supervisor's end: dropped, the supervisor's death can be heard.
        drop(command);
        let child = child.map_err(NotStarted::Supervisor)?;
        let listening = async {
            if let Some(stdin) = stdin {
                hand_over(&ours, &stdin)?;
            }
            ours.set_nonblocking(true)?;
            let mut ours = UnixStream::from_std(ours)?;
            let line = within(child.id(), START_WAIT, first_line(&mut ours)).await;
            let line = line.map_err(|TimeOver| io::ErrorKind::TimedOut)??;
            Ok::<_, io::Error>((ours, line))
        };
        let (ours, line) = listening.await.map_err(NotStarted::Supervisor)?;
        match understood(&line) {
            Ok(()) => Ok((child, SupervisorHandle(Mutex::new(Some(ours))))),
            Err(error) => Err(error),
        }
    }

    /// Lets go: the supervisor kills what it supervises and ends.
    pub(super) fn let_go(&self) {
        self.take();
    }

    /// Has the program interrupted, as by Ctrl-C in a terminal.
    pub(super) fn interrupt(&self) {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = &*socket {
            // A supervisor that is gone has ended its program.
            let _ = socket.try_write(&[INTERRUPT]);
        }
    }

    /// Takes the socket, to wait on it for the supervisor's end.
    pub(super) fn take(&self) -> Option<UnixStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn hand_over(socket: &std::os::unix::net::UnixStream, stdin: &OwnedFd) -> io::Result<()> {
    let descriptors = [stdin.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    // A descriptor travels with at least one byte.
    sendmsg(socket, &[IoSlice::new(b".")], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

async fn first_line(socket: &mut UnixStream) -> io::Result<String> {
    let mut line = Vec::new();
    let mut bytes = socket.take(MAX_LINE_BYTES);
    loop {
        match bytes.read_u8().await? {
            b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            byte => line.push(byte),
        }
    }
}

fn understood(line: &str) -> Result<(), NotStarted> {
    if line == STARTED {
        return Ok(());
    }
    if let Some(number) = line.strip_prefix(NO_PROGRAM).and_then(|number| number.parse().ok()) {
        return Err(NotStarted::Program(io::Error::from_raw_os_error(number)));
    }
    Err(NotStarted::Supervisor(io::Error::other(line.strip_prefix(NO_SUPERVISOR).unwrap_or(line).to_owned())))
}

const MAX_SIGNAL: i32 = 64;

/// How the supervised program ended, by how its supervisor did.
///
/// A program that exits with 128 and the number of a signal is taken for one that was ended by it, as by shells.
pub(super) fn program_status(supervisor: ExitStatus) -> ExitStatus {
    match supervisor.code().map(|code| code - SIGNALLED) {
        Some(signal @ 1..=MAX_SIGNAL) => ExitStatus::from_raw(signal),
        _ => supervisor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_tells_what_is_missing() {
        assert!(understood("started").is_ok());
        let missing = understood("no-program 2");
        assert!(
            matches!(&missing, Err(NotStarted::Program(error)) if error.kind() == io::ErrorKind::NotFound)
        );
        let unfit = understood("no-supervisor the run is over").expect_err("an error");
        assert_eq!(unfit.to_string(), "its supervisor does not come up: the run is over");
    }

    #[test]
    fn signals_come_back_as_signals() {
        let exited = |code: i32| program_status(ExitStatus::from_raw(code << 8)).to_string();
        assert_eq!(exited(3), "exit status: 3");
        assert_eq!(exited(137), "signal: 9 (SIGKILL)");
        assert_eq!(exited(255), "exit status: 255");
    }
}
