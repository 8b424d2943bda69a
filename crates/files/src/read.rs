//! Reads and extends files that were found in a folder and not named by the user. A file is looked at before it is opened:
//! to open a FIFO or a device has effects, on the program at its other end or on the device.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_PATH};
use nix::unistd::Uid;

use crate::held::{HeldFolder, reopen};
use crate::place::check_entry;
use crate::walk::Entry;

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

/// The text of a file that must belong to this user, which is at most so long.
///
/// # Errors
/// As [`open_own`], or it is no UTF-8, or it is longer than `most` bytes.
pub fn read_own(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = open_own(path)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if read as u64 > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too long"));
    }
    Ok(text)
}

/// Adds bytes to the end of a regular file by one write, and makes the file where it is missing. No link is followed in
/// the last part of its name.
///
/// # Errors
/// It cannot be opened or written to, is no regular file, or another user may have put it there.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = HeldFolder::named(crate::folder(path)).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.append(true);
    let mut file = match options.clone().create_new(true).open(folder.within(name)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let held = regular(folder.look(name)?)?;
            let entry = Entry { name: name.to_owned(), found: held.metadata()?, held };
            check_entry(&folder, &entry).map_err(io::Error::other)?;
            reopen(&entry.held, &mut options)?
        }
        made => made?,
    };
    file.write_all(bytes)
}

fn open(path: &Path, flags: i32) -> io::Result<File> {
    let held = OpenOptions::new().read(true).custom_flags(flags | O_PATH).open(path)?;
    reopen(&regular(held)?, OpenOptions::new().read(true))
}

/// Refuses what is held if it is no regular file.
fn regular(held: File) -> io::Result<File> {
    if !held.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::os::unix::net::UnixListener;

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
        // That a socket is one is seen only by a look: to open it is another error.
        let _socket = UnixListener::bind(path("socket")).unwrap();
        for name in ["fifo", "socket", "."] {
            assert_eq!(read_found(&path(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert!(read_found(Path::new("/dev/zero")).is_err());
        assert_eq!(open_unlinked(&path("link")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(open_own(&path("file")).is_ok());
        assert!(open_own(&path("link")).is_err(), "a link was followed");
    }

    #[test]
    fn a_file_of_this_user_is_read_as_far_as_it_may_be_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_own(&path, 4).unwrap(), "text");
        assert_eq!(read_own(&path, 3).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_file_that_another_user_put_there_is_not_extended() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's files need root");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(&path, "theirs").unwrap();
        chown(&path, Some(65534), Some(65534)).unwrap();
        let said = append(&path, b"ours").unwrap_err().to_string();
        assert!(said.contains("belongs to the user"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
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
