//! Whose files dyno trusts, and which folders no other user can change.

use std::env;
use std::ffi::CString;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::ptr;

use nix::libc;
use nix::unistd::{Gid, Group, Uid, User};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
/// The bit of a folder in which an entry is moved and removed by its owner, the folder's owner and root only.
const STICKY: u32 = 0o1000;

/// True if a user is root or the one who runs dyno. The owner of `/` counts as root: in some containers root is another
/// number.
pub(crate) fn is_own(user: u32) -> bool {
    let owns_all = || fs::metadata("/").is_ok_and(|top| top.uid() == user);
    user == 0 || user == Uid::effective().as_raw() || owns_all()
}

/// True if a user is root, the one who runs dyno, or the one who has `sudo` run it: that user could have root do
/// anything, and names files of the same folders with `sudo` and without.
pub fn is_trusted(user: u32) -> bool {
    is_own(user) || (Uid::effective().is_root() && caller_of_sudo() == Some(user))
}

fn caller_of_sudo() -> Option<u32> {
    env::var("SUDO_UID").ok()?.parse().ok()
}

/// True if others than its owner and root can write to a file, or put files into a folder. A group of which the user is
/// the only member, as many systems give to each user, is no other.
pub fn is_open(found: &Metadata) -> bool {
    let mode = found.mode();
    mode & OTHERS_WRITE != 0 || (mode & GROUP_WRITES != 0 && !is_private(found.gid()))
}

/// True if an access list may let others than the owner and its group write. The bits of the group are then its mask, and
/// say nothing of the group.
pub(crate) fn may_list_others(path: &Path, found: &Metadata) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return true };
    let name = c"system.posix_acl_access";
    // SAFETY: both are C strings, and nothing is written to a buffer of no bytes.
    let bytes = || unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), ptr::null_mut(), 0) };
    found.mode() & GROUP_WRITES != 0 && bytes() > 0
}

/// True if only users whom dyno trusts have put what is there into a folder.
pub(crate) fn is_closed(folder: &Metadata) -> bool {
    is_trusted(folder.uid()) && !is_open(folder)
}

/// True if what its owner has in a folder can be moved and removed by the folder's owner and root only.
pub(crate) fn is_sticky(folder: &Metadata) -> bool {
    folder.mode() & STICKY != 0
}

/// A user, as messages name one.
pub fn user_name(user: u32) -> String {
    match User::from_uid(Uid::from_raw(user)) {
        Ok(Some(known)) => format!("the user {}", known.name),
        _ => format!("the user with the number {user}"),
    }
}

fn is_private(group: u32) -> bool {
    let user = User::from_uid(Uid::effective()).ok().flatten();
    let group = Group::from_gid(Gid::from_raw(group)).ok().flatten();
    user.zip(group).is_some_and(|(user, group)| {
        group.gid == user.gid
            && group.name == user.name
            && group.mem.iter().all(|member| *member == user.name)
    })
}
