//! The reasons why a command ends before its work is done.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Exit code for wrong arguments or input; clap also uses it for wrong usage.
pub(super) const BAD_INPUT: u8 = 2;

/// Exit code if something could not be judged, or could not start.
pub(super) const UNJUDGED: u8 = 3;

/// The result of a command: its exit code, or the reason why there is none.
pub(super) type Outcome = Result<u8, CliError>;

/// An error, or a message.
type BoxedCause = Box<dyn Error + Send + Sync>;

/// The reason why a command ends early.
#[derive(Debug)]
pub(super) enum CliError {
    /// Unusable arguments or files.
    Input(BoxedCause),
    /// Brickbat, or a system, does not start.
    Start(BoxedCause),
    /// The user interrupted the command, which has been reported.
    Interrupted,
}

impl CliError {
    pub(super) fn input(cause: impl Into<BoxedCause>) -> CliError {
        CliError::Input(cause.into())
    }

    pub(super) fn start(cause: impl Into<BoxedCause>) -> CliError {
        CliError::Start(cause.into())
    }

    /// A port that is in use, or may not be used.
    pub(super) fn cannot_listen(port: u16, error: &std::io::Error) -> CliError {
        CliError::input(format!(
            "cannot listen on port {port}: {error}\nhint: `--port 0` selects a free port"
        ))
    }

    pub(super) fn cannot_read(file: impl Display, why: impl Into<BoxedCause>) -> CliError {
        CliError::input(FileError { action: "read", file: file.to_string(), source: why.into() })
    }

    pub(super) fn cannot_write(file: impl Display, why: impl Into<BoxedCause>) -> CliError {
        CliError::input(FileError { action: "write", file: file.to_string(), source: why.into() })
    }

    /// An error for a file that must not exist yet and could not be written. If it exists, `way_out` describes
    /// what to do.
    pub(super) fn cannot_write_new(file: &Path, why: io::Error, way_out: &str) -> CliError {
        match why.kind() {
            ErrorKind::AlreadyExists => {
                CliError::input(format!("{} already exists\nhint: {way_out}", file.display()))
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

/// An error from a library crate is wrong input unless the command decides otherwise.
impl<E: Error + Send + Sync + 'static> From<E> for CliError {
    fn from(error: E) -> CliError {
        CliError::input(error)
    }
}

/// A file of the user that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {file}: {source}")]
struct FileError {
    action: &'static str,
    file: String,
    source: BoxedCause,
}

/// An unknown option value, with the known ones.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UnknownName(pub(super) String);
