//! Removes the folders of dead runs.
//!
//! The folder that they are in may be `/var/tmp`, where every user puts what they like, and dyno may be root. So only a
//! real folder of the same user is touched, into which no other user may write; it is opened once, without following a
//! link, and everything after that goes by the descriptor. What cannot be removed stays.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::Mode;
use nix::unistd::{Uid, UnlinkatFlags, unlinkat};

use super::{LOCK, MAKING, PREFIX, mounted};

/// Modes of a folder into which others may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Removes the folders of dead runs in `parent`. What cannot be removed stays.
pub fn sweep(parent: &Path) {
    // A FIFO of this name would wait for its other end.
    let folder = OpenOptions::new().read(true).custom_flags(OFlag::O_DIRECTORY.bits()).open(parent);
    let Ok(opened) = folder else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        if let Ok(folder) = own_folder(&opened, &name)
            && let Some(_lock) = Abandoned::find(&folder)
        {
            let _ = remove(&opened, &name, &folder);
        }
    }
}

/// Opens a path below a folder, without leaving it and without following a link.
pub(super) fn open_beneath(folder: &File, path: impl AsRef<Path>, flags: OFlag) -> io::Result<File> {
    let path = path.as_ref();
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
    match openat2(folder, path, OpenHow::new().flags(flags).resolve(resolve)) {
        // A kernel or a sandbox without this call: a single name cannot lead over a link all the same.
        Err(Errno::ENOSYS) if path.components().count() == 1 => {
            Ok(openat(folder, path, flags, Mode::empty())?.into())
        }
        opened => Ok(opened?.into()),
    }
}

/// A folder that is this user's alone.
fn own_folder(parent: &File, name: &OsStr) -> io::Result<File> {
    let folder = open_beneath(parent, name, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?;
    let found = folder.metadata()?;
    let is_own = found.uid() == Uid::effective().as_raw() && found.mode() & WRITABLE_BY_OTHERS == 0;
    // Nothing is mounted on a run's folder itself.
    let is_mounted_on = found.dev() != parent.metadata()?.dev();
    if !is_own || is_mounted_on {
        return Err(ErrorKind::PermissionDenied.into());
    }
    Ok(folder)
}

/// The evidence that a run is dead.
enum Abandoned {
    /// Its lock, which no other sweep gets until this is dropped.
    Lock { _lock: File },
    /// No lock after so long that none will come.
    Old,
}

impl Abandoned {
    /// Returns the evidence if a folder belongs to a dead run.
    fn find(folder: &File) -> Option<Abandoned> {
        match open_beneath(folder, LOCK, OFlag::O_RDONLY | OFlag::O_NONBLOCK) {
            Ok(lock) => {
                let found = lock.metadata().ok()?;
                let is_own = found.is_file() && found.uid() == Uid::effective().as_raw();
                (is_own && lock.try_lock().is_ok()).then_some(Abandoned::Lock { _lock: lock })
            }
            // The folder may be just being made; but where nothing happened for long, its dyno was killed at that, or an
            // earlier removal stopped halfway.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let age = folder.metadata().ok()?.modified().ok()?.elapsed().ok()?;
                (age > MAKING).then_some(Abandoned::Old)
            }
            Err(_) => None,
        }
    }
}

/// Removes a dead run's folder, unless something is mounted in it that dyno did not mount.
fn remove(parent: &File, name: &OsStr, folder: &File) -> io::Result<()> {
    if !mounted::let_go_of_all(folder) {
        return Err(ErrorKind::ResourceBusy.into());
    }
    for entry in fs::read_dir(by_descriptor(folder))?.flatten() {
        // The type is that of the entry and not of a link's target; neither call follows one.
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(unlinkat(parent, name, UnlinkatFlags::RemoveDir)?)
}

/// A path that leads to an open file, wherever it has been moved to.
pub(super) fn by_descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
