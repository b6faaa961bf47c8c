//! Files that are written completely or not at all: they are written to the disk under another name, and then
//! renamed.
//!
//! A full disk or a killed process leaves the old file unchanged. A file that is replaced keeps its
//! permissions and, as far as the user may change it, its owner. A link stays a link: its target is replaced.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile, PersistError};

/// The users who may read a file that did not exist before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// Those that the user's umask allows.
    All,
    /// Only the owner, because the file may contain text of a session.
    Owner,
}

/// Writes a file, such as a report.
///
/// # Errors
///
/// Returns the error of the file system, and leaves an old file as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_for(path, bytes, Readers::All)
}

/// Writes a file with text of a session. Only its owner may read it, unless it existed before.
///
/// # Errors
///
/// Returns the error of the file system, and leaves an old file as it was.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_for(path, bytes, Readers::Owner)
}

/// Writes a file that must not exist yet, with the permissions and the owner of another.
///
/// # Errors
///
/// Returns `AlreadyExists` if there is a file or a link at the path, otherwise the error of the file system.
pub fn create_like(like: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let like = fs::metadata(like)?;
    put(beside(path, Readers::Owner)?, bytes, Some(&like), |file| match file.persist_noclobber(path) {
        // This needs hard links, which some file systems lack; there another process may create the file in
        // between.
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists && path.symlink_metadata().is_err() => {
            error.file.persist(path)
        }
        placed => placed,
    })
}

fn write_for(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let old = match fs::metadata(path) {
        // A terminal, a pipe or a device cannot be replaced.
        Ok(found) if !found.is_file() => return in_place(path, bytes),
        Ok(found) => Some(found),
        // Neither can a dangling link.
        Err(_) if fs::symlink_metadata(path).is_ok() => return in_place(path, bytes),
        Err(_) => None,
    };
    let target = match old {
        Some(_) => fs::canonicalize(path)?,
        None => path.to_owned(),
    };
    let file = match beside(&target, readers) {
        Ok(file) => file,
        // A writable file can be in a directory that is not writable.
        Err(error) if old.is_some() && is_refused(&error) => return in_place(path, bytes),
        Err(error) => return Err(error),
    };
    match put(file, bytes, old.as_ref(), |file| file.persist(&target)) {
        // A file that is a mount point cannot be replaced.
        Err(error) if error.kind() == ErrorKind::ResourceBusy => in_place(path, bytes),
        written => written,
    }
}

/// Creates a temporary file in the directory of another file.
fn beside(path: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".brickbat-").suffix(".part");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(match readers {
        Readers::All => 0o666,
        Readers::Owner => 0o600,
    }));
    #[cfg(not(unix))]
    let _ = readers;
    builder.tempfile_in(folder)
}

/// Writes the bytes to the disk, then renames the file. If that fails, the file is removed.
fn put(
    mut file: NamedTempFile,
    bytes: &[u8],
    like: Option<&Metadata>,
    place: impl FnOnce(NamedTempFile) -> Result<File, PersistError>,
) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(like) = like {
        permit(file.as_file(), like)?;
    }
    file.as_file().sync_all()?;
    place(file).map(drop).map_err(|error| error.error)
}

/// Gives a file the owner and the permissions of another, as far as the user is allowed to.
#[cfg(unix)]
fn permit(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let own = file.metadata()?;
    let has_owner = own.uid() == like.uid() || fchown(file, Some(like.uid()), None).is_ok();
    let has_group = own.gid() == like.gid() || fchown(file, None, Some(like.gid())).is_ok();
    let mut mode = like.mode() & 0o777;
    // This file has another group, for which the bits were not meant.
    if !has_group {
        mode &= !0o070;
    }
    if !has_owner {
        mode |= 0o600;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Gives a file the permissions of another.
#[cfg(not(unix))]
fn permit(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Returns an error if a file cannot be written. A file that did not exist is not left behind.
///
/// # Errors
///
/// The error of the file system.
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_through_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("r.json"), folder.path().join("latest.json"));
        write(&file, b"old").unwrap();
        set_mode(&file, 0o640);
        symlink("r.json", &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o640, b"new".to_vec()));
        write_private(&link, b"private").unwrap();
        assert_eq!((mode(&file), fs::read(&file).unwrap()), (0o640, b"private".to_vec()));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["latest.json", "r.json"]);
    }

    #[test]
    fn a_copy_keeps_the_permissions_and_a_new_private_file_is_only_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let [original, copy, new] = ["a", "b", "c"].map(|name| folder.path().join(name));
        fs::write(&original, "words").unwrap();
        for bits in [0o600, 0o640, 0o444, 0o666] {
            set_mode(&original, bits);
            create_like(&original, &copy, b"copy").unwrap();
            assert_eq!(mode(&copy), bits);
            fs::remove_file(&copy).unwrap();
        }
        write_private(&new, b"new").unwrap();
        assert_eq!(mode(&new), 0o600);
        assert_eq!(names(folder.path()), ["a", "c"]);
    }

    #[test]
    fn a_new_file_never_overwrites_another_and_leaves_no_remains() {
        let folder = tempfile::tempdir().unwrap();
        let [original, link] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&original, "words").unwrap();
        symlink(folder.path().join("nowhere"), &link).unwrap();
        for path in [&original, &link] {
            let error = create_like(&original, path, b"copy").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(&original).unwrap(), b"words");
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_full_disk_leaves_no_half_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let full = |file| Err(PersistError { error: ErrorKind::StorageFull.into(), file });
        let failed = put(beside(&path, Readers::All).unwrap(), b"words", None, full);
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_device_is_written_in_place() {
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write(Path::new("/dev/full"), b"x").is_err());
        let folder = tempfile::tempdir().unwrap();
        assert!(write(folder.path(), b"x").is_err());
        assert!(write(&folder.path().join("none/r.json"), b"x").is_err());
    }

    #[test]
    fn checking_that_a_file_can_be_written_leaves_no_file() {
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
