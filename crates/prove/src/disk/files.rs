//! The file system on one of dyno's disks: made, mounted and unmounted.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_needs as needs;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::loops::Loop;

/// The length of every disk, in bytes: enough for the log of MySQL's profile `tuned`, of 2 GiB. A disk has holes where
/// nothing was written, so what it takes is far less.
pub const SIZE: u64 = 4 << 30;

/// The file system on a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum System {
    /// ext4.
    #[default]
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl System {
    /// Its name, as the kernel calls it.
    pub fn name(self) -> &'static str {
        match self {
            System::Ext4 => "ext4",
            System::Xfs => "xfs",
            System::Btrfs => "btrfs",
        }
    }

    /// The program that makes it.
    pub fn maker(self) -> String {
        format!("mkfs.{}", self.name())
    }

    /// The options by which it is made. Everything is initialised at once, so that no kernel thread writes while the
    /// engine works. No space is reserved for root, since servers do not run as root.
    fn making(self) -> &'static [&'static str] {
        match self {
            System::Ext4 => &[
                "-q",
                "-F",
                "-b",
                "4096",
                "-m",
                "0",
                "-N",
                "8192",
                "-J",
                "size=8",
                "-E",
                "lazy_itable_init=0,lazy_journal_init=0,nodiscard",
            ],
            System::Xfs => &["-q", "-f", "-K"],
            System::Btrfs => &["-q", "-f", "-K"],
        }
    }

    /// Its own options, except that the timer for unrequested writes is put off: data that this timer saves are saved
    /// by luck, and their amount would depend on how busy the machine is. XFS has no such option: its timer is one of
    /// the whole machine (`fs.xfs.xfssyncd_centisecs`, 30 s), and so longer than a proof's work.
    fn options(self) -> Option<&'static str> {
        match self {
            System::Ext4 | System::Btrfs => Some("commit=300"),
            System::Xfs => None,
        }
    }
}

/// The time that processes may take to close their files on a file system.
const MOUNT_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes an empty file system in a new file.
///
/// # Errors
/// The program is missing, with what to install, or it fails.
pub fn make(system: System, file: &Path) -> Result<()> {
    let disk = File::create_new(file).with_context(|| format!("cannot make {}", file.display()))?;
    disk.set_len(SIZE).context("there is no room for a disk")?;
    let maker = system.maker();
    let mut command = Command::new(&maker);
    command.args(system.making()).arg(file);
    // Not every root has the folders of root's programs on its path.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    let output = command.output();
    let output = output.with_context(|| format!("cannot run {maker}{}", needs::advice(&maker)))?;
    if !output.status.success() {
        bail!("{maker} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// A mounted file system. Dropped, it is unmounted, and its loop device is free.
#[derive(Debug)]
pub struct Mounted {
    folder: PathBuf,
    is_mounted: bool,
}

impl Mounted {
    /// Mounts the file system within a file on a new folder. The loop device's node goes to `place`.
    ///
    /// # Errors
    /// The kernel refuses it: it lacks a right, or the file system within is damaged ([`is_damaged`]).
    pub fn new(system: System, file: &Path, folder: &Path, place: &Path) -> Result<Mounted> {
        fs::create_dir_all(folder)?;
        // The mount holds the device from here on.
        let device = Loop::attach(file, place)?;
        mount(
            Some(device.path()),
            folder,
            Some(system.name()),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
            system.options(),
        )
        .with_context(|| format!("cannot mount the disk, an {}", system.name()))?;
        Ok(Mounted { folder: folder.to_owned(), is_mounted: true })
    }

    /// The mount point.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Unmounts it, with everything written to the disk.
    ///
    /// # Errors
    /// A process still uses it.
    pub fn unmount(mut self) -> Result<()> {
        let deadline = Instant::now() + MOUNT_TIMEOUT;
        loop {
            match umount2(&self.folder, MntFlags::empty()) {
                Ok(()) => break,
                Err(Errno::EBUSY) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => bail!("cannot unmount {}: {error}", self.folder.display()),
            }
        }
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = umount2(&self.folder, MntFlags::MNT_DETACH);
        }
    }
}

/// True if a disk could not be mounted because the file system on it is damaged.
pub fn is_damaged(error: &anyhow::Error) -> bool {
    let damage = [Errno::EUCLEAN, Errno::EINVAL, Errno::EIO, Errno::EBADMSG];
    error.downcast_ref::<Errno>().is_some_and(|errno| damage.contains(errno))
}
