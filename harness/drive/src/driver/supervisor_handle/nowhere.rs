//! Without Unix, nothing can be supervised, so nothing is started. Features that start no process work there,
//! too.

use std::convert::Infallible;
use std::io;
use std::os::windows::io::OwnedHandle;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::NotStarted;

/// The standard input of a program.
pub(in super::super) type Input = OwnedHandle;

/// Has no values.
#[derive(Debug)]
pub(in super::super) struct SupervisorHandle(Infallible);

impl SupervisorHandle {
    pub(in super::super) async fn start(
        _command: Command,
        _stdin: Option<Input>,
    ) -> Result<(Child, SupervisorHandle), NotStarted> {
        Err(NotStarted::Supervisor(unsupported()))
    }

    pub(in super::super) fn let_go(&self) {
        match self.0 {}
    }

    pub(in super::super) fn interrupt(&self) {
        match self.0 {}
    }

    pub(in super::super) fn see_off(&self, _limit: Duration) {
        match self.0 {}
    }
}

pub(in super::super) fn standard_input() -> io::Result<Input> {
    Err(unsupported())
}

pub(in super::super) fn no_input() -> io::Result<Input> {
    Err(unsupported())
}

pub(in super::super) fn program_status(supervisor: ExitStatus) -> ExitStatus {
    supervisor
}

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "programs can be started on Linux and macOS only")
}
