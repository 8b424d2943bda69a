//! The temporary folder of a run: inputs and databases, gone when the run ends, however it ends.
//!
//! A process that is killed cannot clean up, so each folder holds a locked file: a folder whose lock is
//! free belongs to nobody, and the next run removes it.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

const PREFIX: &str = "dyno-scratch-";
const LOCK: &str = "lock";

/// A run's temporary folder.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    // Held open for its lock.
    _lock: File,
}

impl Scratch {
    /// Makes a folder within `parent` and removes those that dead runs left there.
    pub fn create(parent: &Path) -> Result<Scratch> {
        let context =
            || format!("cannot make a temporary folder in {}; choose another with --dir", parent.display());
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).with_context(context)?;
        // The lock is taken before it has its name: one that is found free is a dead run's.
        let unnamed = folder.path().join("lock.new");
        let lock = File::create(&unnamed).with_context(context)?;
        lock.lock().with_context(context)?;
        fs::rename(&unnamed, folder.path().join(LOCK)).with_context(context)?;
        Ok(Scratch { folder, _lock: lock })
    }

    /// The folder itself, for what lives as long as the run.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the inputs of the tests go.
    pub fn inputs(&self) -> PathBuf {
        self.folder.path().join("inputs")
    }

    /// A fresh, empty folder for the database of one trial. It is removed when dropped.
    pub fn trial(&self) -> Result<TempDir> {
        self.trial_in(self.folder.path())
    }

    /// The same in a folder of the run's, which may be on another file system.
    pub fn trial_in(&self, place: &Path) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix("trial-")
            .tempdir_in(place)
            .with_context(|| format!("cannot make a folder for a trial in {}", place.display()))
    }
}

/// Where databases go when nobody says: `TMPDIR`, else `/var/tmp`, which is on a disk where `/tmp` is
/// often memory.
pub fn default_parent() -> PathBuf {
    match env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if Path::new("/var/tmp").is_dir() => "/var/tmp".into(),
        _ => env::temp_dir(),
    }
}

/// Removes the folders of runs that are dead. What cannot be removed is another user's, and stays.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_scratch = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_scratch && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    // A folder without its lock file may be just being made.
    File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lives_as_long_as_its_run() {
        let parent = tempfile::tempdir().unwrap();
        let first = Scratch::create(parent.path()).unwrap();
        let second = Scratch::create(parent.path()).unwrap();
        assert!(first.folder.path().is_dir(), "a living run's folder was swept");
        let trial = second.trial().unwrap();
        assert!(trial.path().is_dir());
        drop((first, trial, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_run_left_is_swept() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join("dyno-scratch-dead");
        fs::create_dir_all(left.join("trial-1")).unwrap();
        File::create(left.join(LOCK)).unwrap();
        let _run = Scratch::create(parent.path()).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_missing_parent_says_what_to_do() {
        let error = Scratch::create(Path::new("/nonexistent/folder")).unwrap_err();
        assert!(error.to_string().contains("--dir"), "{error}");
    }
}
