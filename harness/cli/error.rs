//! Why a command ends before its work is done.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Exit code for wrong arguments or input; clap uses it for wrong usage as well.
pub(super) const BAD_INPUT: u8 = 2;

/// Exit code when something could not be judged, or could not even start.
pub(super) const UNJUDGED: u8 = 3;

/// What a command comes to: its exit code, or why there is none.
pub(super) type Outcome = Result<u8, CliError>;

/// Any error, or words of our own.
type BoxedCause = Box<dyn Error + Send + Sync>;

/// Why a command ends early.
#[derive(Debug)]
pub(super) enum CliError {
    /// Arguments or files that cannot be worked with.
    Input(BoxedCause),
    /// Brickbat, or a system, does not start.
    Start(BoxedCause),
    /// The user interrupted it, which has been reported.
    Interrupted,
}

impl CliError {
    pub(super) fn input(cause: impl Into<BoxedCause>) -> CliError {
        CliError::Input(cause.into())
    }

    pub(super) fn start(cause: impl Into<BoxedCause>) -> CliError {
        CliError::Start(cause.into())
    }

    pub(super) fn cannot_read(file: impl Display, why: impl Display) -> CliError {
        CliError::input(format!("cannot read {file}: {why}"))
    }

    pub(super) fn cannot_write(file: impl Display, why: impl Display) -> CliError {
        CliError::input(format!("cannot write {file}: {why}"))
    }

    /// A file that must not be there yet could not be written. If it is there, `way_out` says what to do.
    pub(super) fn cannot_write_new(file: &Path, why: io::Error, way_out: &str) -> CliError {
        match why.kind() {
            ErrorKind::AlreadyExists => {
                CliError::input(format!("{} is there already\nhint: {way_out}", file.display()))
            }
            _ => CliError::cannot_write(file.display(), why),
        }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            CliError::Input(_) => BAD_INPUT,
            CliError::Start(_) | CliError::Interrupted => UNJUDGED,
        }
    }

    /// Prints the error and gives its exit code.
    pub(super) fn report(&self) -> u8 {
        match self {
            CliError::Input(cause) | CliError::Start(cause) => super::output::error(cause),
            CliError::Interrupted => {}
        }
        self.exit_code()
    }
}

/// Whatever a library crate rejects is wrong input, unless the command says otherwise.
impl<E: Error + Send + Sync + 'static> From<E> for CliError {
    fn from(error: E) -> CliError {
        CliError::input(error)
    }
}

/// A value of an option that is not understood, and what would be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UnknownName(pub(super) String);
