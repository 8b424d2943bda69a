//! The mark of a server's processes: a file in memory that all of them have open.
//!
//! The processes of a server may leave its process group and its session, and write over their environment, as
//! PostgreSQL's do. What was open when they were started stays open, and no other process comes by this file: it stands in
//! no folder. So the processes are known when the main one is gone, and even by the next dyno.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::inheritance::inherit;
use crate::killing::kill_if;

/// The time that killed processes have to go, and the interval between two looks whether they are gone.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(5);

/// The mark of the processes of one server.
#[derive(Debug, Clone)]
pub struct ServerMark {
    /// The file's name; it stands in no folder, so it cannot be opened by it.
    name: String,
    /// The number under which the processes have it open; `None` where that is not known.
    number: Option<RawFd>,
}

impl ServerMark {
    /// The mark of the server whose folder has this name: while the folder is there, no other has its name, its device and
    /// its number.
    pub fn of(name: &OsStr, folder: &Metadata) -> ServerMark {
        let name = format!("dyno-{}-{:x}-{:x}", name.display(), folder.dev(), folder.ino());
        ServerMark { name, number: None }
    }

    /// The same of a folder at a path.
    pub(crate) fn of_folder(folder: &Path) -> io::Result<ServerMark> {
        Ok(ServerMark::of(folder.file_name().unwrap_or_default(), &fs::symlink_metadata(folder)?))
    }

    /// Lets the process of a command, and all that descend from it, have the file open. The file that is returned must live
    /// until the command is started.
    pub(crate) fn give(&mut self, command: &mut Command) -> io::Result<File> {
        let file = File::from(memfd_create(self.name.as_str(), MFdFlags::MFD_CLOEXEC)?);
        inherit(command, &file);
        self.number = Some(file.as_raw_fd());
        Ok(file)
    }

    /// What the kernel shows as the file's path.
    pub(crate) fn link_text(&self) -> OsString {
        format!("/memfd:{} (deleted)", self.name).into()
    }

    /// The number under which the processes have it open.
    pub(crate) fn number(&self) -> Option<RawFd> {
        self.number
    }

    /// Kills those processes of a user that have the mark, and waits until they are gone, but for two seconds at most.
    pub fn end_all(&self, user: u32) {
        let link_text = self.link_text();
        let is_wanted = |process: Pid| self.is_on(process, &link_text) && user_of(process) == Some(user);
        let kill = |process: &Pid| is_wanted(*process) && kill_if(*process, || is_wanted(*process));
        let deadline = Instant::now() + PATIENCE;
        let mut killed = BTreeSet::new();
        while Instant::now() < deadline {
            let found: Vec<Pid> = processes().filter(kill).collect();
            if found.is_empty() {
                break;
            }
            killed.extend(found);
            thread::sleep(STEP);
        }
        killed.into_iter().for_each(|process| reap(process, deadline));
    }

    /// True if a process has the mark, whose link has this text. No file system is asked: the file of another process may be
    /// on one that does not answer.
    fn is_on(&self, process: Pid, link_text: &OsStr) -> bool {
        let folder = PathBuf::from(format!("/proc/{process}/fd"));
        let is_it = |file: PathBuf| fs::read_link(file).is_ok_and(|found| found.as_os_str() == link_text);
        match self.number {
            Some(number) => is_it(folder.join(number.to_string())),
            None => fs::read_dir(folder).into_iter().flatten().flatten().any(|file| is_it(file.path())),
        }
    }
}

/// The effective user of a process.
pub fn user_of(process: Pid) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().nth(1)?.parse().ok())
}

/// All processes that can be seen.
fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).map(Pid::from_raw)
}

/// Takes note of the end of a killed process where it has become dyno's child, so that it is not listed any more.
pub(crate) fn reap(process: Pid, deadline: Instant) {
    let is_dying = || waitpid(process, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive);
    while is_dying() && Instant::now() < deadline {
        thread::sleep(STEP);
    }
}
