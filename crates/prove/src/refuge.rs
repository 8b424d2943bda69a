//! A place that nothing outlives: a view of the mounts that is dyno's own, and memory in it for the disks.
//!
//! Mounts that are made in it are seen by nobody else and end with the last process that has this view; loop devices
//! free themselves with their mounts. So the kernel cleans up, also after a kill.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::Uid;

/// Enters it: from here on, this thread and all that it starts have mounts of their own, and `folder` is memory. Returns
/// that memory.
///
/// # Errors
/// dyno is not root, or the system keeps it from making mounts of its own, as many containers do.
pub fn enter(folder: &Path) -> Result<PathBuf> {
    let place = folder.join("memory");
    std::fs::create_dir(&place).with_context(|| format!("cannot make {}", place.display()))?;
    if !Uid::effective().is_root() {
        anyhow::bail!("a power cut is made on a disk of dyno's own, which only root may mount");
    }
    unshare(CloneFlags::CLONE_NEWNS)
        .context("the system keeps dyno from making mounts of its own, as containers do; --privileged allows it")?;
    let none: Option<&str> = None;
    let own = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(none, "/", none, own, none).context("cannot keep dyno's mounts to itself")?;
    mount(Some("dyno"), &place, Some("tmpfs"), MsFlags::empty(), Some("mode=711"))
        .context("cannot mount memory for the disks")?;
    Ok(place)
}
