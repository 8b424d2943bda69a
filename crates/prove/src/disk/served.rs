//! A file system that dyno mounts and a separate process serves, and that ends with this process.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_launch::waiting::wait_at_most;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::Signal;

use super::Program;
use super::log::{self, Entry};

/// The connection of a file system in user space to the kernel.
const FUSE: &str = "/dev/fuse";
/// The time that the process may take to end when its file system is unmounted.
const SERVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The file system. Dropped, it is unmounted and its process ends.
#[derive(Debug)]
pub struct Served {
    process: Child,
    folder: PathBuf,
    log: PathBuf,
}

impl Served {
    /// Mounts it on a folder and starts its process, which gets the arguments `before` and `after` the log's path, and
    /// the connection as its standard input. `options` are further ones of the mount. `others` are the mount points of
    /// other recorded disks, which the process is not to hold: they could not be unmounted before it ended.
    ///
    /// # Errors
    /// The system allows no FUSE or no mounts.
    pub fn new(
        program: &Program,
        folder: PathBuf,
        log: PathBuf,
        options: &str,
        (before, after): (&Path, Option<String>),
        others: &[PathBuf],
    ) -> Result<Served> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let connection = File::options().read(true).write(true).open(FUSE);
        let connection = connection
            .with_context(|| format!("cannot open {FUSE}, without which no disk can be recorded"))?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0{options}", connection.as_raw_fd());
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("dyno"), &folder, Some("fuse"), flags, Some(options.as_str()))
            .context("cannot mount the recorder's files")?;
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).arg(before).arg(&log).args(after);
        let process = start(command, connection, &folder, others).inspect_err(|_| {
            let _ = umount2(&folder, MntFlags::MNT_DETACH);
        })?;
        Ok(Served { process, folder, log })
    }

    /// The mount point.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file of it that is the standard output of the program that works on the disk.
    pub fn output(&self, name: &str) -> Result<File> {
        let output = File::options().write(true).open(self.folder.join(name));
        output.context("the recorder does not answer")
    }

    /// Unmounts it, once no process uses it any more, and returns everything that happened.
    ///
    /// # Errors
    /// A process still uses it, or its process died meanwhile.
    pub fn finish(mut self) -> Result<Vec<Entry>> {
        // A loop device lets go of its file a moment after it was unmounted itself.
        let deadline = Instant::now() + SERVE_TIMEOUT;
        while let Err(error) = umount2(&self.folder, MntFlags::empty()) {
            if Instant::now() > deadline {
                bail!("cannot unmount the recorder's files: {error}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let status = wait_at_most(&mut self.process, SERVE_TIMEOUT);
        match status {
            Some(status) if status.success() => log::read(&self.log),
            Some(status) => bail!("the recorder of the disk failed: {status}"),
            None => bail!("the recorder of the disk did not end"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            // Its connection ends with it, and so does every wait for the disk.
            let _ = self.process.kill();
            wait_at_most(&mut self.process, SERVE_TIMEOUT);
        }
        let _ = umount2(&self.folder, MntFlags::MNT_DETACH);
    }
}

/// Starts the process, whose standard input is the connection.
fn start(mut command: Command, connection: File, served: &Path, others: &[PathBuf]) -> Result<Child> {
    command.stdin(Stdio::from(connection)).stdout(Stdio::null()).current_dir("/");
    // An interrupt from the terminal is for dyno.
    command.process_group(0);
    let parent = nix::unistd::getpid();
    let held = [served].into_iter().chain(others.iter().map(PathBuf::as_path));
    let held: Result<Vec<CString>, _> =
        held.map(|folder| CString::new(folder.as_os_str().as_bytes())).collect();
    let held = held.context("the folder's name has a zero in it")?;
    // SAFETY: between fork and exec, system calls on plain numbers and on texts that were made before.
    unsafe {
        command.pre_exec(move || {
            // It must hold neither its own mount nor those that will be made upon it: when all is killed at once, they
            // could then wait for their last holder, and that for them.
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
            for folder in &held {
                umount2(folder.as_c_str(), MntFlags::MNT_DETACH)?;
            }
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            match nix::unistd::getppid() == parent {
                true => Ok(()),
                false => Err(nix::errno::Errno::ESRCH.into()),
            }
        });
    }
    command.spawn().context("cannot start the recorder of the disk")
}
