//! The temporary folder of a run: inputs and databases, gone when the run ends, however it ends.
//!
//! A process that is killed cannot clean up, so each folder holds a locked file: a folder whose lock is
//! free is a dead run's, and the next run removes it.
//!
//! The folder is its owner's alone (mode 0700), because copies of the user's data lie in it; a server that runs under
//! another account is let through to its own folder and into no other.

mod mounted;
mod servers;
pub(crate) mod sockets;
mod sweep;

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_files::check_lasting_for_root;
use tempfile::TempDir;

pub(crate) use mounted::note as note_mount;
pub use sweep::sweep;

/// A file system in memory that every Linux has.
pub const MEMORY: &str = "/dev/shm";
/// The beginning of the name of every folder of dyno's in a folder for temporary files.
pub const PREFIX: &str = "dyno-scratch-";
const LOCK: &str = "lock";
/// No folder takes so long to get its lock.
const MAKING: Duration = Duration::from_secs(60);
/// What dead runs left elsewhere is looked for once.
static SWEPT_ELSEWHERE: Once = Once::new();

/// The advice of commands without `--dir`.
pub const BY_TMPDIR: &str = "TMPDIR names another folder";

/// A run's temporary folder: in the place that the user chose, in memory, or where the path of a socket is short.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    // Held open for its lock.
    _lock: File,
}

impl Scratch {
    /// Makes a folder within `parent` and removes those that dead runs left there; the first one of this process, with all
    /// else that they left.
    ///
    /// # Errors
    /// `parent` is missing, no folder can be made there, or dyno is root and another user could exchange that folder.
    pub fn create(parent: &Path) -> Result<Scratch> {
        Scratch::create_or(parent, "choose another with --dir")
    }

    /// The same, where the user chooses the folder by `advice`.
    ///
    /// # Errors
    /// As for [`Scratch::create`].
    pub fn create_or(parent: &Path, advice: &str) -> Result<Scratch> {
        let context = || format!("cannot make a temporary folder in {}; {advice}", parent.display());
        check_lasting_for_root(parent).with_context(context)?;
        sweep(parent);
        SWEPT_ELSEWHERE.call_once(sweep::sweep_elsewhere);
        let folder = closed(PREFIX).tempdir_in(parent).with_context(context)?;
        // The lock is taken before it has its name: one that is found free is a dead run's.
        let unnamed = folder.path().join("lock.new");
        // Who can open a file can lock it: a server's account may pass through the folder, and would keep it from being
        // removed.
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed);
        let lock = new.with_context(context)?;
        lock.lock().with_context(context)?;
        fs::rename(&unnamed, folder.path().join(LOCK)).with_context(context)?;
        let scratch = Scratch { folder, _lock: lock };
        // Where a server runs under another account, all accounts may enter the folder around it; the inputs may hold rows
        // of a file that only this user may read.
        DirBuilder::new().mode(0o700).create(scratch.inputs()).with_context(context)?;
        Ok(scratch)
    }

    /// The folder itself, for what lives as long as the run.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder for the inputs of the tests.
    pub fn inputs(&self) -> PathBuf {
        self.folder.path().join("inputs")
    }

    /// A fresh, empty folder for the database of one trial. It is removed when dropped.
    pub fn trial(&self) -> Result<TempDir> {
        self.trial_in(self.folder.path())
    }

    /// The same in a folder of the run's, which may be on another file system.
    pub fn trial_in(&self, place: &Path) -> Result<TempDir> {
        closed("trial-")
            .tempdir_in(place)
            .with_context(|| format!("cannot make a folder for a trial in {}", place.display()))
    }
}

/// The default folder for databases: `TMPDIR`, else `/var/tmp`, which is on a disk where `/tmp` is
/// often memory.
pub fn default_parent() -> PathBuf {
    match env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if Path::new("/var/tmp").is_dir() => "/var/tmp".into(),
        _ => env::temp_dir(),
    }
}

