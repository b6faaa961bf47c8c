//! `brickbat guardian`: hidden, because only brickbat itself starts it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::bad_input;
use brickbat_drive::driver::guardian;

/// Guards a program, or without a program the temporary folder of a run, for as long as brickbat holds the socket on
/// standard input.
#[derive(Args)]
pub(super) struct Guardian {
    /// The temporary folder of the run.
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Guardian {
    pub(super) fn execute(&self) -> u8 {
        match (self.program.split_first(), &self.folder) {
            (Some((program, args)), folder) => guardian::guard(folder.as_deref(), program, args),
            (None, Some(folder)) => guardian::keep(folder),
            (None, None) => bad_input("error: a guardian needs a program or a folder"),
        }
    }
}
