//! A new database is built next to its final place, without a name or under a hidden one, and gets its name once it is
//! whole. Until then nothing exists at the place, and after a failure the remains are removed. The kernel itself
//! removes a file without a name, also when dyno is killed.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_files::{FileInPlace, check_lasting_for_root};
use nix::libc;

use crate::building::{Building, folder};
use crate::contents::SQLITE;
use crate::error::BadInput;
use crate::names::{escaped, with_ending};

/// Bytes that gather before the kernel is asked to write them to the device.
const GATHERED: u64 = 4 << 20;
/// The interval between looks at the file's size.
const LOOK: Duration = Duration::from_millis(5);

/// The ends of the names of files that SQLite keeps next to a database.
const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// A temporary database that rows pass through, next to the one that they go to. It is removed on drop.
pub struct Passing(Building);

impl Passing {
    /// An empty file, which its owner alone may read.
    pub fn beside(place: &Path) -> Result<Passing> {
        Building::unnamed(place, 0o600).map(Passing)
    }

    /// The file, for reading and writing.
    pub fn file(&self) -> &File {
        self.0.file()
    }

    /// Gives it a hidden name while another program or library opens it by that name.
    pub fn opened<T>(&self, place: &Path, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.0.opened(place, open)
    }
}

/// A database that is being built.
pub struct NewDatabase {
    file: Building,
    place: PathBuf,
}

impl NewDatabase {
    /// An empty file next to `place`, where nothing exists yet, without a name where the file system has such files. It
    /// has the rights of `mode` that the user's umask leaves.
    pub fn unnamed(place: &Path, mode: u32) -> Result<NewDatabase> {
        refuse_stale(place)?;
        Ok(NewDatabase { file: Building::unnamed(place, mode)?, place: place.to_owned() })
    }

    /// The same under a hidden name, which SQLite needs, and the path of that.
    pub fn named(place: &Path, mode: u32) -> Result<NewDatabase> {
        refuse_stale(place)?;
        Ok(NewDatabase { file: Building::named(place, mode)?, place: place.to_owned() })
    }

    /// The file, for reading and writing.
    pub fn file(&self) -> &File {
        self.file.file()
    }

    /// The path under which it is built; None without a name.
    pub fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    /// While `work` goes on, asks the kernel to write finished parts of the file to the device, so that syncing at the
    /// end takes less time.
    pub fn write_behind<T>(&self, work: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        let file = self.file();
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut reported = 0;
                while !done.load(Ordering::Relaxed) {
                    let size = file.metadata().map_or(0, |data| data.len());
                    if size >= reported + GATHERED {
                        write_out(file, reported, size - reported);
                        reported = size;
                    }
                    thread::park_timeout(LOOK);
                }
            });
            // Even where the work panics, which the thread must not outlast.
            let is_done = Done(&done);
            let outcome = work();
            drop(is_done);
            // Syncing need not wait until it looks again.
            writer.thread().unpark();
            outcome
        })
    }

    /// Has the device hold all of it, so that after a power cut it exists as a whole or not at all.
    ///
    /// # Errors
    /// Nothing was loaded.
    pub fn sync(&self) -> Result<()> {
        self.file().sync_all().context("cannot sync the database; nothing was loaded")
    }

    /// Moves it to its place, where `sync` has it outlast a power cut. Returns why one may lose it all the same.
    ///
    /// # Errors
    /// Nothing was loaded.
    pub fn finish(self, sync: bool) -> Result<Option<io::Error>> {
        let place = &self.place;
        // One may have come while the database was built.
        refuse_stale(place)?;
        self.file
            .take_place(place)
            .with_context(|| format!("cannot move the database to {}; nothing was loaded", escaped(place)))?;
        let synced = || File::open(folder(place)).and_then(|folder| folder.sync_all());
        Ok(sync.then(synced).and_then(Result::err))
    }
}

/// Refuses a name under which SQLite keeps a database in memory: rows that go to it would be gone with dyno.
pub fn check_name(name: &Path) -> Result<()> {
    let shown = escaped(name);
    ensure!(
        name.as_os_str() != ":memory:",
        "SQLite's {shown} is gone when dyno ends: name a file, and write ./{shown} for one of this name"
    );
    Ok(())
}

