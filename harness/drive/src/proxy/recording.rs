//! The rows of a recording: written when exchanges end, without secrets.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

use brickbat_rules::redact::Redactor;

/// A file with a row for each exchange.
#[derive(Debug)]
pub struct Recording {
    file: File,
    /// True if the last row is incomplete: the next one begins on a new line.
    is_torn: bool,
}

impl Recording {
    /// Appends to a file, which from then on only its owner can read.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or cannot be made unreadable for others.
    pub fn open(path: &Path) -> io::Result<Recording> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        // A pipe or a terminal has no other readers to exclude, and no earlier row.
        let is_file = file.metadata()?.is_file();
        if is_file {
            keep_to_owner(&file)?;
        }
        Ok(Recording { is_torn: is_file && is_torn(path)?, file })
    }

    /// Writes a row, redacted.
    pub(super) fn write(&mut self, mut row: Value, redactor: &Redactor) -> io::Result<()> {
        redactor.value(&mut row);
        // In one write, so that rows of two proxies do not mix.
        let begin = if self.is_torn { "\n" } else { "" };
        let written = self.file.write_all(format!("{begin}{row}\n").as_bytes());
        // A full disk may take only a part of a row.
        self.is_torn = written.is_err();
        written
    }
}

/// Removes the permissions of all other users that an earlier mode gave them.
#[cfg(unix)]
fn keep_to_owner(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => file.set_permissions(std::fs::Permissions::from_mode(mode & 0o700)),
    }
}

#[cfg(not(unix))]
fn keep_to_owner(_: &File) -> io::Result<()> {
    Ok(())
}

/// True if a file ends in the middle of a line.
fn is_torn(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_torn_row_is_kept_and_the_next_begins_on_its_own_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rec.jsonl");
        for (before, after) in [
            ("", "{\"n\":1}\n{\"n\":2}\n"),
            ("{\"n\":0}\n", "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n"),
            ("{\"n\":0}\n{\"tex", "{\"n\":0}\n{\"tex\n{\"n\":1}\n{\"n\":2}\n"),
            ("{\"n\":0}", "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n"),
        ] {
            std::fs::write(&path, before).unwrap();
            let mut recording = Recording::open(&path).unwrap();
            recording.write(json!({ "n": 1 }), &Redactor::default()).unwrap();
            recording.write(json!({ "n": 2 }), &Redactor::default()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_row_after_a_failed_one_begins_on_its_own_line() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut recording = Recording { file: full, is_torn: false };
        assert!(recording.write(json!({}), &Redactor::default()).is_err());
        assert!(recording.is_torn);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_could_read_becomes_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rec.jsonl");
        for (before, after) in [(0o644, 0o600), (0o666, 0o600), (0o600, 0o600), (0o640, 0o600)] {
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).unwrap();
            Recording::open(&path).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, after);
        }
    }
}
