//! A program of the user's own, as `wrap` runs it: it says what it says to the user, and is ended when Brickbat ends.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Child;

use super::stopwatch::within;
use super::supervisor_handle::{self, NotStarted, SupervisorHandle, program_status};

/// A program that runs. Dropping it kills all that it started.
#[derive(Debug)]
pub struct Program {
    supervisor: Child,
    handle: SupervisorHandle,
}

/// Why a program does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no such program, or it may not be started.
    #[error("cannot start `{program}`: {source}")]
    Missing { program: String, source: io::Error },
    /// Brickbat cannot guard it.
    #[error("cannot start `{program}`: {why}")]
    Unguarded { program: String, why: String },
}

impl Program {
    /// Starts a program, with variables besides those of Brickbat, and without others. What it reads on its standard input
    /// is what Brickbat was given, unless that is a terminal: the supervisor takes the program out of its reach.
    pub async fn start(
        command: &[String],
        set: &BTreeMap<String, String>,
        without: &[&str],
        supervisor: &Path,
    ) -> Result<Program, ProgramError> {
        let program = command.first().cloned().unwrap_or_default();
        let unguarded =
            |error: io::Error| ProgramError::Unguarded { program: program.clone(), why: error.to_string() };
        let stdin = supervisor_handle::standard_input().map_err(unguarded)?;
        let mut started = supervisor_handle::command(supervisor, None, command);
        without.iter().for_each(|name| {
            started.env_remove(name);
        });
        started.envs(set).stdout(Stdio::inherit()).stderr(Stdio::inherit()).kill_on_drop(false);
        match SupervisorHandle::start(started, Some(stdin)).await {
            Ok((supervisor, handle)) => Ok(Program { supervisor, handle }),
            Err(NotStarted::Program(source)) => Err(ProgramError::Missing { program, source }),
            Err(error) => Err(ProgramError::Unguarded { program, why: error.to_string() }),
        }
    }

    /// Interrupts it as Ctrl-C does.
    pub fn interrupt(&self) {
        self.handle.interrupt();
    }

    /// Kills it, and everything that it started.
    pub fn kill(&self) {
        self.handle.let_go();
    }

    /// Waits until it and everything that it started is gone.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.supervisor.wait().await.map(program_status)
    }

    /// The same, for as long as it has been given so much time; nothing if it still runs.
    pub async fn ended_within(&mut self, limit: Duration) -> Option<io::Result<ExitStatus>> {
        let process = self.supervisor.id();
        within(process, limit, self.ended()).await.ok()
    }
}
