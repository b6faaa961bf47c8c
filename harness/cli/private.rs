//! Files that hold the words of a session, written so that nobody else gets to read them and that none is ever half there.
//!
//! Each is written next to its place and moved there once it is on the disk. It has the permissions of the file that it
//! comes from, and its owner as far as this user may give a file away; a file that comes from none is for its owner only.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The ending of a file that is being written.
const UNFINISHED: &str = ".brickbat-new";

/// Names that are tried for it: a run that was killed may have left one.
const MAX_NAMES: usize = 100;

/// Writes a file that must not be there yet, for its owner only.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_new(path, bytes, None)
}

/// Writes a file that must not be there yet, and that the same people may read and write as another.
pub(super) fn write_new_like(like: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_new(path, bytes, Some(&fs::metadata(like)?))
}

/// Puts new bytes in the place of a file, which keeps its permissions. Of a link, the file that it leads to is replaced.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let like = fs::metadata(&path)?;
    // A terminal or a pipe is written to as it is.
    if !like.is_file() {
        return fs::write(&path, bytes);
    }
    put(&path, bytes, Some(&like), |beside, path| fs::rename(beside, path))
}

/// Writes a file, which may be there already.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.exists() {
        true => replace(path, bytes),
        false => write_new(path, bytes),
    }
}

fn put_new(path: &Path, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    put(path, bytes, like, |beside, path| match fs::hard_link(beside, path) {
        Ok(()) => fs::remove_file(beside),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // Not every file system has links; there the file may come into being between the look and the move.
        Err(_) if path.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(beside, path),
    })
}

/// Writes the bytes next to a place, and moves them there. Nothing is left of them if that fails.
fn put(
    path: &Path,
    bytes: &[u8],
    like: Option<&Metadata>,
    place: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let (mut file, beside) = unfinished(path)?;
    let written = file.write_all(bytes).and_then(|()| permit(&file, like)).and_then(|()| file.sync_all());
    drop(file);
    let placed = written.and_then(|()| place(&beside, path));
    if placed.is_err() {
        // What was there before is as it was; what was written next to it is of no use.
        let _ = fs::remove_file(&beside);
    }
    placed
}

/// A new file next to a place, which only its owner may read.
fn unfinished(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut taken = None;
    for n in 0..MAX_NAMES {
        let mut beside = path.as_os_str().to_owned();
        beside.push(UNFINISHED);
        if n > 0 {
            beside.push(format!("-{n}"));
        }
        let beside = PathBuf::from(beside);
        match options.open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| ErrorKind::AlreadyExists.into()))
}

/// Gives a file the owner and the permissions of another, as far as this user may.
#[cfg(unix)]
fn permit(file: &File, like: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let Some(like) = like else { return Ok(()) };
    let own = file.metadata()?;
    let has_owner = own.uid() == like.uid() || fchown(file, Some(like.uid()), None).is_ok();
    let has_group = own.gid() == like.gid() || fchown(file, None, Some(like.gid())).is_ok();
    let mut mode = like.mode() & 0o777;
    // Those for whom the bits were meant are others now.
    if !has_group {
        mode &= !0o070;
    }
    if !has_owner {
        mode |= 0o600;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Where files have no modes, they have what the folder gives them.
#[cfg(not(unix))]
fn permit(file: &File, like: Option<&Metadata>) -> io::Result<()> {
    match like {
        Some(like) => file.set_permissions(Permissions::from(like.permissions())),
        None => Ok(()),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_copy_has_the_permissions_of_its_original_and_a_new_file_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let [original, copy, new] = ["a", "b", "c"].map(|name| folder.path().join(name));
        fs::write(&original, "words").unwrap();
        for bits in [0o600, 0o640, 0o444, 0o666] {
            fs::set_permissions(&original, Permissions::from_mode(bits)).unwrap();
            write_new_like(&original, &copy, b"copy").unwrap();
            assert_eq!(mode(&copy), bits);
            replace(&original, b"others").unwrap();
            assert_eq!((mode(&original), fs::read(&original).unwrap()), (bits, b"others".to_vec()));
            fs::remove_file(&copy).unwrap();
        }
        write(&new, b"new").unwrap();
        assert_eq!(mode(&new), 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_there_is_never_overwritten_by_a_new_file_and_nothing_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let [original, link] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&original, "words").unwrap();
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        for path in [&original, &link] {
            let error = write_new_like(&original, path, b"copy").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read(&original).unwrap(), b"words");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_run_has_left_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(folder.path().join("a.brickbat-new"), "half").unwrap();
        write_new(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_full_disk_leaves_no_half_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.backup-1");
        let failed = put(&path, b"words", None, |_, _| Err(ErrorKind::StorageFull.into()));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
