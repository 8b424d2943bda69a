//! Reads and extends files that were found in a folder and not named by the user: never waiting for a FIFO's other end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::Uid;

/// Opens a regular file for reading. A link is followed.
///
/// # Errors
/// It cannot be opened, or is a device, a FIFO, a socket or a folder.
pub fn open_found(path: &Path) -> io::Result<File> {
    open(path, 0)
}

/// Opens a regular file for reading, and follows no link in its last part.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    open(path, O_NOFOLLOW)
}

/// The same of a file that must belong to this user: for files by which processes of one user talk to each other in a
/// folder that others may write to.
///
/// # Errors
/// It cannot be opened, is no regular file, or belongs to another user.
pub fn open_own(path: &Path) -> io::Result<File> {
    let file = open_unlinked(path)?;
    if file.metadata()?.uid() != Uid::effective().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    Ok(file)
}

/// The text of a regular file.
///
/// # Errors
/// As [`open_found`], or it is no UTF-8.
pub fn read_found(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_found(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Adds bytes to the end of a regular file by one write, and makes the file where there is none. No link is followed.
///
/// # Errors
/// It cannot be opened or written to, or is no regular file.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    regular(OpenOptions::new().append(true).create(true), path, O_NOFOLLOW)?.write_all(bytes)
}

fn open(path: &Path, flags: i32) -> io::Result<File> {
    regular(OpenOptions::new().read(true), path, flags)
}

fn regular(options: &mut OpenOptions, path: &Path, flags: i32) -> io::Result<File> {
    let file = options.custom_flags(flags | O_NONBLOCK | O_NOCTTY).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        symlink("file", path("link")).unwrap();
        mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        assert_eq!(read_found(&path("file")).unwrap(), "text");
        assert_eq!(read_found(&path("link")).unwrap(), "text");
        for name in ["fifo", "."] {
            assert_eq!(read_found(&path(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert!(read_found(Path::new("/dev/zero")).is_err());
        assert!(open_own(&path("file")).is_ok());
        assert!(open_own(&path("link")).is_err(), "a link was followed");
    }
    #[test]
    fn only_regular_files_are_extended() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        append(&path("file"), b"one\n").unwrap();
        append(&path("file"), b"two\n").unwrap();
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "one\ntwo\n");
        symlink("file", path("link")).unwrap();
        mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        for name in ["link", "fifo", "."] {
            assert!(append(&path(name), b"three\n").is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "one\ntwo\n");
    }
}
