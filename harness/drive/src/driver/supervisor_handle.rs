//! Brickbat's side of a supervisor: starts it, hands the program's standard input over, and holds the socket.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use tokio::process::Command;

#[cfg(not(unix))]
mod nowhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use nowhere::{Input, SupervisorHandle, no_input, program_status, standard_input};
#[cfg(unix)]
pub(super) use unix::{Input, SupervisorHandle, no_input, program_status, standard_input};

/// The reason why there is no supervised process.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    #[error("its supervisor does not start: {0}")]
    Supervisor(#[source] io::Error),
    #[error("{0}")]
    #[cfg_attr(not(unix), expect(dead_code, reason = "nothing can be started there"))]
    Program(#[source] io::Error),
}

/// The command that starts a supervisor with that program, or the reaper of that folder. Settings of the
/// command, such as the environment, the working directory and the other pipes, apply to the program.
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
