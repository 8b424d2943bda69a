//! Loop devices: files as block devices. Each frees itself when nothing uses it any more, however that came about.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::stat::{Mode, SFlag, makedev, mknod};

const CONTROL: &str = "/dev/loop-control";
/// The block devices' major number.
const MAJOR: u64 = 7;
/// The requests of loop(4).
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
/// The device frees itself with its last user.
const LO_FLAGS_AUTOCLEAR: u32 = 4;
/// Others take devices too, between the question which one is free and the taking.
const TRIES: u32 = 100;

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct Info {
    places: [u64; 5],
    number: u32,
    encryption: [u32; 2],
    flags: u32,
    names_and_key: [u8; 64 + 64 + 32],
    init: [u64; 2],
}

/// `struct loop_config` of the same.
#[repr(C)]
struct Configuration {
    file: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// A loop device. It frees itself when this is dropped and nothing is mounted from it.
#[derive(Debug)]
pub struct Loop {
    path: PathBuf,
    _device: File,
}

impl Loop {
    /// Makes a free loop device show a file. Its node is made in `place`, because `/dev` of a container need not have
    /// it.
    ///
    /// # Errors
    /// The system allows no loop devices, or has no free one.
    pub fn attach(file: &Path, place: &Path) -> Result<Loop> {
        let backing = File::options().read(true).write(true).open(file);
        let backing = backing.with_context(|| format!("cannot open {}", file.display()))?;
        let control = OpenOptions::new().read(true).write(true).open(CONTROL);
        let control =
            control.with_context(|| format!("cannot open {CONTROL}, so there are no loop devices"))?;
        for _ in 0..TRIES {
            // SAFETY: the request takes no argument.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            let number = Errno::result(number).context("there is no free loop device")?;
            let path = place.join(format!("loop{number}"));
            let device = open_node(&path, number as u64)?;
            match configure(device.as_raw_fd(), backing.as_raw_fd()) {
                Ok(()) => return Ok(Loop { path, _device: device }),
                Err(Errno::EBUSY) => {}
                Err(error) => bail!("cannot make the loop device {number} show a file: {error}"),
            }
        }
        bail!("no loop device stayed free for long enough to take it")
    }

    /// The device's node.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn open_node(path: &Path, number: u64) -> Result<File> {
    match mknod(path, SFlag::S_IFBLK, Mode::S_IRUSR | Mode::S_IWUSR, makedev(MAJOR, number)) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(error) => bail!("cannot make a node for the loop device {number}: {error}"),
    }
    let device: io::Result<File> = OpenOptions::new().read(true).write(true).open(path);
    device.with_context(|| format!("cannot open the loop device {number}"))
}

fn configure(device: RawFd, backing: RawFd) -> Result<(), Errno> {
    let info = Info {
        places: [0; 5],
        number: 0,
        encryption: [0; 2],
        flags: LO_FLAGS_AUTOCLEAR,
        names_and_key: [0; 160],
        init: [0; 2],
    };
    let configuration = Configuration { file: backing as u32, block_size: 0, info, reserved: [0; 8] };
    // SAFETY: the request reads one structure of this layout.
    Errno::result(unsafe { libc::ioctl(device, LOOP_CONFIGURE, &raw const configuration) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_the_kernels() {
        assert_eq!((size_of::<Info>(), size_of::<Configuration>()), (232, 304));
    }
}
