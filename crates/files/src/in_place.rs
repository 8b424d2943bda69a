//! Files that a library opens by path and changes where they are, such as the databases of SQLite. The user names them, so
//! they are found by the rules of [`crate::place`].

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::held::reopen;
use crate::place::{End, FilePlace, Place, Wanted, check_entry, end, kind};
use crate::walk::Entry;

/// A regular file that is changed where it is, or a free name for one.
#[derive(Debug)]
pub struct FileInPlace(FilePlace);

impl FileInPlace {
    /// Follows the links of a path to a file or to a name that is free in a folder. Nothing is made or opened.
    ///
    /// # Errors
    /// It leads to something else than a regular file, over a link to nothing, or to something that another user may have
    /// put there.
    pub fn find(path: &Path) -> Result<FileInPlace> {
        match end(path, Wanted::FileInFolder)? {
            End::Free(folder, name) => {
                let place = FilePlace { folder, name, old: None };
                // A library that makes files would make one there.
                ensure!(
                    !path.is_symlink(),
                    "{} is a link to {}, and nothing is there: name that file, or remove the link",
                    path.display(),
                    place.path().display()
                );
                Ok(FileInPlace(place))
            }
            End::Entry(folder, entry) => match kind(folder, entry)? {
                Place::File(place) => Ok(FileInPlace(place)),
                _ => bail!("{} is no regular file; name a file", path.display()),
            },
            End::Folder(_) => bail!("{} is a folder; name a file in it", path.display()),
            End::Descriptor(_) => bail!("{} is no name of a file; name a file", path.display()),
        }
    }

    /// Its path, on which no link is.
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// The file, open for reading; `None` where the name is free.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(&self) -> io::Result<Option<File>> {
        self.0.old.as_ref().map(|old| reopen(old, OpenOptions::new().read(true))).transpose()
    }

    /// Refuses what lies next to it under its name with an ending, where another user may have put that there: a library
    /// that looks for its journal of a file by name would apply it.
    ///
    /// # Errors
    /// Another user may have put it there, or it cannot be looked at.
    pub fn check_companion(&self, ending: &str) -> Result<()> {
        let FilePlace { folder, name, .. } = &self.0;
        let mut name = name.clone();
        name.push(ending);
        let look = || -> io::Result<Option<Entry>> {
            let held = match folder.look(&name) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                looked => looked?,
            };
            Ok(Some(Entry { name: name.clone(), found: held.metadata()?, held }))
        };
        let entry =
            look().with_context(|| format!("cannot look at {}", folder.path().join(&name).display()))?;
        entry.map_or(Ok(()), |entry| check_entry(folder, &entry))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use nix::sys::stat::Mode;
    use nix::unistd::{Uid, mkfifo};

    use super::*;

    const STRANGER: u32 = 65534;

    fn fault(path: &Path) -> String {
        format!("{:#}", FileInPlace::find(path).expect_err("it was found"))
    }

    #[test]
    fn a_file_is_found_over_links_and_a_free_name_is_one() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("folder/file"), "text").unwrap();
        symlink("folder", path("link")).unwrap();
        symlink("link/file", path("file-link")).unwrap();
        for name in ["folder/file", "link/file", "file-link"] {
            let found = FileInPlace::find(&path(name)).unwrap();
            assert_eq!(found.path(), path("folder/file"), "{name}");
            let mut text = String::new();
            found.open().unwrap().unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
        }
        let free = FileInPlace::find(&path("link/new")).unwrap();
        assert_eq!(free.path(), path("folder/new"));
        assert!(free.open().unwrap().is_none());
    }

    #[test]
    fn what_is_no_file_is_refused_and_nothing_is_made() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        symlink("nothing", path("dangling")).unwrap();
        assert!(fault(&path("fifo")).contains("is no regular file"));
        assert!(fault(place.path()).contains("is a folder"));
        assert!(fault(&path("missing/file")).contains("cannot make a file in"));
        let said = fault(&path("dangling"));
        assert!(said.contains("dangling is a link to") && said.contains("nothing, and nothing is there"));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_another_user_put_into_a_shared_folder_is_refused() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's files need root");
        }
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::set_permissions(place.path(), Permissions::from_mode(0o1777)).unwrap();
        for name in ["theirs", "ours", "ours-journal"] {
            fs::write(path(name), "").unwrap();
        }
        symlink("ours", path("link")).unwrap();
        FileInPlace::find(&path("link")).unwrap();
        FileInPlace::find(&path("ours")).unwrap().check_companion("-journal").unwrap();
        for name in ["theirs", "ours-journal"] {
            chown(path(name), Some(STRANGER), Some(STRANGER)).unwrap();
        }
        lchown(path("link"), Some(STRANGER), Some(STRANGER)).unwrap();
        assert!(fault(&path("theirs")).contains("belongs to the user"));
        assert!(fault(&path("link")).contains("does not follow it"));
        let ours = FileInPlace::find(&path("ours")).unwrap();
        let said = ours.check_companion("-journal").unwrap_err().to_string();
        assert!(said.contains("ours-journal belongs to the user"), "{said}");
        ours.check_companion("-wal").unwrap();
    }
}
