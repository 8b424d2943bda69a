//! A limit on the memory of a runner, its share of the kernel's file cache included, by a separate control group. So
//! work that is larger than memory is real, however much the machine has.
//!
//! Version 2 of control groups is used where the memory controller is there, else version 1. A group is made below the
//! one that dyno is in, and removed with the trial. A dyno that is killed leaves its group; the next run removes it.
//! See `Documentation/admin-guide/cgroup-v2.rst` of Linux and `cgroup-v1/memory.rst`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

/// Distinguishes the groups of one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// The number of tries to remove a group whose processes the kernel may still be clearing away.
const TRIES: u32 = 100;
/// The prefix of the names of groups; the process that made one follows, and a number.
const PREFIX: &str = "dyno-";

/// A control group with a limit on memory. It is removed when dropped.
#[derive(Debug)]
pub struct MemoryCap {
    folder: PathBuf,
    // Held open for its lock, which says that the group is in use.
    _lock: File,
}

impl MemoryCap {
    /// Makes a group whose processes together may use this many bytes, and no swap.
    ///
    /// # Errors
    /// The system has no memory controller, or dyno may not make groups; with what to do.
    pub fn create(bytes: u64) -> Result<MemoryCap> {
        let (parent, files) = parent()?;
        let name = format!("{PREFIX}{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = parent.join(name);
        fs::create_dir(&folder).with_context(|| {
            format!(
                "--memory needs a control group, and {} cannot be made: run dyno as root, or in a group \
                 that is yours: systemd-run --user --scope -p Delegate=yes dyno …",
                folder.display()
            )
        })?;
        let lock = File::open(&folder).context("cannot open the control group")?;
        lock.lock().context("cannot lock the control group")?;
        let cap = MemoryCap { folder, _lock: lock };
        cap.set(files.limit, &bytes.to_string())?;
        // Not every kernel accounts for swap; one without swap needs no limit.
        if let Some((file, value)) = files.swap {
            let _ = cap.set(file, value.unwrap_or(&bytes.to_string()));
        }
        Ok(cap)
    }

    /// Makes a command start within the group.
    pub fn prepare(&self, command: &mut Command) -> Result<()> {
        let path = self.folder.join("cgroup.procs");
        let mut file: File = OpenOptions::new()
            .write(true)
            .open(&path)
            .with_context(|| format!("cannot use the control group {}", path.display()))?;
        // SAFETY: between fork and exec only calls that are safe in a signal handler may be made: this
        // is one write. 0 means the process that writes.
        unsafe { command.pre_exec(move || file.write_all(b"0")) };
        Ok(())
    }

    fn set(&self, file: &str, value: &str) -> Result<()> {
        let path = self.folder.join(file);
        fs::write(&path, value)
            .with_context(|| format!("--memory cannot be limited: {} does not take {value}", path.display()))
    }
}

impl Drop for MemoryCap {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes the groups that dead runs left, and ends what still runs in them.
pub fn sweep() {
    let Ok((parent, _)) = parent() else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let maker = entry.file_name().to_str().and_then(maker);
        if maker.is_some_and(|pid| kill(pid, None) == Err(Errno::ESRCH))
            && let Some(_lock) = abandoned(&entry.path())
        {
            remove(&entry.path());
        }
    }
}

/// The process that made a group of a name, if the name is one of dyno's.
fn maker(name: &str) -> Option<Pid> {
    let (pid, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u64>().ok()?;
    pid.parse().ok().map(Pid::from_raw)
}

/// The lock of a group that this user has made and no process holds. A process of another container has no number here;
/// its lock is seen all the same.
fn abandoned(folder: &Path) -> Option<File> {
    let group = File::open(folder).ok()?;
    let is_own = group.metadata().ok()?.uid() == Uid::effective().as_raw();
    (is_own && group.try_lock().is_ok()).then_some(group)
}

/// Removes a group with the processes in it.
fn remove(folder: &Path) {
    for _ in 0..TRIES {
        let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        // 0 stands for a process that cannot be seen from here, and means to `kill` dyno's own group.
        for pid in processes.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid > 0) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            _ => return,
        }
    }
}

/// The files of a version of control groups.
struct Files {
    limit: &'static str,
    /// The limit on swap, and its value; none: the same as on memory.
    swap: Option<(&'static str, Option<&'static str>)>,
}

const V1: Files = Files { limit: "memory.limit_in_bytes", swap: Some(("memory.memsw.limit_in_bytes", None)) };
const V2: Files = Files { limit: "memory.max", swap: Some(("memory.swap.max", Some("0"))) };

/// The group below which groups can be made.
fn parent() -> Result<(PathBuf, Files)> {
    let own = fs::read_to_string("/proc/self/cgroup").context("cannot read dyno's own control group")?;
    let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read what is mounted")?;
    let group = |wanted: &dyn Fn(&str) -> bool| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            parts.next().filter(|_| wanted(controllers)).map(str::to_owned)
        })
    };
    let mount = |wanted: &dyn Fn(&str, &str) -> bool| {
        mounts.lines().find_map(|line| {
            let mut parts = line.split(' ').skip(1);
            let (place, kind, options) = (parts.next()?, parts.next()?, parts.next()?);
            wanted(kind, options).then(|| PathBuf::from(place))
        })
    };
    let v2 = group(&|controllers| controllers.is_empty()).zip(mount(&|kind, _| kind == "cgroup2"));
    if let Some((group, mount)) = v2 {
        let folder = mount.join(group.trim_start_matches('/'));
        if let Some(folder) = with_memory(&folder) {
            return Ok((folder, V2));
        }
    }
    let has_memory = |list: &str| list.split(',').any(|name| name == "memory");
    let v1 = group(&has_memory).zip(mount(&|kind, options| kind == "cgroup" && has_memory(options)));
    match v1 {
        Some((group, mount)) => Ok((mount.join(group.trim_start_matches('/')), V1)),
        None => bail!("--memory needs the kernel's memory controller (cgroup), which is not there"),
    }
}

/// Of a group and its parents the first below which groups have a memory controller: a group that
/// holds processes itself may not hand it down.
fn with_memory(folder: &Path) -> Option<PathBuf> {
    let hands_down = |folder: &&Path| {
        let path = folder.join("cgroup.subtree_control");
        fs::read_to_string(path).is_ok_and(|list| list.split_whitespace().any(|name| name == "memory"))
    };
    folder.ancestors().find(hands_down).map(Path::to_owned)
}
