//! A run's temporary folder. It contains everything that a system writes, and is removed after the run.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Child;

use super::error::DriverError;
use super::supervisor_handle::{self, SupervisorHandle};

/// A temporary folder with a reaper, which is a supervisor that removes the folder regardless of how this
/// process ends.
///
/// Dropping it waits, for a bounded time, until the folder is gone; the adapters that work in it end first.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    handle: SupervisorHandle,
    reaper: Child,
}

/// The parts of the folder: the system's home, and its temporary files.
const HOME: &str = "home";
const TEMPORARY: &str = "tmp";

/// The time limit for the reaper: supervisors kill their programs in milliseconds, and a system may leave
/// many files.
const REAPER_WAIT: Duration = Duration::from_secs(20);

impl Scratch {
    /// Creates a folder that only this user can read, in the operating system's folder for temporary files.
    /// `supervisor` is the program `brickbat`.
    pub async fn create(supervisor: &Path) -> Result<Scratch, DriverError> {
        let failed = |error| DriverError::harness("cannot create a temporary folder", error);
        let unique = RandomState::new().hash_one(std::process::id());
        let path = std::env::temp_dir().join(format!("brickbat-{unique:016x}"));
        let path = std::path::absolute(path).map_err(failed)?;
        let mut command = supervisor_handle::command::<&str>(supervisor, Some(&path), []);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let (reaper, handle) =
            SupervisorHandle::start(command, None).await.map_err(std::io::Error::other).map_err(failed)?;
        let folder = Scratch { path, handle, reaper };
        for part in [home(&folder.path), temporary(&folder.path)] {
            std::fs::create_dir(part).map_err(failed)?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The path in that folder that a system sees as the user's home.
pub(crate) fn home(folder: &Path) -> PathBuf {
    folder.join(HOME)
}

/// The path in that folder for a system's temporary files.
pub(super) fn temporary(folder: &Path) -> PathBuf {
    folder.join(TEMPORARY)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The reaper ends when it has removed the folder.
        self.handle.see_off(REAPER_WAIT);
        let _ = self.reaper.try_wait();
    }
}
