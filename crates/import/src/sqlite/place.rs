//! A new database is built beside its final place, under a hidden name, and moved there once it is
//! whole. Until then there is nothing at the place; what is left after a failure is removed.

use std::fs::{self, File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use nix::libc;
use tempfile::NamedTempFile;

use crate::error::{BadInput, Input};

/// Bytes that gather before the kernel is told to write them to the device.
const GATHERED: u64 = 4 << 20;
/// How often to look.
const LOOK: Duration = Duration::from_millis(5);

/// A database that is being built.
pub struct Fresh {
    file: NamedTempFile,
    place: PathBuf,
}

impl Fresh {
    /// An empty file beside `place`, where nothing is yet.
    pub fn beside(place: &Path) -> Result<Fresh> {
        let folder = folder(place);
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        for ending in ["-journal", "-wal"] {
            let stale = folder.join(format!("{name}{ending}"));
            let stands = || {
                format!(
                    "{} is of another database, and SQLite would apply it to the new one: move it away",
                    stale.display()
                )
            };
            ensure!(!exists(&stale), BadInput(anyhow!(stands())));
        }
        let file = tempfile::Builder::new()
            .prefix(&format!(".{name}.dyno-"))
            // What the user's umask leaves of it, as SQLite does.
            .permissions(Permissions::from_mode(0o644))
            .tempfile_in(folder);
        let file = file.with_context(|| format!("cannot make a database in {}", folder.display())).input()?;
        Ok(Fresh { file, place: place.to_owned() })
    }

    /// The file, for reading and writing.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Where it is built.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// While `work` goes on, has the kernel write to the device what is there already, so that syncing
    /// at the end takes less.
    pub fn write_behind<T>(&self, work: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        let file = self.file.as_file();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut told = 0;
                while !done.load(Ordering::Relaxed) {
                    thread::sleep(LOOK);
                    let size = file.metadata().map_or(0, |data| data.len());
                    if size >= told + GATHERED {
                        write_out(file, told, size - told);
                        told = size;
                    }
                }
            });
            // Even where the work panics, which the thread must not outlast.
            let _done = Done(&done);
            work()
        })
    }

    /// Moves it to its place; with `sync`, such that after a power cut it is there whole or not at all.
    pub fn finish(self, sync: bool) -> Result<()> {
        let place = &self.place;
        if sync {
            self.file.as_file().sync_all().context("cannot sync the database; nothing was loaded")?;
        }
        self.file.persist_noclobber(place).map_err(|error| error.error).with_context(|| {
            format!("cannot move the database to {}; nothing was loaded", place.display())
        })?;
        if sync {
            let folder = folder(place);
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.with_context(|| {
                format!(
                    "{} is loaded, but its folder could not be synced: a power cut may lose it",
                    place.display()
                )
            })?;
        }
        Ok(())
    }
}

/// Says that it is done when it is dropped.
pub struct Done<'a>(pub &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The folder of a file.
pub fn folder(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write_out(file: &File, from: u64, length: u64) {
    // SAFETY: the descriptor is open. What fails here is done by the sync at the end.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), from as i64, length as i64, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Whether there is a file to load into.
pub fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_fault_of_dyno_ends_it_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let fresh = Fresh::beside(&folder.path().join("new.db")).unwrap();
            fresh.write_behind(|| panic!("a fault"));
        }));
        assert!(outcome.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
