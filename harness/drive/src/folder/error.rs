//! The errors of run folders.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The reason why a run folder cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The path contains files that Brickbat did not write.
    #[error(
        "{} contains files that are not from a run of Brickbat; nothing was overwritten\n\
         hint: give --out a new or empty folder, or that of an earlier run", .path.display()
    )]
    Foreign { path: PathBuf },
    /// Another run is writing there.
    #[error(
        "another run of Brickbat is writing to {}, and would lose its cases\n\
         hint: wait until it has ended, or give --out another folder", .path.display()
    )]
    Busy { path: PathBuf },
    #[error("cannot write {}: {source}", .path.display())]
    Unwritable { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is not a run folder of this version of Brickbat\n\
         hint: `brickbat run --out DIR` makes one", .path.display()
    )]
    NoRun { path: PathBuf },
    /// The format is that of another version of Brickbat.
    #[error(
        "{} was written by another version of Brickbat, {brickbat}; this is {}: {source}\n\
         hint: use the version that wrote it, or run again with --out", .path.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherVersion { path: PathBuf, brickbat: String, source: Box<dyn Error + Send + Sync> },
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: Box<dyn Error + Send + Sync> },
}

impl FolderError {
    pub(super) fn foreign(path: &Path) -> FolderError {
        FolderError::Foreign { path: path.to_owned() }
    }

    /// The reason for leaving a folder alone: it is of another version, or of another program.
    pub(super) fn unless_foreign(self, path: &Path) -> FolderError {
        if matches!(self, FolderError::OtherVersion { .. }) { self } else { FolderError::foreign(path) }
    }

    pub(super) fn unwritable(path: &Path, source: std::io::Error) -> FolderError {
        FolderError::Unwritable { path: path.to_owned(), source }
    }

    pub(super) fn unreadable(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> FolderError {
        FolderError::Unreadable { path: path.to_owned(), source: source.into() }
    }
}
