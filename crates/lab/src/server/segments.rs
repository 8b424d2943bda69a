//! The shared memory that a PostgreSQL server that was killed leaves behind.
//!
//! A server that ends in order removes it; one that is killed cannot, and memory of this kind has no owner whose end
//! would free it. It is of two kinds: files in `/dev/shm`, of which one, the *control segment*, holds the numbers of the
//! others (`src/backend/storage/ipc/dsm.c`), and a small System V segment, by which a second server on the same data is
//! kept away. Both are noted once the server is ready: in memory for this dyno, and in a file of the user's cache for
//! the next one, should this one be killed as well.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_launch::user_of;
use nix::libc::{self, c_int, key_t};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use super::cache::{self, cache_folder, existing_folder};
use super::process::read_owned;

/// The folder of the files and the beginning of their names.
const FILES: &str = "/dev/shm/PostgreSQL.";
/// The folder of notes in the cache, the end of their names, and the beginning of those that are not whole.
const NOTES: &str = "segments";
const ENDING: &str = ".json";
const NEW: &str = "new-";
/// No note takes so long to be written.
const WRITING: Duration = Duration::from_secs(60);
/// A note is shorter, and so is a control segment, in bytes.
const LONGEST_NOTE: u64 = 1 << 16;
const LONGEST_SEGMENT: u64 = 1 << 26;
/// The number of attempts at the removal.
const TRIES: u32 = 200;

/// The shared memory of a server. Dropped, when the server has ended, it is removed.
#[derive(Debug)]
pub struct Segments {
    found: Found,
    /// The note for the next dyno; `None` where there is no cache. The file is locked while this dyno lives.
    note: Option<(TempPath, File)>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    /// The number of the control segment.
    control: Option<u32>,
    /// Key and number of the System V segment.
    interlock: Option<(key_t, c_int)>,
    /// The user that the server ran as; `None` in a note of an older dyno. The server wrote the numbers itself, so only
    /// what belongs to this user is removed.
    user: Option<u32>,
}

impl Segments {
    /// Those of a server that is ready, from what the kernel shows of its process and what it wrote into its
    /// data folder.
    pub fn of(process: u32, data: &Path) -> Segments {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let control = maps.lines().find_map(|line| line.split_once(FILES)?.1.trim().parse().ok());
        let state = read_owned(&data.join("postmaster.pid"));
        let interlock = state.lines().nth(6).and_then(|line| {
            let mut numbers = line.split_whitespace().map(str::parse::<i64>);
            Some((numbers.next()?.ok()? as key_t, numbers.next()?.ok()? as c_int))
        });
        let user = user_of(Pid::from_raw(process.cast_signed()));
        let found = Found { control, interlock, user };
        let note = note(&found).ok();
        Segments { found, note }
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        // The processes of a server that was killed may take a moment to go.
        for _ in 0..TRIES {
            if self.found.remove() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        if let Some((path, _)) = self.note.take() {
            // The next run may do what this one could not.
            let _ = path.keep();
        }
    }
}

impl Found {
    /// Removes what is there of it, unless a process still uses it. Whether it is gone.
    fn remove(&self) -> bool {
        if self.interlock.is_some_and(|(key, number)| !remove_interlock(key, number, self.user)) {
            return false;
        }
        let Some(control) = self.control else { return true };
        let path = format!("{FILES}{control}");
        let mut numbers = Vec::new();
        if !self.owns(&path) {
            return true;
        }
        let read = dyno_files::open_unlinked(path.as_ref())
            .and_then(|file| file.take(LONGEST_SEGMENT).read_to_end(&mut numbers));
        // The position of the numbers depends on the version; in every version they are aligned.
        for number in numbers.as_chunks::<4>().0.iter().filter(|_| read.is_ok()) {
            let number = u32::from_ne_bytes(*number);
            let path = format!("{FILES}{number}");
            if number != 0 && self.owns(&path) {
                let _ = fs::remove_file(path);
            }
        }
        let _ = fs::remove_file(path);
        true
    }

