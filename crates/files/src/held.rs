//! Folders that are held open, in which another user may exchange names at any moment: a folder that others may write to,
//! or one of a server's account.
//!
//! dyno works in them as root, and a name that was that of a file may have become a link to a file of root's. So dyno
//! looks names up in a folder that it holds, follows no link, and works with what it found, whatever becomes of the
//! name.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{OFlag, openat, readlinkat};
use nix::libc::{O_NOCTTY, O_NONBLOCK};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use crate::owner::{is_closed, may_list_others};

/// The rights of a new folder: its owner's alone.
pub(crate) const PRIVATE: u32 = 0o700;

/// A folder that is held open, but not for reading: one that this user may only pass through is held too.
#[derive(Debug)]
pub struct HeldFolder {
    file: File,
    path: PathBuf,
}

/// An entry of a folder.
#[derive(Debug)]
pub enum Found {
    /// A folder.
    Folder(HeldFolder),
    /// A regular file, open for reading.
    File(File),
    /// A symbolic link, with what it names.
    Link(PathBuf),
    /// A socket or a FIFO.
    Channel,
    /// A device.
    Device,
}

impl HeldFolder {
    /// Takes hold of a folder. Links on the way to it are followed, and so must not be another user's; one in its place is
    /// not.
    ///
    /// # Errors
    /// It cannot be entered, or is no folder.
    pub fn open(path: &Path) -> io::Result<HeldFolder> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
        Ok(HeldFolder { file, path: if path == Path::new(".") { PathBuf::new() } else { path.to_owned() } })
    }

    /// Its path when it was taken hold of, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path by which this process reaches something in it, wherever the folder has been moved to.
    pub fn within(&self, name: impl AsRef<Path>) -> PathBuf {
        by_descriptor(&self.file).join(name)
    }

    /// Its owner and permissions.
    pub fn about(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// True if it belongs to a user whom dyno trusts, as root and the one who runs it, and no other can exchange what is
    /// in it.
    pub fn is_own(&self) -> io::Result<bool> {
        let about = self.about()?;
        Ok(is_closed(&about) && !self.may_list_others(&about))
    }

    /// True if an access list may let others than its owner and its group write to it.
    pub(crate) fn may_list_others(&self, about: &Metadata) -> bool {
        may_list_others(&self.within(""), about)
    }

    /// The names in it, in order.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let names = fs::read_dir(self.within(""))?.map(|entry| Ok(entry?.file_name()));
        let mut names = names.collect::<io::Result<Vec<OsString>>>()?;
        names.sort();
        Ok(names)
    }

    /// The entry of a name, with its owner and permissions.
    pub fn find(&self, name: impl AsRef<OsStr>) -> io::Result<(Found, Metadata)> {
        let held = self.look(name.as_ref())?;
        let about = held.metadata()?;
        let kind = about.file_type();
        let found = match () {
            () if kind.is_dir() => {
                Found::Folder(HeldFolder { file: held, path: self.path.join(name.as_ref()) })
            }
            () if kind.is_file() => Found::File(reopen(&held, OpenOptions::new().read(true))?),
            () if kind.is_symlink() => Found::Link(readlinkat(&held, "")?.into()),
            () if kind.is_socket() || kind.is_fifo() => Found::Channel,
            () => Found::Device,
        };
        Ok((found, about))
    }

    /// A folder in it, which is neither read nor asked anything: the program of a file system that is mounted there may be
    /// dead.
    ///
    /// # Errors
    /// It cannot be entered, or is no folder.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<HeldFolder> {
        let file = self.open_at(name.as_ref(), OFlag::O_DIRECTORY)?;
        Ok(HeldFolder { file, path: self.path.join(name.as_ref()) })
    }

    /// A regular file in it or in a folder within it, open for reading.
    ///
    /// # Errors
    /// It cannot be opened, is no regular file, or a link stands on the way to it.
    pub fn file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let mut parts = path.as_ref().components();
        // `..` leads out.
        let Some(Component::Normal(name)) = parts.next() else { return Err(ErrorKind::InvalidInput.into()) };
        let rest = parts.as_path();
        match self.find(name)?.0 {
            Found::Folder(folder) if !rest.as_os_str().is_empty() => folder.file(rest),
            Found::File(file) if rest.as_os_str().is_empty() => Ok(file),
            _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
        }
    }

    /// Makes a folder in it, which this user alone may enter.
    ///
    /// # Errors
    /// The name is taken, or no folder can be made.
    pub fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<HeldFolder> {
        self.make(name.as_ref(), PRIVATE)?;
        self.folder(name)
    }

    /// Makes a file in it, open for writing.
    ///
    /// # Errors
    /// The name is taken, or no file can be made.
    pub fn make_file(&self, name: impl AsRef<OsStr>, mode: Mode) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.file, name.as_ref(), flags, mode)?.into())
    }

    /// Makes a symbolic link in it.
    ///
    /// # Errors
    /// The name is taken, or no link can be made.
    pub fn make_link(&self, name: impl AsRef<OsStr>, to: &Path) -> io::Result<()> {
        Ok(symlinkat(to, &self.file, name.as_ref())?)
    }

    /// Removes a name that is not a folder's.
    ///
    /// # Errors
    /// It is not there, or may not be removed.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.file, name.as_ref(), UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes an empty folder in it.
    ///
    /// # Errors
    /// It is not there, is not empty, or may not be removed.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(unlinkat(&self.file, name.as_ref(), UnlinkatFlags::RemoveDir)?)
    }

    /// Makes a folder in it with the rights of a mode that the umask leaves.
    pub(crate) fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(self.within(name))
    }

    /// Takes hold of an entry without opening it: to open a FIFO would wait, and to open a device may change something.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<File> {
        self.open_at(name, OFlag::empty())
    }

    fn open_at(&self, name: &OsStr, flags: OFlag) -> io::Result<File> {
        let flags = flags | OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.file, name, flags, Mode::empty())?.into())
    }
}

