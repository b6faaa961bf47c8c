//! The rows of a recording: written as exchanges end, without secrets.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use brickbat_rules::redact::Redactor;

/// A file with a row for each exchange.
#[derive(Debug)]
pub struct Recording(File);

impl Recording {
    /// Adds to a file, which is made for its owner alone if it is not there.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Recording> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map(Recording)
    }

    /// Writes a row without what must not be in it.
    pub(super) fn write(&mut self, mut row: Value, redactor: &Redactor) -> io::Result<()> {
        redactor.value(&mut row);
        // In one write, so that rows of two proxies do not mix.
        self.0.write_all(format!("{row}\n").as_bytes())
    }
}
