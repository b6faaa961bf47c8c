//! The file in which an agent of our own keeps its thread.

use std::path::{Path, PathBuf};

use crate::driver::error::DriverError;

/// A file that always contains the complete last written state, whenever its writer dies.
#[derive(Debug)]
pub struct Store {
    file: PathBuf,
    written: Vec<u8>,
}

impl Store {
    /// The file of a session in its folder. It is not written yet.
    pub fn of_session(folder: &Path, session_id: &str) -> Store {
        Store { file: folder.join(format!("{session_id}.json")), written: Vec::new() }
    }

    /// The content of the file. `None` if there is no file.
    pub fn read(&self) -> Result<Option<Vec<u8>>, DriverError> {
        match std::fs::read(&self.file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", error)),
        }
    }

    /// The state that another process has written since. `None` if the file still contains the last state
    /// written or read here.
    pub fn changed(&mut self) -> Result<Option<Vec<u8>>, DriverError> {
        let Some(bytes) = self.read()?.filter(|bytes| *bytes != self.written) else { return Ok(None) };
        self.written = bytes.clone();
        Ok(Some(bytes))
    }

    /// Writes a state, unless the file contains it already.
    ///
    /// The file is replaced in one step. It is not flushed to the disk, because processes die here and
    /// machines do not.
    /// The write is synchronous, because the caller needs it done before it continues; a thread is a few
    /// kilobytes.
    pub fn write(&mut self, bytes: Vec<u8>) -> Result<(), DriverError> {
        if bytes == self.written {
            return Ok(());
        }
        let beside = self.file.with_extension("json.new");
        let replaced = std::fs::write(&beside, &bytes).and_then(|()| std::fs::rename(&beside, &self.file));
        replaced.map_err(|error| self.failed("write", error))?;
        self.written = bytes;
        Ok(())
    }

    fn failed(&self, what: &str, error: std::io::Error) -> DriverError {
        DriverError::harness(format!("cannot {what} the stored thread in {}", self.file.display()), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_keeps_the_last_state_and_reports_failed_writes() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::of_session(folder.path(), "session-1");
        assert_eq!(store.read(), Ok(None));
        store.write(b"one".to_vec()).unwrap();
        store.write(b"two".to_vec()).unwrap();
        assert_eq!(Store::of_session(folder.path(), "session-1").read(), Ok(Some(b"two".to_vec())));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        folder.close().unwrap();
        let error = store.write(b"three".to_vec()).unwrap_err().to_string();
        assert!(
            error.contains("cannot write the stored thread in") && error.contains("session-1.json"),
            "{error}"
        );
    }
}
