//! Brickbat's side of a guardian: starts it, hands the program's standard input over, and holds the socket.

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

use super::guardian::{NO_GUARD, NO_PROGRAM, SIGNALLED, STARTED};

/// What holds a guardian to its task: when it is dropped, or when this process ends in any way, the guardian ends
/// what it guards.
#[derive(Debug)]
pub(super) struct Leash(Mutex<Option<UnixStream>>);

/// Why there is no guarded process.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    #[error("its guardian does not come up: {0}")]
    Guardian(#[source] io::Error),
    #[error("{0}")]
    Program(#[source] io::Error),
}

/// The command that starts a guardian with that program, or the keeper of that folder. What is set on it, such as the
/// environment, the working folder and the other pipes, is the program's.
pub(super) fn command<S: AsRef<OsStr>>(
    guardian: &Path,
    folder: Option<&Path>,
    program: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(guardian);
    command.arg("guardian");
    if let Some(folder) = folder {
        command.arg("--folder").arg(folder);
    }
    command.arg("--").args(program);
    command
}

/// How long a guardian may take to say that its program runs: it takes milliseconds, and the machine may be loaded.
const START_WAIT: Duration = Duration::from_secs(30);

/// A guardian says one short line.
const MAX_LINE_BYTES: u64 = 4 << 10;

impl Leash {
    /// Starts a guardian. With a program, `stdin` is what the program reads.
    pub(super) async fn put_on(
        mut command: Command,
        stdin: Option<OwnedFd>,
    ) -> Result<(Child, Leash), NotStarted> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(NotStarted::Guardian)?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
        // The command holds the guardian's end: dropped, the guardian's death can be heard.
        drop(command);
        let child = child.map_err(NotStarted::Guardian)?;
        let listening = async {
            if let Some(stdin) = stdin {
                hand_over(&ours, &stdin)?;
            }
            ours.set_nonblocking(true)?;
            let mut ours = UnixStream::from_std(ours)?;
            let line = tokio::time::timeout(START_WAIT, first_line(&mut ours)).await??;
            Ok::<_, io::Error>((ours, line))
        };
        let (ours, line) = listening.await.map_err(NotStarted::Guardian)?;
        match understood(&line) {
            Ok(()) => Ok((child, Leash(Mutex::new(Some(ours))))),
            Err(error) => Err(error),
        }
    }

    /// Lets go: the guardian kills what it guards and ends.
    pub(super) fn let_go(&self) {
        self.take();
    }

    /// Takes the socket off, for whoever wants to wait for the guardian's end on it.
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

/// What the guardian's line means.
fn understood(line: &str) -> Result<(), NotStarted> {
    if line == STARTED {
        return Ok(());
    }
    if let Some(number) = line.strip_prefix(NO_PROGRAM).and_then(|number| number.parse().ok()) {
        return Err(NotStarted::Program(io::Error::from_raw_os_error(number)));
    }
    Err(NotStarted::Guardian(io::Error::other(line.strip_prefix(NO_GUARD).unwrap_or(line).to_owned())))
}

/// The highest number of a signal.
const MAX_SIGNAL: i32 = 64;

/// How the guarded program ended, by how its guardian did.
///
/// A program that exits with 128 and the number of a signal is taken for one that was ended by it, as by shells.
pub(super) fn program_status(guardian: ExitStatus) -> ExitStatus {
    match guardian.code().map(|code| code - SIGNALLED) {
        Some(signal @ 1..=MAX_SIGNAL) => ExitStatus::from_raw(signal),
        _ => guardian,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guardian_tells_what_is_missing() {
        assert!(understood("started").is_ok());
        let missing = understood("no-program 2");
        assert!(
            matches!(&missing, Err(NotStarted::Program(error)) if error.kind() == io::ErrorKind::NotFound)
        );
        let unfit = understood("no-guard the run is over").expect_err("an error");
        assert_eq!(unfit.to_string(), "its guardian does not come up: the run is over");
    }

    #[test]
    fn signals_come_back_as_signals() {
        let exited = |code: i32| program_status(ExitStatus::from_raw(code << 8)).to_string();
        assert_eq!(exited(3), "exit status: 3");
        assert_eq!(exited(137), "signal: 9 (SIGKILL)");
        assert_eq!(exited(255), "exit status: 255");
    }
}
