//! Encrypted file systems for engines that do not encrypt themselves: dyno's own setting
//! `file_system=gocryptfs` of any contender.
//!
//! gocryptfs is a program that encrypts files one by one and shows them in the clear through FUSE. dyno mounts one
//! within the run's temporary folder; it ends with the run, also when dyno is killed. Its program runs where
//! the measured processes run, because its work is part of what is measured.

mod daemon;

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_engine::Key;
use dyno_files::HeldFolder;
use dyno_launch::placed;
use dyno_launch::waiting::{wait_at_most, within};
use dyno_needs as needs;
use dyno_record::Placement;
use nix::mount::{MntFlags, umount2};
use nix::sys::signal::Signal;
use nix::unistd::Uid;

use crate::machine::mounts;
use crate::scratch::note_mount;
use daemon::Daemon;

const PROGRAM: &str = "gocryptfs";
/// The type of its file systems in the kernel's table.
pub(crate) const KIND: &str = "fuse.gocryptfs";
/// The names of the two folders: of the files as they lie on the device, and in the clear.
const FOLDERS: [&str; 2] = ["encrypted", "clear"];
const DEVICE: &str = "/dev/fuse";
/// The program's message when its files can be used.
const READY: &str = "mounted and ready";
/// The time that mounting may take.
const MOUNT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time that the program may take to end before it is killed.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// A mounted file system. Dropped, it is unmounted.
#[derive(Debug)]
pub struct Mounted {
    clear: PathBuf,
    encrypted: PathBuf,
    daemon: Daemon,
}

impl Mounted {
    /// Makes one within a folder of dyno's own and mounts it. Must be called by a thread that outlives it.
    ///
    /// # Errors
    /// The program or the kernel's part is missing, with what to install; or it cannot be mounted.
    pub fn new(place: &Path, key: &Key, placement: &Placement) -> Result<Mounted> {
        check_installed()?;
        let [encrypted, clear] = Mounted::folders(place);
        for folder in [&encrypted, &clear] {
            let made = DirBuilder::new().mode(0o711).create(folder);
            made.with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mut command = Command::new(PROGRAM);
        command.args(["-init", "-q"]).arg(&encrypted);
        let mut init = Daemon::start(&mut command, key)?;
        let made = wait_at_most(&mut init.child, MOUNT_TIMEOUT).is_some_and(|status| status.success());
        if !made {
            let _ = init.child.kill();
            bail!("{PROGRAM} -init did not make an encrypted folder: {}", init.said());
        }
        Mounted::open(place, key, placement)
    }

    fn folders(place: &Path) -> [PathBuf; 2] {
        FOLDERS.map(|name| place.join(name))
    }

    /// Mounts one that was made in a folder before. Must be called by a thread that outlives it.
    ///
    /// # Errors
    /// It cannot be mounted.
    pub fn open(place: &Path, key: &Key, placement: &Placement) -> Result<Mounted> {
        let [encrypted, clear] = Mounted::folders(place);
        let daemon = mount(&encrypted, &clear, key, placement)?;
        let mounted = Mounted { clear, encrypted, daemon };
        // Servers run under a separate account, which owns nothing here.
        let clear = mounted.clear.clone();
        let opened = within(MOUNT_TIMEOUT, move || fs::set_permissions(clear, Permissions::from_mode(0o711)));
        opened
            .with_context(|| format!("{PROGRAM} mounted and does not answer: {}", mounted.daemon.said()))??;
        Ok(mounted)
    }

    /// Notes it in the run's folder, in which it was made, so that a later run unmounts it if this one is killed.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note(&self, folder: &Path) -> Result<()> {
        note_mount(folder, FOLDERS[1]).context("cannot note the encrypted file system in the run's folder")
    }

    /// The folder in which files are in the clear.
    pub fn clear(&self) -> &Path {
        &self.clear
    }

    /// The folder of the encrypted files, as they lie on the device.
    pub fn encrypted(&self) -> &Path {
        &self.encrypted
    }

