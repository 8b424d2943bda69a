//! Names that no other process has taken: `name`, then `name-2`, `name-3` and so on.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, Result, bail, ensure};
use nix::unistd::Uid;

use crate::held::{HeldFolder, PRIVATE};

const OF_OTHERS: u32 = 0o077;

/// Names without end; `ending` begins with its dot, or is empty.
pub(crate) fn names(stem: &str, ending: &str) -> impl Iterator<Item = OsString> {
    (1_u64..).map(move |number| {
        let mut name = OsString::from(stem);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        name.push(ending);
        name
    })
}

impl HeldFolder {
    /// Makes a folder in it that only its owner may enter. Where the name is taken, a number follows `stem`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_fresh(&self, stem: &str) -> Result<HeldFolder> {
        for name in names(stem, "") {
            let path = self.path().join(&name);
            match self.make(&name, PRIVATE) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot make {}", path.display())),
                Ok(()) => return hold(self, &name),
            }
        }
        bail!("no name is free in {}", self.path().display())
    }
}

/// Takes hold of a folder that was just made, and makes sure that it is this one.
fn hold(parent: &HeldFolder, name: &OsStr) -> Result<HeldFolder> {
    let path = parent.path().join(name);
    let folder = parent.folder(name).with_context(|| format!("cannot enter {}", path.display()))?;
    let found = folder.about()?;
    ensure!(
        found.uid() == Uid::effective().as_raw() && found.mode() & OF_OTHERS == 0,
        "{} is no longer the folder that dyno made there: another user has put one in its place; name another place",
        path.display()
    );
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_fresh_folder_is_its_owners_alone_and_has_a_name_that_was_free() {
        let place = tempfile::tempdir().unwrap();
        let within = place.path().join("below");
        for name in ["new", "new-2"] {
            let made = HeldFolder::named(&within).unwrap().make_fresh("new").unwrap();
            assert_eq!(made.path(), within.join(name));
            assert_eq!(fs::metadata(made.path()).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn what_takes_the_name_of_a_fresh_folder_gets_nothing() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let made = HeldFolder::named(place.path()).unwrap().make_fresh("new").unwrap();
        fs::rename(path("new"), path("moved")).unwrap();
        fs::create_dir(path("theirs")).unwrap();
        symlink("theirs", path("new")).unwrap();
        fs::write(made.within("file"), "text").unwrap();
        assert_eq!(fs::read_to_string(path("moved/file")).unwrap(), "text");
        assert_eq!(fs::read_dir(path("theirs")).unwrap().count(), 0);
    }
}
