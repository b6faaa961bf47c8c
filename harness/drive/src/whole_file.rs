//! Files that are written whole or not at all: beside the old one, which then gives way. A disk that is full, or a process
//! that is killed, leaves the old file as it was.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file. One that is there keeps its permissions, and a link to it stays a link.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What is no file, such as a pipe, cannot be replaced.
    let old = match fs::metadata(path) {
        Ok(found) if !found.is_file() => return in_place(path, bytes),
        Ok(found) => Some(found.permissions()),
        Err(_) if fs::symlink_metadata(path).is_ok() => return in_place(path, bytes),
        Err(_) => None,
    };
    let target = match old {
        Some(_) => fs::canonicalize(path)?,
        None => path.to_owned(),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new()
        .prefix(".brickbat-")
        .suffix(".part")
        .permissions(Permissions::from_mode(NEW_FILE))
        .tempfile_in(folder);
    let mut beside = match beside {
        Ok(beside) => beside,
        // A file that may be written can lie in a folder that may not.
        Err(error) if old.is_some() && is_refused(&error) => return in_place(path, bytes),
        Err(error) => return Err(error),
    };
    beside.as_file_mut().write_all(bytes)?;
    if let Some(old) = old {
        beside.as_file().set_permissions(old)?;
    }
    match beside.persist(&target) {
        Ok(_) => Ok(()),
        // A file on which something is mounted cannot give way.
        Err(error) if error.error.kind() == ErrorKind::ResourceBusy => in_place(path, bytes),
        Err(error) => Err(error.error),
    }
}

/// Whether a file can be written, without leaving one behind that was not there.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => File::options().append(true).create(true).open(path).map(drop),
        Err(_) => {
            File::create_new(path)?;
            fs::remove_file(path)
        }
    }
}

fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create(path)?.write_all(bytes)
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// What any program asks for; the user's mask takes away from it.
const NEW_FILE: u32 = 0o666;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_through_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("r.json"), folder.path().join("latest.json"));
        write(&file, b"old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("r.json", &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["latest.json", "r.json"]);
    }

    #[test]
    fn what_is_no_file_is_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write(Path::new("/dev/full"), b"x").is_err());
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), b"x").is_err());
        assert!(write(&folder.path().join("none/r.json"), b"x").is_err());
    }

    #[test]
    fn looking_whether_a_file_can_be_written_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.json");
        check_writable(&file).unwrap();
        assert!(names(folder.path()).is_empty());
        write(&file, b"old").unwrap();
        check_writable(&file).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert!(check_writable(&folder.path().join("none/r.json")).is_err());
    }
}
