//! Reads the files of a manifest: only regular files, up to a size limit. A path from the user may lead to a
//! device or a pipe, which never ends, or to a file that fills the memory.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use brickbat_scenario::parse::MAX_TEXT;

/// The location of a system's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// Inside the binary: each with its path and its text.
    BuiltIn(&'static [(&'static str, &'static str)]),
    /// In a folder.
    Folder(PathBuf),
}

/// The size limit, in bytes, for a manifest and for each file that it names. It is the same as for
/// scenarios; an adapter takes a few KB.
pub const MAX_FILE: u64 = MAX_TEXT as u64;

impl FileSource {
    /// The text of a file of at most `max_bytes`. `None` if there is no such file.
    pub(super) fn read_text(&self, path: &str, max_bytes: u64) -> Result<Option<String>> {
        match self {
            FileSource::BuiltIn(files) => {
                let found = files.iter().find(|(name, _)| *name == path);
                Ok(found.map(|(_, text)| (*text).to_owned()))
            }
            FileSource::Folder(folder) => read_if_there(&folder.join(path), max_bytes),
        }
    }

    /// The full path of a file in the folder; none for files inside the binary.
    pub(super) fn path(&self, path: &str) -> Option<PathBuf> {
        match self {
            FileSource::BuiltIn(_) => None,
            FileSource::Folder(folder) => Some(folder.join(path)),
        }
    }
}

/// The reason why an existing file is not read.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("not a regular file")]
    Irregular,
    #[error("it has more than {0} bytes")]
    TooLarge(u64),
}

/// The text of a regular file of at most `max_bytes`.
pub(super) fn read(path: &Path, max_bytes: u64) -> Result<String> {
    let unfit = |unfit: Unfit| Error::new(ErrorKind::InvalidInput, unfit);
    // A pipe is not opened, because that would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(unfit(Unfit::Irregular));
    }
    let mut text = String::new();
    let mut file = File::open(path)?.take(max_bytes + 1);
    file.read_to_string(&mut text).map_err(|error| match error.kind() {
        // The limit may cut a character in two.
        ErrorKind::InvalidData if file.limit() == 0 => unfit(Unfit::TooLarge(max_bytes)),
        _ => error,
    })?;
    if text.len() as u64 > max_bytes {
        return Err(unfit(Unfit::TooLarge(max_bytes)));
    }
    Ok(text)
}

/// Like [`read`], but none if there is no such file.
pub(super) fn read_if_there(path: &Path, max_bytes: u64) -> Result<Option<String>> {
    match read(path, max_bytes) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_within_the_bound_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let said = |path: &Path| read(path, 4).map_err(|error| error.to_string());
        fs::write(&path, "four").unwrap();
        assert_eq!(said(&path), Ok("four".to_owned()));
        for longer in ["fives", "thrä", "ööö"] {
            fs::write(&path, longer).unwrap();
            assert_eq!(said(&path), Err("it has more than 4 bytes".to_owned()), "{longer}");
        }
        assert_eq!(said(folder.path()), Err("not a regular file".to_owned()));
        assert!(read_if_there(&folder.path().join("nothing"), 4).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_never_ends_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let error = read(&link, u64::MAX - 1).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file");
    }
}
