//! A private view of the mounts, with memory for the disks in it, that ends with its last process.
//!
//! Other processes do not see mounts that are made in it, and these end with the last process that has this view; loop
//! devices free themselves with their mounts. So the kernel cleans up, also after a kill.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::Uid;

/// The place. Dropped, its memory is unmounted, with all that is in it.
#[derive(Debug)]
pub struct PrivateMount {
    memory: PathBuf,
    folder: PathBuf,
}

impl PrivateMount {
    /// Enters it: from here on, this thread and all that it starts have private mounts. `folder` belongs to dyno alone,
    /// and the memory is mounted within it.
    ///
    /// # Errors
    /// dyno is not root, or the system does not let it make private mounts, as in many containers.
    pub fn enter(folder: &Path) -> Result<PrivateMount> {
        if !Uid::effective().is_root() {
            bail!(
                "power cuts are made on disks of dyno's own, and only root may mount those: run it as root"
            );
        }
        let memory = folder.join("memory");
        fs::create_dir(&memory).with_context(|| format!("cannot make {}", memory.display()))?;
        unshare(CloneFlags::CLONE_NEWNS).context(
            "the system keeps dyno from making private mounts, as containers do; --privileged allows it",
        )?;
        let none: Option<&str> = None;
        let own = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(none, "/", none, own, none).context("cannot keep dyno's mounts to itself")?;
        // The nodes of loop devices are made in it, so it is not without devices.
        mount(Some("dyno"), &memory, Some("tmpfs"), MsFlags::MS_NOSUID, Some("mode=711"))
            .context("cannot mount memory for the disks")?;
        // The kernel reports a loop device's file relative to the mount, so the file's name identifies its owner.
        let own = memory.join(folder.file_name().context("the folder has no name")?);
        let mount = PrivateMount { memory, folder: own };
        open_way(folder)?;
        open_way(&mount.memory)?;
        DirBuilder::new().mode(0o711).create(&mount.folder).context("cannot make a folder for the disks")?;
        Ok(mount)
    }

    /// A folder in the memory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A place without a private view of the mounts: a plain folder within `folder`, where nothing is mounted.
///
/// # Errors
/// It cannot be made.
pub fn plain(folder: &Path) -> Result<PathBuf> {
    open_way(folder)?;
    let place = folder.join("place");
    DirBuilder::new()
        .mode(0o711)
        .create(&place)
        .with_context(|| format!("cannot make {}", place.display()))?;
    Ok(place)
}

/// Servers run under another account and go through it.
fn open_way(folder: &Path) -> Result<()> {
    Ok(fs::set_permissions(folder, Permissions::from_mode(0o711))?)
}

impl Drop for PrivateMount {
    fn drop(&mut self) {
        let _ = umount2(&self.memory, MntFlags::MNT_DETACH);
    }
}