impl AsFd for HeldFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The same file, open for writing too.
///
/// # Errors
/// This user may not write to it.
pub fn writable(file: &File) -> io::Result<File> {
    reopen(file, OpenOptions::new().read(true).write(true))
}

/// Opens what is held, which has been looked at, and not what has its name by now.
pub(crate) fn reopen(held: &File, options: &mut OpenOptions) -> io::Result<File> {
    options.custom_flags(O_NONBLOCK | O_NOCTTY).open(by_descriptor(held))
}

/// A path that leads to what is held, past all names.
pub(crate) fn by_descriptor(held: &File) -> PathBuf {
    format!("/proc/self/fd/{}", held.as_raw_fd()).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::unistd::mkfifo;

    use super::*;

    #[test]
    fn what_another_account_put_there_is_seen_and_neither_followed_nor_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let (secret, inner) = (place.path().join("secret"), place.path().join("inner"));
        fs::write(&secret, "private").unwrap();
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), "text").unwrap();
        symlink(&secret, inner.join("link")).unwrap();
        symlink("..", inner.join("up")).unwrap();
        mkfifo(&inner.join("fifo"), Mode::S_IRWXU).unwrap();
        let held = HeldFolder::open(&inner).unwrap();
        assert_eq!(held.names().unwrap(), ["fifo", "file", "link", "up"]);
        assert!(matches!(held.find("link").unwrap().0, Found::Link(to) if to == secret));
        assert!(matches!(held.find("fifo").unwrap().0, Found::Channel));
        assert_eq!(io::read_to_string(held.file(Path::new("file")).unwrap()).unwrap(), "text");
        for name in ["link", "fifo", "up", "up/secret", "../secret", "missing"] {
            assert!(held.file(Path::new(name)).is_err(), "{name}");
        }
        assert!(held.folder("up").is_err() && HeldFolder::open(&inner.join("up")).is_err());
        assert!(held.make_file("link", Mode::S_IRWXU).is_err() && held.make_folder("link").is_err());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "private");
    }

    #[test]
    fn a_folder_stays_the_same_when_a_link_takes_its_name() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("data/inner")).unwrap();
        fs::create_dir(path("other")).unwrap();
        let held = HeldFolder::open(&path("data")).unwrap();
        fs::rename(path("data"), path("moved")).unwrap();
        symlink(path("other"), path("data")).unwrap();
        drop(held.make_file("file", Mode::S_IRUSR).unwrap());
        assert!(path("moved/file").exists() && !path("other/file").exists());
        held.remove("file").unwrap();
        assert_eq!(held.names().unwrap(), ["inner"]);
    }
}
