//! Keeps every file open that processes of dyno's open below some folders, so that what they delete can
//! still be read: journals, logs, temporary files without a name.
//!
//! The folders of a server's data belong to its account, which may put a link in the place of a name at any moment. So
//! each folder is held open, and no link in it is followed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_files::{Found, HeldFolder, open_found};
use dyno_launch::descendants;

/// The interval between two looks.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest interval after which the files of a transaction that is planted cannot have been missed: it goes on for
/// longer than this after it has changed rows.
const LONGEST: Duration = Duration::from_millis(50);

/// Files by device and number, each with the path it had when it was found.
type FoundFiles = BTreeMap<(u64, u64), (PathBuf, File)>;

/// The files that a watch found.
pub struct WatchedFiles {
    /// Every file that was seen, and those that are there at the end, with their paths.
    pub files: Vec<(PathBuf, File)>,
    /// False if the machine was so busy that a transaction's files may have come and gone between two looks.
    pub saw_all: bool,
}

/// A watch that goes on until it is ended.
pub struct FileWatch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(FoundFiles, Duration)>,
    folders: Vec<PathBuf>,
}

impl FileWatch {
    /// Begins to watch the processes that descend from dyno.
    pub fn begin(folders: Vec<PathBuf>) -> FileWatch {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, watched) = (stop.clone(), folders.clone());
        let thread = thread::spawn(move || {
            let (mut found, mut longest, mut last) = (FoundFiles::new(), Duration::ZERO, Instant::now());
            while !stopped.load(Ordering::Relaxed) {
                look(&watched, &mut found);
                longest = longest.max(last.elapsed());
                last = Instant::now();
                thread::sleep(PAUSE);
            }
            (found, longest)
        });
        FileWatch { stop, thread, folders }
    }

    /// Ends it.
    pub fn end(self) -> WatchedFiles {
        self.stop.store(true, Ordering::Relaxed);
        let (mut found, longest) = self.thread.join().unwrap_or((FoundFiles::new(), Duration::MAX));
        for folder in self.folders.iter().flat_map(|folder| HeldFolder::open(folder)) {
            walk(&folder, &mut found);
        }
        let mut files: Vec<(PathBuf, File)> = found.into_values().collect();
        // In the order of their names: the numbers of files are given anew where one was deleted.
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        WatchedFiles { files, saw_all: longest <= LONGEST }
    }
}

fn look(folders: &[PathBuf], found: &mut FoundFiles) {
    for pid in descendants(std::process::id()) {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            if folders.iter().any(|folder| target.starts_with(folder)) {
                look_at(&entry.path(), target, found);
            }
        }
    }
}

/// Keeps the file of a descriptor, which stays this file whatever becomes of its path.
fn look_at(descriptor: &Path, path: PathBuf, found: &mut FoundFiles) {
    let Ok(data) = fs::metadata(descriptor) else { return };
    // To open a FIFO would wait, and to open it every millisecond takes time.
    if data.is_file() && !found.contains_key(&(data.dev(), data.ino())) {
        keep(open_found(descriptor), path, found);
    }
}

/// Keeps the files in a folder.
fn walk(folder: &HeldFolder, found: &mut FoundFiles) {
    for name in folder.names().unwrap_or_default() {
        match folder.find(&name) {
            Ok((Found::Folder(inner), _)) => walk(&inner, found),
            Ok((Found::File(file), _)) => keep(Ok(file), folder.path().join(name), found),
            _ => {}
        }
    }
}

/// Keeps a file. Some engines make one under another name and rename it: the last name is the one to report.
fn keep(file: io::Result<File>, path: PathBuf, found: &mut FoundFiles) {
    if let Ok(file) = file
        && let Ok(data) = file.metadata()
    {
        found.entry((data.dev(), data.ino())).or_insert_with(|| (PathBuf::new(), file)).0 = path;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_file_that_was_deleted_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let watch = FileWatch::begin(vec![folder.path().to_owned()]);
        let script = "exec 3<>\"$0/journal\"; rm \"$0/journal\"; echo secret >&3; echo; read _";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        shell.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        // Long enough for a look on a machine that is busy.
        thread::sleep(Duration::from_millis(500));
        fs::write(folder.path().join("left"), "there").unwrap();
        shell.stdin.take().unwrap().write_all(b"\n").unwrap();
        shell.wait().unwrap();
        let found = watch.end().files;
        let texts: Vec<String> = found
            .iter()
            .map(|(_, file)| {
                let mut bytes = vec![0; 64];
                let read = std::os::unix::fs::FileExt::read_at(file, &mut bytes, 0).unwrap();
                String::from_utf8_lossy(&bytes[..read]).into_owned()
            })
            .collect();
        assert!(texts.contains(&"secret\n".to_owned()) && texts.contains(&"there".to_owned()), "{texts:?}");
    }

    #[test]
    fn no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("data/inner")).unwrap();
        fs::create_dir(path("other")).unwrap();
        fs::write(path("data/inner/file"), "data").unwrap();
        fs::write(path("other/precious"), "private").unwrap();
        for (target, link) in [("other", "data/folder"), ("other/precious", "data/file"), ("other", "link")] {
            symlink(path(target), path(link)).unwrap();
        }
        let names = |folder: &str| {
            let files = FileWatch::begin(vec![path(folder)]).end().files;
            files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(names("data"), [path("data/inner/file")]);
        // As if the link had taken the folder's place a moment ago.
        assert!(names("link").is_empty());
    }
}
