//! Folders that a killed dyno left where no user has named a place, and what only looks like them: the next run removes the
//! former and leaves the latter.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use dyno_lab::machine::{is_in_memory, storage};
use dyno_lab::scratch::{MEMORY, PREFIX};
use nix::sys::stat::Mode;
use nix::unistd::{Uid, mkfifo};
use tempfile::TempDir;

use crate::common::{Place, processes_with, wait_for};

const TINY: &str =
    "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1 --no-warm-up --quiet -o next.jsonl";
const NOBODY: u32 = 65534;
/// Paths of sockets below a longer folder may be too long.
const SHORT: usize = 45;

/// The folder within `parent` of which a process holds the lock.
fn scratch_of(process: u32, parent: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let mut names = files.filter_map(|file| fs::read_link(file.path()).ok());
    let lock = names.find(|file| {
        file.ends_with("lock") && file.parent().is_some_and(|folder| folder.parent() == Some(parent))
    });
    Some(lock?.parent()?.to_owned())
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// Runs dyno until a place is clean. A runner that dies with its dyno may still write into its folder at first.
fn cleaned(place: &Place, arguments: &str, is_clean: impl Fn() -> bool) {
    wait_for("the next run to remove what is left", 60, || {
        place.dyno(arguments).exits(0).without_panic();
        is_clean()
    });
}

#[test]
fn the_folder_in_memory_of_a_killed_experiment_is_removed_by_the_next_run() {
    let place = Place::new();
    let is_memory = |folder: &Path| storage(folder).is_ok_and(|storage| is_in_memory(&storage));
    if is_memory(&place.data()) || !is_memory(Path::new(MEMORY)) {
        return eprintln!("not run: the temporary folder is in memory, or nothing is");
    }
    let with = "--with sqlite,sqlite:nosync --only 1 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest --scale 0.01 {with} -o run.jsonl")).exits(0);
    let mut dyno =
        place.start("causes run.jsonl --of sqlite,sqlite:nosync --trials 1000 --quiet -o found.jsonl");
    let found = || scratch_of(dyno.id(), Path::new(MEMORY));
    wait_for("a folder in memory", 120, || found().is_some());
    let left = found().unwrap();
    dyno.kill().unwrap();
    dyno.wait().unwrap();
    // A dyno of another test may be the next.
    cleaned(&place, TINY, || !left.exists() && is_empty(&place.data()));
}

/// A folder in memory that has the name of a run's.
fn decoy() -> TempDir {
    tempfile::Builder::new().prefix(PREFIX).tempdir_in(MEMORY).unwrap()
}

#[test]
fn what_is_no_dead_runs_folder_stays_in_memory() {
    let place = Place::new();
    let lock_in = |folder: &Path| File::create(folder.join("lock")).unwrap();
    let (living, open, waiting, theirs) = (decoy(), decoy(), decoy(), decoy());
    // A dyno of another test may look at any moment: what keeps a folder is there before its lock has its name.
    let lock = File::create(living.path().join("lock.new")).unwrap();
    lock.lock().unwrap();
    fs::rename(living.path().join("lock.new"), living.path().join("lock")).unwrap();
    // Others may write to it.
    fs::set_permissions(open.path(), Permissions::from_mode(0o777)).unwrap();
    drop(lock_in(open.path()));
    mkfifo(&waiting.path().join("lock"), Mode::S_IRWXU).unwrap();
    match Uid::effective().is_root() {
        true => chown(theirs.path(), Some(NOBODY), Some(NOBODY)).unwrap(),
        false => fs::set_permissions(theirs.path(), Permissions::from_mode(0o777)).unwrap(),
    }
    drop(lock_in(theirs.path()));
    // A link to a folder that holds a free lock.
    let precious = place.path("precious");
    fs::create_dir(&precious).unwrap();
    drop(lock_in(&precious));
    let mut link = tempfile::Builder::new();
    let link = link.prefix(PREFIX).make_in(MEMORY, |path| symlink(&precious, path)).unwrap();
    place.dyno(TINY).exits(0).without_panic();
    for folder in [&living, &open, &waiting, &theirs] {
        assert!(folder.path().join("lock").exists(), "{}", folder.path().display());
    }
    assert!(fs::symlink_metadata(link.path()).unwrap().is_symlink() && precious.join("lock").exists());
    place.assert_clean();
}

/// True if a proxy has made a folder for its socket somewhere in a folder.
fn has_proxy(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with("wire-"))
            || (entry.file_type().is_ok_and(|kind| kind.is_dir()) && has_proxy(&entry.path()))
    })
}

#[test]
fn the_folder_of_a_killed_runs_proxy_is_removed_by_the_next_run() {
    let place = Place::new();
    if place.data().as_os_str().len() > SHORT {
        return eprintln!("not run: paths in the temporary folder are too long for sockets");
    }
    // Here they are, and so the proxy's is in the temporary folder.
    let deep = place.path(&"a-long-name-for-a-folder/".repeat(4));
    fs::create_dir_all(&deep).unwrap();
    let bank = "run bank --set accounts=50 --set warm_up=0.1 --set branches=1 --duration 60s --trials 1";
    let with = "--no-warm-up --quiet --with postgres --only read --clients 2 --delay 5ms -o run.jsonl";
    let mut dyno = place.start(&format!("{bank} {with} --dir {}", deep.display()));
    wait_for("the proxy", 120, || has_proxy(&place.data()));
    dyno.kill().unwrap();
    dyno.wait().unwrap();
    let folder = place.path("").display().to_string();
    wait_for("its processes to end", 60, || processes_with(&folder).is_empty());
    let next = format!("{TINY} --dir {}", deep.display());
    cleaned(&place, &next, || is_empty(&place.data()) && is_empty(&deep));
}
