//! All processes that one dyno has started, wherever they are: they inherit a variable of its environment. A server's
//! process that writes its work over its environment is known by its folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The variable. Those of dyno's own reach runners and servers.
pub const MARK: &str = "DYNO_TRY";

/// A look at the processes, again and again.
pub struct Watch {
    mark: String,
    folder: PathBuf,
    known: Arc<Mutex<Known>>,
    is_over: Arc<AtomicBool>,
    looker: Option<JoinHandle<()>>,
}

/// An observation of the processes.
#[derive(Default)]
pub struct Known {
    /// Command lines by process.
    pub lines: BTreeMap<u32, String>,
    /// Files of shared memory that they had.
    pub memory: Vec<PathBuf>,
}

impl Watch {
    /// Begins.
    pub fn start(mark: &str, folder: &Path) -> Watch {
        let (known, is_over) = (Arc::new(Mutex::new(Known::default())), Arc::new(AtomicBool::new(false)));
        let (its_known, its_over) = (known.clone(), is_over.clone());
        let (its_mark, its_folder) = (mark.to_owned(), folder.to_owned());
        let looker = thread::spawn(move || {
            while !its_over.load(Ordering::Relaxed) {
                look(&its_mark, &its_folder, &mut its_known.lock().unwrap());
                thread::sleep(Duration::from_millis(200));
            }
        });
        Watch { mark: mark.to_owned(), folder: folder.to_owned(), known, is_over, looker: Some(looker) }
    }

    /// The processes that are there now.
    pub fn alive(&self) -> Vec<u32> {
        let mut known = self.known.lock().unwrap();
        look(&self.mark, &self.folder, &mut known)
    }

    /// Ends it, and returns all that was seen.
    pub fn end(mut self) -> Known {
        self.is_over.store(true, Ordering::Relaxed);
        self.looker.take().unwrap().join().unwrap();
        std::mem::take(&mut *self.known.lock().unwrap())
    }
}

fn look(mark: &str, folder: &Path, known: &mut Known) -> Vec<u32> {
    let entry = format!("{MARK}={mark}\0").into_bytes();
    let mut alive = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let is_within = || fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        if !environment.windows(entry.len()).any(|part| part == entry) && !is_within() {
            continue;
        }
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        // It has ended since its environment was read.
        if line.is_empty() {
            continue;
        }
        alive.push(id);
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // A server's process shows what it does in place of its arguments: it is looked at once.
        if known.lines.insert(id, line).is_none() {
            let maps = fs::read_to_string(process.path().join("maps")).unwrap_or_default();
            let shared = maps.lines().filter_map(|line| line.find("/dev/shm/").map(|at| &line[at..]));
            let shared = shared.filter(|file| !file.ends_with("(deleted)")).map(PathBuf::from);
            known.memory.extend(shared);
        }
    }
    alive
}

/// The creators of the System V segments that are there.
pub fn segment_creators() -> Vec<u32> {
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let creators = segments.lines().skip(1).filter_map(|line| line.split_whitespace().nth(4)?.parse().ok());
    creators.collect()
}

#[test]
fn a_process_that_is_left_is_seen_by_its_mark_or_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let watch = Watch::start("left", folder.path());
    assert_eq!(watch.alive(), [0; 0]);
    let mut command = std::process::Command::new("sleep");
    let mut marked = command.arg("60").env(MARK, "left").spawn().unwrap();
    let mut command = std::process::Command::new("sleep");
    let mut within = command.arg("60").current_dir(folder.path()).spawn().unwrap();
    // A process has its environment a moment after it was started.
    crate::common::wait_for("both processes", 10, || watch.alive().len() == 2);
    let mut left = watch.alive();
    left.sort_unstable();
    let mut expected = [marked.id(), within.id()];
    expected.sort_unstable();
    for child in [&mut marked, &mut within] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!((left.as_slice(), watch.alive()), (expected.as_slice(), Vec::new()));
    assert!(watch.end().lines.values().all(|line| line.starts_with("sleep")));
}
