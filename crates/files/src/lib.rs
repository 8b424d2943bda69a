//! Files whose names come from outside: where a result goes, what may be read in a folder that others write to, and
//! names that no other process takes.
//!
//! A name may lead to a device, a FIFO, a socket or another user's link. A result never replaces one of these, and goes
//! over no link and into no file that another user may have put there; a file that was found (and not named by the user)
//! is read only if it is a regular file; a folder in which dyno trusts what it finds is one that no other user can change.

mod build_folder;
mod fresh;
mod guard;
mod held;
mod in_place;
mod notice;
mod output;
mod owner;
mod place;
mod read;
mod same;
mod walk;

pub use build_folder::BuildFolder;
pub use guard::{check_guarded, check_lasting_for_root};
pub use held::{Found, HeldFolder, writable};
pub use in_place::FileInPlace;
pub use notice::{notice, notices_to};
pub use output::Output;
pub use owner::{is_open, is_trusted, user_name};
pub use read::{append, open_found, open_own, open_unlinked, read_found, read_own};
pub use same::is_same_file;

use std::path::Path;

/// The folder that a path names a file in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
