//! The databases that a run leaves: of each contender the one of its newest trial that came to its end.
//!
//! While the run goes on, folders lie in the run's temporary folder, so that a run that is killed leaves nothing. At
//! its end they are handed over to the user.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dyno_engine::ScratchServer;
use dyno_files::{Found, HeldFolder};
use dyno_plan::Plan;

use crate::scratch::Scratch;

/// The place of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a folder.
    Folder(PathBuf),
    /// On its server, by this name.
    Server(String),
    /// Nowhere: the trial left no file.
    Nowhere,
}

/// The databases of the newest trials, by contender.
#[derive(Debug)]
pub struct KeptDatabases {
    folder: PathBuf,
    /// Where the user is to find them, held from the beginning: a run must not end in a place that dyno refuses.
    target: HeldFolder,
    places: BTreeMap<usize, Place>,
}

impl KeptDatabases {
    /// Without a database as yet; folders are put into a run's temporary folder, and handed over to a new one in `target`.
    ///
    /// # Errors
    /// No folder can be made in the temporary one, or `target` leads over another user's link.
    pub fn new(scratch: &Scratch, target: &Path) -> Result<KeptDatabases> {
        let target = HeldFolder::named(target)?;
        let folder = scratch.folder().join("kept");
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(KeptDatabases { folder, target, places: BTreeMap::new() })
    }

    /// Asks the trial of a contender on a server at a URL to leave its database there, under a name that no other
    /// contender has. A trial removes the database that the one before it left.
    pub(super) fn name(&mut self, contender: usize, server: &mut ScratchServer) {
        server.scratch = format!("{}_{contender}", server.scratch);
        server.keep = true;
        self.places.insert(contender, Place::Server(server.scratch.clone()));
    }

    /// The database that a contender left is gone.
    pub(super) fn forget(&mut self, contender: usize) {
        self.places.remove(&contender);
    }

    /// Takes the folder of a trial, in the place of the one before it.
    pub(super) fn take(&mut self, contender: usize, directory: &Path) -> Result<()> {
        let place = self.folder.join(contender.to_string());
        self.forget(contender);
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let is_empty = fs::read_dir(directory)?.next().is_none();
        if is_empty {
            self.places.insert(contender, Place::Nowhere);
            return Ok(());
        }
        fs::rename(directory, &place)?;
        self.places.insert(contender, Place::Folder(place));
        Ok(())
    }

    /// Moves the folders into a new one, whose name begins with `stem` and which only its owner may enter.
    /// Returns where the databases are, by contender.
    ///
    /// # Errors
    /// There is no room for them, or no folder can be made.
    pub fn hand_over(mut self, plan: &Plan, stem: &str) -> Result<BTreeMap<usize, Place>> {
        let mut target = None;
        for (&index, place) in &mut self.places {
            let Place::Folder(folder) = place else { continue };
            let target = match &target {
                Some(target) => target,
                None => target
                    .insert(self.target.make_fresh(stem).context("cannot make a folder for the databases")?),
            };
            let name = name(index, &plan.contenders[index].label);
            let own = target.path().join(&name);
            hand_over(folder, &target.within(&name))
                .with_context(|| format!("cannot move a database to {}", own.display()))?;
            *place = Place::Folder(own);
        }
        Ok(self.places)
    }
}

/// The name of a contender's folder.
fn name(index: usize, label: &str) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter,
        '.' | '_' => letter,
        _ => '-',
    };
    format!("{}-{}", index + 1, label.chars().take(60).map(plain).collect::<String>())
}

/// Renames a folder or, where the place is on another file system, copies it: the temporary one goes with the run.
fn hand_over(folder: &Path, to: &Path) -> Result<()> {
    match fs::rename(folder, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => copy(&HeldFolder::open(folder)?, to),
        renamed => Ok(renamed?),
    }
}

/// Copies a folder with its regular files and folders. A link is not followed, and nothing else is a part of a
/// database.
fn copy(folder: &HeldFolder, to: &Path) -> Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for name in folder.names()? {
        let own = to.join(&name);
        let context = || format!("cannot copy {}", folder.path().join(&name).display());
        match folder.find(&name).with_context(context)?.0 {
            Found::Folder(inner) => copy(&inner, &own)?,
            Found::File(file) => copy_file(file, &own).with_context(context)?,
            _ => {}
        }
    }
    Ok(())
}

fn copy_file(mut source: File, to: &Path) -> io::Result<()> {
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    io::copy(&mut source, &mut copy).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_copied_without_what_links_lead_to() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("from/below")).unwrap();
        fs::write(path("from/below/file"), "data").unwrap();
        fs::write(path("secret"), "secret").unwrap();
        symlink(path("secret"), path("from/link")).unwrap();
        copy(&HeldFolder::open(&path("from")).unwrap(), &path("to")).unwrap();
        assert_eq!(fs::read_to_string(path("to/below/file")).unwrap(), "data");
        assert!(fs::symlink_metadata(path("to/link")).is_err());
        assert_eq!(fs::metadata(path("to")).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn names_of_contenders_make_names_of_folders() {
        assert_eq!(name(0, "sqlite/sqlite3:wal,cache_size=-1"), "1-sqlite-sqlite3-wal-cache_size--1");
        assert_eq!(name(1, "../x"), "2-..-x");
    }
}
