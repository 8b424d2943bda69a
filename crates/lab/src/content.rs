//! Identifies the files that a run executes by their content.
//!
//! A path and a version do not distinguish two builds, and a file may be replaced while a run goes on. So what a trial
//! had mapped is read from the kernel once its runner has greeted, and the files are digested after the trial, outside
//! of every timed section: once, and again where the file's stamp is another than before. A runner whose work is quick
//! may have ended by then; a file is then what its path names, if it has not changed since the trial began.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use dyno_files::{open_found, open_unlinked};
use dyno_record::Content;
use sha2::{Digest, Sha256};

/// The kernel's suffix for the name of a file that is no longer at that path.
const GONE: &str = " (deleted)";

/// The program of this process; none where it cannot be read.
pub fn of_this_program() -> Option<Content> {
    static CONTENT: OnceLock<Option<Content>> = OnceLock::new();
    let read = || digest(&mut open_found(Path::new("/proc/self/exe")).ok()?).ok();
    CONTENT.get_or_init(read).clone()
}

/// The files that a process had mapped as code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapped {
    /// Its program; none where the kernel does not show it.
    pub program: Option<PathBuf>,
    /// All of them, the program among them, as the kernel names them, and the archives of Java that it had open; empty
    /// of a process that had ended.
    files: Vec<String>,
    /// The start of the process in the form of file stamps: seconds and nanoseconds.
    began: (i64, i64),
}

impl Mapped {
    /// Looks at a process that was started at a time. Of one that has ended, or of another user, there is nothing to
    /// see.
    pub fn of(process: u32, began: SystemTime) -> Mapped {
        let since = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let began = (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()));
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let program = fs::read_link(format!("/proc/{process}/exe")).ok();
        let files = [code(&maps), archives(process)].concat();
        Mapped { program, files, began }
    }

    /// True if a file was mapped, by its path without links.
    fn holds(&self, path: &Path) -> Holds {
        let Some(path) = path.to_str() else { return Holds::No };
        let gone = |file: &String| file.strip_suffix(GONE) == Some(path);
        match self.files.iter().any(|file| file == path) {
            true => Holds::Yes,
            false if self.files.iter().any(gone) => Holds::Replaced,
            false if self.files.is_empty() => Holds::Unknown,
            false => Holds::No,
        }
    }
}

/// True if a process had a file mapped.
enum Holds {
    Yes,
    /// One that was of this name and is no longer.
    Replaced,
    No,
    /// The process had ended.
    Unknown,
}

/// The files of a process's list of mappings that may be executed, each once.
fn code(maps: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in maps.lines() {
        // Addresses, permissions, offset, device and inode; the rest of the line is the name.
        let mut fields = line.splitn(6, ' ');
        let executes = fields.nth(1).is_some_and(|permissions| permissions.contains('x'));
        let name = fields.nth(3).map(str::trim_start).filter(|name| name.starts_with('/'));
        if let Some(name) = name.filter(|_| executes).map(unescaped)
            && !files.contains(&name)
        {
            files.push(name);
        }
    }
    files
}

/// The archives that a process has open: a Java machine reads the code that it executes from them, and maps none of it.
fn archives(process: u32) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let names = open.filter_map(|file| fs::read_link(file.path()).ok()?.into_os_string().into_string().ok());
    names.filter(|name| name.strip_suffix(GONE).unwrap_or(name).ends_with(".jar")).collect()
}

/// The kernel writes a line break in a name as `\012`.
fn unescaped(name: &str) -> String {
    name.replace("\\012", "\n")
}

/// The stamp of a file, which differs for a file put in its place, and after a write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds of the last change of its content and of anything about it.
    changed: [(i64, i64); 2],
}

impl Stamp {
    fn of(file: &Metadata) -> Stamp {
        Stamp {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.size(),
            changed: [(file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec())],
        }
    }
}

/// Files that were digested, so that each is read once.
#[derive(Debug, Default)]
pub struct Contents {
    known: BTreeMap<PathBuf, (Stamp, Content)>,
}

