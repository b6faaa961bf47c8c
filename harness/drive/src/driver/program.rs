//! A program of the user, as `wrap` runs it: its output goes to the user, and it is ended when Brickbat ends.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Child;

use super::stopwatch::within;
use super::supervisor_handle::{self, NotStarted, SupervisorHandle, program_status};

/// A running program. Dropping it kills every process that it started.
#[derive(Debug)]
pub struct Program {
    supervisor: Child,
    handle: SupervisorHandle,
}

/// The reason why a program does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// There is no such program, or starting it is not permitted.
    #[error("cannot start `{program}`: {source}")]
    Missing { program: String, source: io::Error },
    /// Brickbat cannot supervise it.
    #[error("cannot start `{program}`: {why}")]
    Unguarded { program: String, why: String },
}

impl Program {
    /// Starts a program, with some variables added to Brickbat's and some removed. Its standard input is
    /// Brickbat's, unless that is a terminal, because the supervisor detaches the program from the terminal.
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

    /// Kills it, and every process that it started.
    pub fn kill(&self) {
        self.handle.let_go();
    }

    /// Waits until it and every process that it started are gone.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.supervisor.wait().await.map(program_status)
    }

    /// Like [`Program::ended`], but waits for at most `limit`. `None` if it still runs.
    pub async fn ended_within(&mut self, limit: Duration) -> Option<io::Result<ExitStatus>> {
        let process = self.supervisor.id();
        within(process, limit, self.ended()).await.ok()
    }
}