/// Finds the place of a database: its path, on which no link is. Refuses what can be no database (an empty file can), and
/// what another user may have put there: rows that go to that user's database are that user's to read, its triggers do
/// what that user wants, and SQLite applies any journal. No connection of this process may have the database open: that this
/// closes the file would end its locks.
pub fn find(place: &Path) -> Result<PathBuf> {
    let shown = escaped(place);
    if shown.ends_with('/') || place.is_dir() {
        bail!("{shown} is a folder: name the database's file, as {}", escaped(place.join("my.db")));
    }
    let is_file = fs::metadata(place).map_or(true, |data| data.is_file());
    ensure!(is_file, "{shown} is no file, so it can be no database");
    let found = FileInPlace::find(place)?;
    let path = found.path();
    check_lasting_for_root(folder(&path))
        .context("name a database in another folder, or import as the user to whom the folder belongs")?;
    check_beside(&found)?;
    let Some(file) = found.open().with_context(|| format!("cannot read {shown}"))? else { return Ok(path) };
    let mut beginning = Vec::new();
    let read = file.take(SQLITE.len() as u64).read_to_end(&mut beginning);
    read.with_context(|| format!("cannot read {shown}"))?;
    ensure!(
        beginning.is_empty() || beginning == SQLITE,
        "{shown} is no database of SQLite, or an encrypted one: dyno changes no such file"
    );
    Ok(path)
}

/// Refuses a database next to which another user may have put a journal. It opens no file, so a connection may be open.
pub fn check_companions(place: &Path) -> Result<()> {
    check_beside(&FileInPlace::find(place)?)
}

fn check_beside(found: &FileInPlace) -> Result<()> {
    COMPANIONS.iter().try_for_each(|ending| found.check_companion(ending))
}

/// Refuses a place next to which a journal lies that SQLite would apply to the new database.
fn refuse_stale(place: &Path) -> Result<()> {
    for ending in ["-journal", "-wal"] {
        let stale = PathBuf::from(with_ending(place, ending));
        let stands = || {
            format!(
                "{} is of another database, and SQLite would apply it to the new one: move it away",
                escaped(&stale)
            )
        };
        ensure!(!exists(&stale), BadInput(anyhow!(stands())));
    }
    Ok(())
}

/// Says that it is done when it is dropped.
pub struct Done<'a>(pub &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn write_out(file: &File, from: u64, length: u64) {
    // SAFETY: the descriptor is open. What fails here is done by the sync at the end.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), from as i64, length as i64, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// True if there is a file to load into.
pub fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_fault_of_dyno_ends_it_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for begin in [NewDatabase::unnamed, NewDatabase::named] {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let fresh = begin(&folder.path().join("new.db"), 0o644).unwrap();
                fresh.write_behind(|| panic!("a fault"));
            }));
            assert!(outcome.is_err());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_file_that_is_there_by_then_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("new.db");
        for begin in [NewDatabase::unnamed, NewDatabase::named] {
            let fresh = begin(&place, 0o644).unwrap();
            fs::write(&place, "somebody's").unwrap();
            let error = format!("{:#}", fresh.finish(true).unwrap_err());
            assert!(error.contains("nothing was loaded: File exists"), "{error}");
            assert_eq!(fs::read_to_string(&place).unwrap(), "somebody's");
            fs::remove_file(&place).unwrap();
            begin(&place, 0o644).unwrap().finish(true).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o644 & !umask());
            fs::remove_file(&place).unwrap();
        }
    }

    #[test]
    fn a_journal_that_came_while_a_database_was_built_is_not_applied_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("new.db");
        for begin in [NewDatabase::unnamed, NewDatabase::named] {
            for ending in ["-journal", "-wal"] {
                let planted = PathBuf::from(with_ending(&place, ending));
                let fresh = begin(&place, 0o644).unwrap();
                fs::write(&planted, "somebody's").unwrap();
                let error = fresh.finish(true).unwrap_err();
                assert!(error.is::<BadInput>() && error.to_string().contains("is of another database"));
                // It is left where it is, and the database is nowhere.
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
                fs::remove_file(planted).unwrap();
            }
        }
    }

    #[test]
    fn rows_that_pass_through_a_file_are_read_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("there.db");
        let passing = Passing::beside(&place).unwrap();
        let mode = |path: &Path| Ok(path.metadata()?.permissions().mode() & 0o777);
        assert_eq!(passing.opened(&place, mode).unwrap(), 0o600);
    }

    fn umask() -> u32 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:")).unwrap();
        u32::from_str_radix(line.trim(), 8).unwrap()
    }
}
