//! The user's files. Only regular files are opened, because a pipe or a device may never end, or block when
//! it is opened.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file, or a link to one.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => File::open(path),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Opens a regular file, or standard input for `-`.
pub(super) fn open_or_stdin(path: &str) -> io::Result<Box<dyn Read>> {
    if path == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    match open(Path::new(path)) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) if error.kind() == io::ErrorKind::Other => {
            Err(io::Error::other(format!("{error}\nhint: `-` reads standard input: COMMAND | brickbat … -")))
        }
        Err(error) => Err(error),
    }
}

/// The text of a regular file with at most `max_bytes` bytes.
pub(super) fn text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.take(max_bytes + 1).read_to_string(&mut text)?;
    match text.len() as u64 > max_bytes {
        true => Err(io::Error::other(format!("it is too large: more than {max_bytes} bytes"))),
        false => Ok(text),
    }
}
