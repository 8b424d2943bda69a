//! The state that processes share: a number in memory, and the monotonic clock.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use memmap2::MmapMut;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::ftruncate;

/// A number in memory that clients inherit: 0.
pub fn shared_number() -> Result<OwnedFd> {
    let memory = memfd_create(c"next step", MFdFlags::empty()).context("cannot share memory with clients")?;
    ftruncate(&memory, size_of::<u64>() as i64).context("cannot share memory with clients")?;
    Ok(memory)
}

/// Maps the number that clients share.
pub fn map(path: &Path) -> Result<MmapMut> {
    let open = OpenOptions::new().read(true).write(true).open(path);
    // SAFETY: it is memory whose length does not change.
    open.and_then(|file| unsafe { MmapMut::map_mut(&file) }).context("cannot share memory with other clients")
}

/// The monotonic clock, which all processes have in common.
pub fn monotonic() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_MONOTONIC).context("cannot read the clock")?.into())
}