impl Contents {
    /// The content of a file that a process had mapped; none where it was not mapped, or cannot be read.
    ///
    /// # Errors
    /// The file was replaced while the process ran, or is written to; with its path.
    pub fn of(&mut self, path: &Path, mapped: &Mapped) -> Result<Option<Content>, String> {
        let Ok(path) = path.canonicalize() else { return Ok(None) };
        match mapped.holds(&path) {
            Holds::Yes => self.read(&path),
            Holds::Unknown => {
                let changed = path.metadata().map(|found| (found.ctime(), found.ctime_nsec()));
                let is_as_it_was = changed.is_ok_and(|changed| changed <= mapped.began);
                if is_as_it_was { self.read(&path) } else { Ok(None) }
            }
            Holds::Replaced => Err(format!("{} was replaced while a trial ran with it", path.display())),
            Holds::No => Ok(None),
        }
    }

    fn read(&mut self, path: &Path) -> Result<Option<Content>, String> {
        let Ok(mut file) = open_unlinked(path) else { return Ok(None) };
        let stamp = |file: &File| file.metadata().map(|found| Stamp::of(&found)).ok();
        let before = stamp(&file);
        if let (Some(before), Some((known, content))) = (before, self.known.get(path))
            && *known == before
        {
            return Ok(Some(content.clone()));
        }
        let Ok(content) = digest(&mut file) else { return Ok(None) };
        match before.filter(|_| stamp(&file) == before) {
            Some(before) => self.known.insert(path.to_owned(), (before, content.clone())),
            None => return Err(format!("{} was written to while dyno read it", path.display())),
        };
        Ok(Some(content))
    }
}

/// Returns true if a file names an interpreter.
pub fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    open_found(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| start == *b"#!")
}

/// The digest of what is left of a file.
pub(crate) fn digest(file: &mut File) -> io::Result<Content> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Content { sha256, bytes })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn code_is_read_from_the_kernels_list() {
        let maps = "\
5581-5582 r--p 00000000 fe:01 12                         /usr/bin/a program
5582-5583 r-xp 00001000 fe:01 12                         /usr/bin/a program
7f01-7f02 r-xp 00000000 fe:01 13                         /tmp/x.so (deleted)
7f02-7f03 r--p 00000000 fe:01 14                         /usr/share/data
7f03-7f04 r-xp 00000000 00:00 0                          [vdso]
7f04-7f05 rw-p 00000000 00:00 0 
7f05-7f06 r-xp 00000000 fe:01 12                         /usr/bin/a program
";
        assert_eq!(code(maps), ["/usr/bin/a program", "/tmp/x.so (deleted)"]);
    }

    #[test]
    fn this_process_has_its_own_program_mapped() {
        let mapped = Mapped::of(std::process::id(), SystemTime::now());
        let program = mapped.program.clone().unwrap();
        let content = Contents::default().of(&program, &mapped).unwrap();
        assert_eq!(content, of_this_program());
        assert_eq!(content.unwrap().bytes, fs::metadata(program).unwrap().size());
        assert_eq!(Contents::default().of(Path::new("/etc/passwd"), &mapped), Ok(None));
    }

    #[test]
    fn another_content_under_the_same_path_has_another_digest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("x.so");
        let files = vec![path.to_str().unwrap().to_owned()];
        let mapped = Mapped { files, ..Mapped::default() };
        let mut contents = Contents::default();
        let mut of = |text: &str| {
            fs::write(&path, text).unwrap();
            contents.of(&path, &mapped).unwrap().unwrap().sha256
        };
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of("abc"), known);
        assert_ne!(of("abd"), known);
        assert_eq!(of("abc"), known, "what was written back is the same content");
        let replaced = Mapped { files: vec![format!("{}{GONE}", path.display())], ..Mapped::default() };
        assert!(contents.of(&path, &replaced).unwrap_err().contains("was replaced while a trial ran"));
    }

    #[test]
    fn of_a_process_that_has_ended_only_a_file_counts_that_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.so");
        let before = Mapped::of(u32::MAX, SystemTime::now() - Duration::from_secs(60));
        fs::write(&path, "abc").unwrap();
        assert_eq!(Contents::default().of(&path, &before), Ok(None));
        let after = Mapped::of(u32::MAX, SystemTime::now() + Duration::from_secs(60));
        assert_eq!(Contents::default().of(&path, &after).unwrap().unwrap().bytes, 3);
    }
}
