//! Removes the folders of dead runs.
//!
//! The folder that they are in may be `/var/tmp`, where every user puts what they like, and dyno may be root. So only a
//! real folder of the same user is touched, into which no other user may write; it is opened once, without following a
//! link, and everything after that goes by the descriptor. What cannot be removed stays.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dyno_files::{HeldFolder, check_lasting_for_root, writable};
use dyno_launch::sweep_memory_caps;
use nix::unistd::Uid;

use super::{LOCK, MAKING, MEMORY, PREFIX, mounted, servers, sockets};
use crate::server::sweep_segments;

/// Modes of a folder into which others may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Removes what dead runs left where no user has named a place: folders in memory and for sockets, control groups, and
/// shared memory.
pub(super) fn sweep_elsewhere() {
    for parent in sockets::parents().chain([PathBuf::from(MEMORY)]) {
        if check_lasting_for_root(&parent).is_ok() {
            sweep(&parent);
        }
    }
    sweep_memory_caps();
    sweep_segments();
}

/// Removes the folders of dead runs in `parent`. What cannot be removed stays.
pub fn sweep(parent: &Path) {
    // The user may name it by a link.
    let Ok(parent) = HeldFolder::open(&parent.join(".")) else { return };
    for name in parent.names().unwrap_or_default() {
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        if let Ok(folder) = own_folder(&parent, &name)
            && let Some(_lock) = Abandoned::find(&folder)
        {
            let _ = remove(&parent, &name, &folder);
        }
    }
}

/// A folder that is this user's alone.
fn own_folder(parent: &HeldFolder, name: &OsStr) -> io::Result<HeldFolder> {
    let folder = parent.folder(name)?;
    let found = folder.about()?;
    let is_own = found.uid() == Uid::effective().as_raw() && found.mode() & WRITABLE_BY_OTHERS == 0;
    // Nothing is mounted on a run's folder itself.
    let is_mounted_on = found.dev() != parent.about()?.dev();
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
    fn find(folder: &HeldFolder) -> Option<Abandoned> {
        match folder.file(LOCK) {
            Ok(lock) => {
                let is_own = lock.metadata().ok()?.uid() == Uid::effective().as_raw();
                // NFS lets only those lock a file for themselves alone who have it open for writing.
                let lock = is_own.then(|| writable(&lock))?.ok()?;
                lock.try_lock().is_ok().then_some(Abandoned::Lock { _lock: lock })
            }
            // The folder may be just being made; but where nothing happened for long, its dyno was killed at that, or an
            // earlier removal stopped halfway.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let age = folder.about().ok()?.modified().ok()?.elapsed().ok()?;
                (age > MAKING).then_some(Abandoned::Old)
            }
            Err(_) => None,
        }
    }
}

/// Removes a dead run's folder, unless something is mounted in it that dyno did not mount.
fn remove(parent: &HeldFolder, name: &OsStr, folder: &HeldFolder) -> io::Result<()> {
    if !mounted::let_go_of_all(folder) {
        return Err(ErrorKind::ResourceBusy.into());
    }
    servers::end_all(folder);
    for entry in fs::read_dir(folder.within(""))?.flatten() {
        // The type is that of the entry and not of a link's target; neither call follows one.
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    parent.remove_folder(name)
}
