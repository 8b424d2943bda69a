//! A disk whose every write and flush is recorded, with a real ext4 on it.
//!
//! From the bottom: a file that the [`recorder`] serves, a loop device that shows it as a disk, ext4. The kernel
//! turns what the file system asks of the disk into writes and flushes of the file, and the recorder takes notice of
//! each before the file system goes on.

pub mod faults;
pub mod files;
pub mod log;
mod loops;
pub mod recorder;

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dyno_lab::waiting::wait_at_most;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::Signal;

use crate::image::Image;
use faults::Fault;
use files::Mounted;
use log::Entry;

/// The connection of a file system in user space to the kernel.
const FUSE: &str = "/dev/fuse";
/// How long the recorder may take to end when its disk is unmounted.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program that serves as the recorder, with the arguments that make it one. It is this same executable.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its first arguments; the disk's file, the log and the faults follow.
    pub arguments: Vec<String>,
}

/// The disk. Dropped, it is unmounted and its recorder ends.
#[derive(Debug)]
pub struct Disk {
    // First: it is unmounted while its disk still answers.
    mounted: Option<Mounted>,
    recorder: Child,
    served: PathBuf,
    log: PathBuf,
}

impl Disk {
    /// Makes a disk with this content in `place`, a new folder in memory, and mounts the file system on it on `folder`.
    ///
    /// Must be called by a thread that outlives it: the kernel kills the recorder when that ends.
    ///
    /// # Errors
    /// The system allows no FUSE, no loop devices or no mounts.
    pub fn new(
        program: &Program,
        content: &Image,
        fault: Option<Fault>,
        place: &Path,
        folder: &Path,
    ) -> Result<Disk> {
        let (served, file, log) = (place.join("served"), place.join("disk"), place.join("log"));
        fs::create_dir_all(&served).with_context(|| format!("cannot make {}", served.display()))?;
        content.write(&file)?;
        let connection = File::options().read(true).write(true).open(FUSE);
        let connection = connection
            .with_context(|| format!("cannot open {FUSE}, without which no disk can be recorded"))?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", connection.as_raw_fd());
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("dyno"), &served, Some("fuse"), flags, Some(options.as_str()))
            .context("cannot mount the recorder's files")?;
        let recorder = start(program, connection, &served, &file, &log, fault);
        let recorder = recorder.inspect_err(|_| {
            let _ = umount2(&served, MntFlags::MNT_DETACH);
        })?;
        let mut disk = Disk { mounted: None, recorder, served, log };
        disk.mounted = Some(Mounted::new(&disk.served.join(recorder::DISK), folder, place)?);
        Ok(disk)
    }

    /// Where its files are.
    pub fn folder(&self) -> Result<&Path> {
        Ok(self.mounted.as_ref().context("the disk is not mounted")?.folder())
    }

    /// What is to be the standard output of the program that works on the disk.
    pub fn output(&self) -> Result<File> {
        let path = self.served.join(recorder::OUTPUT);
        let output = File::options().write(true).open(path);
        output.context("the recorder does not answer")
    }

    /// Unmounts the disk, after those who worked on it have ended, and tells everything that happened to it.
    ///
    /// # Errors
    /// Somebody still uses it, or the recorder died meanwhile.
    pub fn finish(mut self) -> Result<Vec<Entry>> {
        if let Some(mounted) = self.mounted.take() {
            mounted.unmount()?;
        }
        self.wait_for_loop()?;
        let status = wait_at_most(&mut self.recorder, PATIENCE);
        match status {
            Some(status) if status.success() => log::read(&self.log),
            Some(status) => bail!("the recorder of the disk failed: {status}"),
            None => bail!("the recorder of the disk did not end"),
        }
    }

    /// Unmounts the recorder's files, of which the loop device lets go a moment after it was unmounted itself.
    fn wait_for_loop(&self) -> Result<()> {
        let deadline = std::time::Instant::now() + PATIENCE;
        while let Err(error) = umount2(&self.served, MntFlags::empty()) {
            if std::time::Instant::now() > deadline {
                bail!("cannot unmount the recorder's files: {error}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.mounted.take());
        if matches!(self.recorder.try_wait(), Ok(None)) {
            // Its connection ends with it, and so does every wait for the disk.
            let _ = self.recorder.kill();
            wait_at_most(&mut self.recorder, PATIENCE);
        }
        let _ = umount2(&self.served, MntFlags::MNT_DETACH);
    }
}

/// Starts the recorder, whose standard input is the connection.
fn start(
    program: &Program,
    connection: File,
    served: &Path,
    disk: &Path,
    log: &Path,
    fault: Option<Fault>,
) -> Result<Child> {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).arg(disk).arg(log).args(fault.map(|fault| fault.to_string()));
    command.stdin(Stdio::from(connection)).stdout(Stdio::null()).current_dir("/");
    // An interrupt from the terminal is for dyno.
    command.process_group(0);
    let parent = nix::unistd::getpid();
    let served = CString::new(served.as_os_str().as_bytes()).context("the folder's name has a zero in it")?;
    // SAFETY: between fork and exec, system calls on plain numbers and on a text that was made before.
    unsafe {
        command.pre_exec(move || {
            // It must hold neither its own mount nor those that will be made upon it: when all is killed at once, they
            // could then wait for their last holder, and that for them.
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
            umount2(served.as_c_str(), MntFlags::MNT_DETACH)?;
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            match nix::unistd::getppid() == parent {
                true => Ok(()),
                false => Err(nix::errno::Errno::ESRCH.into()),
            }
        });
    }
    command.spawn().context("cannot start the recorder of the disk")
}
