//! Names that no other process has taken: `name`, then `name-2`, `name-3` and so on.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Names in `folder`, without end; `ending` begins with its dot, or is empty.
pub(crate) fn names(folder: &Path, stem: &str, ending: &str) -> impl Iterator<Item = PathBuf> {
    (1_u64..).map(move |number| {
        let mut name = OsString::from(stem);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        name.push(ending);
        folder.join(name)
    })
}

/// Makes a new folder within `place`, which is made as well where it is missing.
///
/// # Errors
/// It cannot be made.
pub fn fresh_folder(place: &Path, stem: &str) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).create(place)?;
    for path in names(place, stem, "") {
        match DirBuilder::new().create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}
