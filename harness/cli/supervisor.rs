//! `brickbat supervisor`: hidden, because only brickbat itself starts it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::bad_input;
use brickbat_drive::driver::supervisor;

/// Guards a program, or without a program the temporary folder of a run, for as long as brickbat holds the socket on
/// standard input.
#[derive(Args)]
pub(super) struct Supervisor {
    /// The temporary folder of the run.
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Supervisor {
    pub(super) fn execute(&self) -> u8 {
        match (self.program.split_first(), &self.folder) {
            (Some((program, args)), folder) => supervisor::supervise(folder.as_deref(), program, args),
            (None, Some(folder)) => supervisor::reap_folder(folder),
            (None, None) => bad_input("error: a supervisor needs a program or a folder"),
        }
    }
}