/// Makes folders that only their owner may enter.
fn closed(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut made = tempfile::Builder::new();
    made.prefix(prefix).permissions(Permissions::from_mode(0o700));
    made
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, lchown, symlink};

    use nix::sys::stat::Mode;
    use nix::unistd::{Uid, mkfifo};

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
        fs::create_dir_all(left.join("trial-1/below")).unwrap();
        fs::write(left.join("trial-1/below/file"), "data").unwrap();
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
    fn what_is_not_a_dead_runs_folder_is_not_touched() {
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        // A folder with a free lock, to which a link leads that has the name of a dead run's.
        fs::create_dir(path("precious")).unwrap();
        fs::write(path("precious").join(LOCK), "data").unwrap();
        symlink(path("precious"), path("dyno-scratch-link")).unwrap();
        // A FIFO, a link and a folder as its lock: none is waited for or followed.
        for name in ["fifo", "linked", "folder"] {
            fs::create_dir(path(&format!("dyno-scratch-{name}"))).unwrap();
        }
        mkfifo(&path("dyno-scratch-fifo").join(LOCK), Mode::S_IRWXU).unwrap();
        symlink(path("precious").join(LOCK), path("dyno-scratch-linked").join(LOCK)).unwrap();
        fs::create_dir(path("dyno-scratch-folder").join(LOCK)).unwrap();
        // A folder that others may write to.
        fs::create_dir(path("dyno-scratch-open")).unwrap();
        fs::write(path("dyno-scratch-open").join(LOCK), "").unwrap();
        fs::set_permissions(path("dyno-scratch-open"), Permissions::from_mode(0o777)).unwrap();
        sweep(parent.path());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 6, "something was removed");
        assert_eq!(fs::read_to_string(path("precious").join(LOCK)).unwrap(), "data");
    }

    #[test]
    fn a_link_in_a_dead_runs_folder_is_removed_and_not_its_target() {
        let parent = tempfile::tempdir().unwrap();
        let (left, kept) = (parent.path().join("dyno-scratch-dead"), parent.path().join("kept"));
        for folder in [&left, &kept] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(LOCK), "").unwrap();
        }
        symlink(&kept, left.join("trial-1")).unwrap();
        sweep(parent.path());
        assert!(!left.exists() && kept.join(LOCK).exists());
    }

    #[test]
    fn another_users_folder_is_not_swept() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's folder needs root");
        }
        let parent = tempfile::tempdir().unwrap();
        for (name, owner) in [("folder", 65534), ("lock", 0)] {
            let left = parent.path().join(format!("dyno-scratch-{name}"));
            fs::create_dir(&left).unwrap();
            fs::write(left.join(LOCK), "").unwrap();
            chown(&left, Some(owner), None).unwrap();
        }
        chown(parent.path().join("dyno-scratch-lock").join(LOCK), Some(65534), None).unwrap();
        sweep(parent.path());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
    }

    #[test]
    fn root_makes_no_folder_where_another_user_could_exchange_it() {
        if !Uid::effective().is_root() {
            return eprintln!("not run: another user's folder needs root");
        }
        let parent = tempfile::tempdir().unwrap();
        let (theirs, within) = (parent.path().join("theirs"), parent.path().join("theirs/ours"));
        fs::create_dir_all(&within).unwrap();
        symlink(parent.path(), parent.path().join("link")).unwrap();
        lchown(parent.path().join("link"), Some(65534), None).unwrap();
        let said = |place: &Path| format!("{:#}", Scratch::create(place).unwrap_err());
        assert!(said(&parent.path().join("link")).contains("link belongs to the user"));
        chown(&theirs, Some(65534), None).unwrap();
        for place in [&theirs, &within] {
            let said = said(place);
            assert!(said.contains("could have root write elsewhere") && said.contains("--dir"), "{said}");
            assert!(said.contains(&format!("{} belongs to the user", theirs.display())), "{said}");
        }
        chown(&theirs, Some(0), None).unwrap();
        fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
        assert!(said(&within).contains("other users can write to"));
        fs::set_permissions(&theirs, Permissions::from_mode(0o1777)).unwrap();
        Scratch::create(&theirs).unwrap();
        Scratch::create(&within).unwrap();
    }

    #[test]
    fn folders_are_their_owners_alone() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(parent.path()).unwrap();
        let trial = scratch.trial().unwrap();
        for folder in [scratch.folder(), trial.path()] {
            assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let lock = fs::metadata(scratch.folder().join(LOCK)).unwrap();
        assert_eq!(lock.permissions().mode() & 0o777, 0o600, "others could hold the lock");
    }

    #[test]
    fn a_missing_parent_says_what_to_do() {
        let error = Scratch::create(Path::new("/nonexistent/folder")).unwrap_err();
        assert!(error.to_string().contains("--dir"), "{error}");
    }
}
