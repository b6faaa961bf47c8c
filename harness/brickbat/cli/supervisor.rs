//! `brickbat supervisor`: hidden, because only brickbat itself starts it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::error::{CliError, Outcome};
#[cfg(unix)]
use brickbat_drive::driver::supervisor;

/// Guard a program, or without a program the temporary directory of a run, for as long as brickbat holds the socket on
/// standard input.
#[derive(Args)]
#[command(hide = true)]
pub(super) struct Supervisor {
    /// The temporary directory of the run.
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Supervisor {
    pub(super) fn execute(&self) -> Outcome {
        #[cfg(not(unix))]
        return Err(CliError::input("programs can be started on Linux and macOS only"));
        #[cfg(unix)]
        match (self.program.split_first(), &self.folder) {
            (Some((program, args)), folder) => Ok(supervisor::supervise(folder.as_deref(), program, args)),
            (None, Some(folder)) => Ok(supervisor::reap_folder(folder)),
            (None, None) => Err(CliError::input("a supervisor needs a program or a directory")),
        }
    }
}
