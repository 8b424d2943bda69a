//! The temporary folder of a run: inputs and databases, gone when the run ends, however it ends.
//!
//! A process that is killed cannot clean up, so each folder holds a locked file: a folder whose lock is
//! free belongs to nobody, and the next run removes it.

use std::env;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::file_system;
use crate::machine::mounts;

const PREFIX: &str = "dyno-scratch-";
const LOCK: &str = "lock";
/// No folder takes so long to get its lock.
const MAKING: Duration = Duration::from_secs(60);

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
pub fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_scratch = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_scratch && is_abandoned(&entry.path()) {
            remove(&entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        // It may be just being made; but where nothing happened for long, its dyno was killed at that, or an earlier
        // removal stopped halfway.
        Err(error) => {
            let changed = || fs::metadata(folder).ok()?.modified().ok()?.elapsed().ok();
            error.kind() == ErrorKind::NotFound && changed().is_some_and(|age| age > MAKING)
        }
    }
}

/// Removes a dead run's folder. A file system that is still mounted in it would keep it there.
fn remove(folder: &Path) {
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let within = mounts::read().into_iter().filter(|mount| mount.point.starts_with(&real));
    for mount in within.collect::<Vec<_>>().iter().rev() {
        file_system::let_go(&mount.point);
    }
    let _ = fs::remove_dir_all(folder);
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
    fn a_folder_that_never_got_its_lock_is_swept_when_it_is_old() {
        let parent = tempfile::tempdir().unwrap();
        let [old, new] = ["dyno-scratch-old", "dyno-scratch-new"].map(|name| parent.path().join(name));
        for folder in [&old, &new] {
            fs::create_dir(folder).unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * MAKING;
        File::open(&old).unwrap().set_modified(long_ago).unwrap();
        sweep(parent.path());
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn a_missing_parent_says_what_to_do() {
        let error = Scratch::create(Path::new("/nonexistent/folder")).unwrap_err();
        assert!(error.to_string().contains("--dir"), "{error}");
    }
}