    /// Tries to mount the same files with another key; what was said where it is refused.
    pub fn refuses(&self, place: &Path, key: &Key) -> Result<Option<String>> {
        let mut command = Command::new(PROGRAM);
        command.args(["-fg", "-q"]).arg(&self.encrypted).arg(place);
        let mut daemon = Daemon::start(&mut command, key)?;
        let deadline = Instant::now() + MOUNT_TIMEOUT;
        while daemon.child.try_wait()?.is_none() {
            if is_mounted(place) || Instant::now() > deadline {
                daemon.end(place);
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Some(daemon.said()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.daemon.end(&self.clear);
    }
}

fn check_installed() -> Result<()> {
    let found = Command::new(PROGRAM).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let answer = found.ok().and_then(|mut program| wait_at_most(&mut program, MOUNT_TIMEOUT));
    if !answer.is_some_and(|status| status.success()) {
        bail!("{PROGRAM} is not installed{}", needs::advice(PROGRAM));
    }
    let opened = fs::File::options().read(true).write(true).open(DEVICE);
    opened.map(drop).with_context(|| {
        let advice = needs::advice("fusermount3");
        format!("{DEVICE} cannot be opened, so no file system can be mounted{advice}; a container needs --device {DEVICE}")
    })
}

/// Starts the program that shows the files, and waits until it does.
fn mount(encrypted: &Path, clear: &Path, key: &Key, placement: &Placement) -> Result<Daemon> {
    let mut command = Command::new(PROGRAM);
    // Not quiet: it says when it is ready.
    command.args(["-fg", "-nosyslog"]);
    if Uid::effective().is_root() {
        // Servers run under another account then.
        command.arg("-allow_other");
    }
    command.arg(encrypted).arg(clear);
    placed::prepare(placement, &mut command).context("cannot place the file system")?;
    // Instead of a kill, after which the folder would stay mounted and dead.
    // SAFETY: between fork and exec, one system call on plain numbers.
    unsafe { command.pre_exec(|| Ok(nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?)) };
    let mut daemon = Daemon::start(&mut command, key)?;
    let deadline = Instant::now() + MOUNT_TIMEOUT;
    // A process that touches the folder before the program has first opened a file there may lock the program out for
    // ever, and then waits for it. That it is mounted is not enough.
    while !daemon.said().contains(READY) {
        if daemon.child.try_wait()?.is_some() {
            bail!("{PROGRAM} did not mount: {}", daemon.said());
        }
        if Instant::now() > deadline {
            daemon.end(clear);
            bail!("{PROGRAM} did not mount within {} s: {}", MOUNT_TIMEOUT.as_secs(), daemon.said());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(daemon)
}

/// Returns true if something is mounted there, by the kernel's table: the file system itself, which may be stuck, is
/// not asked.
fn is_mounted(folder: &Path) -> bool {
    let folder = match (folder.parent().and_then(|parent| parent.canonicalize().ok()), folder.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => folder.to_owned(),
    };
    mounts::read().iter().any(|mount| mount.point == folder)
}

/// Unmounts a folder that this dyno mounted, whose program is dead or stuck.
fn let_go(folder: &Path) {
    if Uid::effective().is_root() {
        // By force first: it fails the calls that wait, so that the program can end at all.
        for how in [MntFlags::MNT_FORCE, MntFlags::MNT_DETACH] {
            let _ = umount2(folder, how | MntFlags::UMOUNT_NOFOLLOW);
        }
        return;
    }
    ask_to_unmount(folder);
}

/// Takes a file system out of sight by a descriptor of its root, which leads to it whatever becomes of its path. Not by
/// force: a program that still works with its files is not disturbed. `point` is for users who may not unmount, whose
/// setuid program takes paths and unmounts what is theirs.
pub(crate) fn detach(root: &HeldFolder, point: &Path) {
    if Uid::effective().is_root() {
        let _ = umount2(&root.within(""), MntFlags::MNT_DETACH);
        return;
    }
    ask_to_unmount(point);
}

fn ask_to_unmount(folder: &Path) {
    let unmount = Command::new("fusermount3").args(["-uz"]).arg(folder).stderr(Stdio::null()).spawn();
    if let Ok(mut unmount) = unmount
        && wait_at_most(&mut unmount, END_PATIENCE).is_none()
    {
        let _ = unmount.kill();
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    use tempfile::TempDir;

    use super::*;
    use crate::placement;

    /// A file system with its key, in a new folder; prints a message if the program is not installed.
    fn mounted() -> Option<(TempDir, Key, Mounted)> {
        if let Err(why) = check_installed() {
            eprintln!("not run: {why:#}");
            return None;
        }
        let (place, key) = (tempfile::tempdir().unwrap(), crate::key::obtain(None).unwrap());
        let placement = placement::choose(None, None).unwrap();
        let mounted = Mounted::new(place.path(), &key, &placement).unwrap();
        Some((place, key, mounted))
    }

    #[test]
    fn what_is_written_is_encrypted_and_comes_back_with_the_key_alone() {
        let Some((_place, key, mounted)) = mounted() else { return };
        fs::write(mounted.clear().join("note"), "nobody may read this").unwrap();
        let stored = fs::read_dir(mounted.encrypted()).unwrap().flatten();
        for entry in stored.filter(|entry| entry.path().is_file()) {
            let bytes = fs::read(entry.path()).unwrap();
            assert!(!bytes.windows(6).any(|piece| piece == b"nobody"), "{:?}", entry.path());
        }
        let other = tempfile::tempdir().unwrap();
        let said = mounted.refuses(other.path(), &key.another()).unwrap().expect("it was mounted");
        assert!(!said.is_empty() && !said.contains(key.secret().reveal()), "{said}");
        let clear = mounted.clear().to_owned();
        drop(mounted);
        assert!(!is_mounted(&clear) && fs::read_dir(&clear).unwrap().next().is_none());
    }

    #[test]
    fn a_program_that_is_stuck_keeps_nobody_waiting() {
        let Some((_place, _, mounted)) = mounted() else { return };
        let daemon = Pid::from_raw(mounted.daemon.child.id().cast_signed());
        kill(daemon, Signal::SIGSTOP).unwrap();
        let clear = mounted.clear().to_owned();
        assert!(within(Duration::from_secs(60), move || drop(mounted)).is_some());
        assert!(!is_mounted(&clear) && kill(daemon, None).is_err());
    }
}
