//! What is wrong with a run folder.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a run folder cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderError {
    /// There is something in that place that is not ours.
    Strange {
        /// Which.
        path: PathBuf,
    },
    /// A file cannot be written.
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The folder holds no run.
    NoRun {
        /// Which.
        path: PathBuf,
    },
    /// A file cannot be read, or is wrong.
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl FolderError {
    pub(super) fn strange(path: &Path) -> FolderError {
        FolderError::Strange { path: path.to_owned() }
    }

    pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> FolderError {
        FolderError::Unwritable { path: path.to_owned(), why: error.to_string() }
    }
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FolderError::Strange { path } => write!(
                f,
                "error: {} holds something that is not a run of brickbat, and nothing of it is overwritten\n\
                 hint: give --out a folder that is new, empty, or of an earlier run",
                path.display()
            ),
            FolderError::Unwritable { path, why } => {
                write!(f, "error: cannot write {}: {why}", path.display())
            }
            FolderError::NoRun { path } => write!(
                f,
                "error: {} is not a run folder of this version of brickbat\n\
                 hint: `brickbat run --out DIR` makes one",
                path.display()
            ),
            FolderError::Unreadable { path, why } => {
                write!(f, "error: cannot read {}: {why}", path.display())
            }
        }
    }
}

impl std::error::Error for FolderError {}
