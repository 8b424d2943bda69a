//! Files whose names come from outside: where a result goes, what may be read in a folder that others write to, and
//! names that no other process takes.
//!
//! A name may lead to a device, a FIFO, a socket or another user's link. A result never replaces one of these, and a
//! file that was found (and not named by the user) is read only if it is a regular file.

mod fresh;
mod output;
mod place;
mod read;

pub use fresh::fresh_folder;
pub use output::Output;
pub use read::{append, open_found, open_own, open_unlinked, read_found};

use std::path::Path;

/// The folder that a path names a file in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
