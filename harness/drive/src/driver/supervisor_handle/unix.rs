//! A supervisor on Unix: it is started with one end of a socket, and the handle holds the other.

use std::fs::File;
use std::io::{self, IoSlice, IsTerminal, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::super::stopwatch::{TimeOver, within};
use super::super::supervisor::{INTERRUPT, NO_PROGRAM, NO_SUPERVISOR, SIGNALLED, STARTED};
use super::NotStarted;

/// The standard input of a program.
pub(in super::super) type Input = OwnedFd;

/// Keeps a supervisor running. When it is dropped, or when this process ends in any way, the supervisor ends
/// the processes that it supervises.
#[derive(Debug)]
pub(in super::super) struct SupervisorHandle(Mutex<Option<UnixStream>>);

/// The time limit for a supervisor to report that its program runs. It takes milliseconds, but the machine
/// may be loaded.
const START_WAIT: Duration = Duration::from_secs(30);

/// The size limit for a supervisor's message, which is one short line.
const MAX_LINE_BYTES: u64 = 4 << 10;

impl SupervisorHandle {
    /// Starts a supervisor. With a program, `stdin` is the program's standard input.
    pub(in super::super) async fn start(
        mut command: Command,
        stdin: Option<Input>,
    ) -> Result<(Child, SupervisorHandle), NotStarted> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().map_err(NotStarted::Supervisor)?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
        // The command holds the supervisor's end. Once it is dropped, the death of the supervisor closes the
        // socket.
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

    /// Closes the socket: the supervisor kills what it supervises and exits.
    pub(in super::super) fn let_go(&self) {
        self.take();
    }

    /// Interrupts the program, as Ctrl-C does in a terminal.
    pub(in super::super) fn interrupt(&self) {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(socket) = &*socket {
            // A supervisor that is gone has ended its program.
            let _ = socket.try_write(&[INTERRUPT]);
        }
    }

    /// Closes the socket, and waits for at most `limit` until the supervisor has exited. After that it
    /// finishes on its own.
    pub(in super::super) fn see_off(&self, limit: Duration) {
        let Some(socket) = self.take().and_then(|socket| socket.into_std().ok()) else { return };
        let asked = socket
            .set_nonblocking(false)
            .and_then(|()| socket.set_read_timeout(Some(limit)))
            .and_then(|()| socket.shutdown(Shutdown::Write));
        // Signals about ended children interrupt the wait.
        while asked.is_ok()
            && (&socket).read(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
        {
        }
    }

    fn take(&self) -> Option<UnixStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Brickbat's standard input, or no input if that is a terminal.
pub(in super::super) fn standard_input() -> io::Result<Input> {
    let stdin = io::stdin();
    if stdin.is_terminal() { no_input() } else { stdin.as_fd().try_clone_to_owned() }
}

/// An empty input.
pub(in super::super) fn no_input() -> io::Result<Input> {
    Ok(File::open("/dev/null")?.into())
}

fn hand_over(socket: &std::os::unix::net::UnixStream, stdin: &Input) -> io::Result<()> {
    let descriptors = [stdin.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    // A descriptor needs at least one byte of data to travel with.
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

/// The exit status of the supervised program, from that of its supervisor.
///
/// A program that exits with 128 plus the number of a signal is treated as ended by that signal, as in
/// shells.
pub(in super::super) fn program_status(supervisor: ExitStatus) -> ExitStatus {
    match supervisor.code().map(|code| code - SIGNALLED) {
        Some(signal @ 1..=MAX_SIGNAL) => ExitStatus::from_raw(signal),
        _ => supervisor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_reports_a_missing_program() {
        assert!(understood("started").is_ok());
        let missing = understood("no-program 2");
        assert!(
            matches!(&missing, Err(NotStarted::Program(error)) if error.kind() == io::ErrorKind::NotFound)
        );
        let unfit = understood("no-supervisor the run is over").expect_err("an error");
        assert_eq!(unfit.to_string(), "its supervisor does not start: the run is over");
    }

    #[test]
    fn the_status_keeps_the_signal() {
        let exited = |code: i32| program_status(ExitStatus::from_raw(code << 8)).to_string();
        assert_eq!(exited(3), "exit status: 3");
        assert_eq!(exited(137), "signal: 9 (SIGKILL)");
        assert_eq!(exited(255), "exit status: 255");
    }
}