    /// True if a file belongs to the user that the server ran as.
    fn owns(&self, path: &str) -> bool {
        let found = fs::symlink_metadata(path);
        found.is_ok_and(|found| self.user.is_none_or(|user| found.uid() == user))
    }
}

/// Removes a System V segment, unless it is another one by now, another user's, or in use. Whether it is gone.
fn remove_interlock(key: key_t, number: c_int, user: Option<u32>) -> bool {
    // SAFETY: all zeros are a value of this structure of numbers; the calls get a number and a place for one structure.
    unsafe {
        let mut state: libc::shmid_ds = std::mem::zeroed();
        if libc::shmctl(number, libc::IPC_STAT, &mut state) != 0 || state.shm_perm.__key != key {
            return true;
        }
        if user.is_some_and(|user| state.shm_perm.uid != user) {
            return true;
        }
        state.shm_nattch == 0 && libc::shmctl(number, libc::IPC_RMID, &mut state) == 0
    }
}

/// Removes what the servers of dead runs left.
pub fn sweep() {
    if let Some(folder) = existing_folder(NOTES) {
        sweep_notes(&folder);
    }
}

/// Follows the notes of dead runs and removes those that are done. What is no note of this user's stays.
fn sweep_notes(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str().filter(|name| name.ends_with(ENDING) || name.starts_with(NEW)) else {
            continue;
        };
        // NFS lets only those lock a file for themselves alone who have it open for writing.
        let opened = dyno_files::open_own(&path).and_then(|file| dyno_files::writable(&file));
        let Ok(file) = opened else { continue };
        let is_done = || match name.ends_with(ENDING) {
            true => follow(&file),
            false => is_old(&file),
        };
        if file.try_lock().is_ok() && is_done() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes what a note names. Whether it is gone.
fn follow(note: &File) -> bool {
    let found = serde_json::from_reader::<_, Found>(note.take(LONGEST_NOTE));
    found.is_ok_and(|found| found.remove())
}

/// True if nothing was written to a file for so long that its dyno was killed.
fn is_old(file: &File) -> bool {
    let age = || file.metadata().ok()?.modified().ok()?.elapsed().ok();
    age().is_some_and(|age| age > WRITING)
}

/// Writes down the segments for the next dyno. A note has its name only once it is whole and locked: one that is
/// found unlocked is a dead run's.
fn note(found: &Found) -> Result<(TempPath, File)> {
    let folder = cache_folder(NOTES).context("there is no cache")?;
    cache::make(&folder)?;
    let mut new = tempfile::Builder::new().prefix(NEW).tempfile_in(&folder)?;
    new.as_file().lock()?;
    new.write_all(&serde_json::to_vec(found)?)?;
    let (file, path) = new.into_parts();
    let named = PathBuf::from(format!("{}{ENDING}", path.display()));
    fs::rename(&path, &named)?;
    Ok((TempPath::try_from_path(named)?, file))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use nix::unistd::Uid;

    use super::*;

    #[test]
    fn only_notes_of_this_user_are_followed_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let note = serde_json::to_string(&Found::default()).unwrap();
        for name in ["done.json", "held.json", "theirs.json", "done.txt"] {
            fs::write(path(name), &note).unwrap();
        }
        fs::write(path("other.json"), "{\"list\": 1}").unwrap();
        // A note that its dyno never finished, and one that is being written.
        for name in ["new-left", "new-now"] {
            fs::write(path(name), "").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * WRITING;
        File::options().write(true).open(path("new-left")).unwrap().set_modified(long_ago).unwrap();
        // A note ends long before its length does.
        fs::write(path("long.json"), " ".repeat(LONGEST_NOTE as usize) + &note).unwrap();
        let held = File::open(path("held.json")).unwrap();
        held.lock().unwrap();
        let is_root = Uid::effective().is_root();
        if is_root {
            chown(path("theirs.json"), Some(65534), Some(65534)).unwrap();
        }
        sweep_notes(place.path());
        let mut left: Vec<_> =
            fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        let mut wanted = vec!["done.txt", "held.json", "long.json", "new-now", "other.json"];
        wanted.extend(is_root.then_some("theirs.json"));
        assert_eq!(left, wanted);
    }
}
