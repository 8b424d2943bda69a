//! A network device whose frames dyno reads and writes: the end of a cable that delays.

use std::ffi::c_char;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;

use super::namespace::Namespace;

/// The file by which the kernel makes such devices.
pub(super) const MAKER: &str = "/dev/net/tun";
/// A device with whole Ethernet frames, before each of which stands what its sender left to the network card.
const FLAGS: libc::c_int = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
/// The work that senders leave to the card, as on a veth: checksums, and cutting a long segment into frames.
const OFFLOADED: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;

/// A device of a network namespace. Dropped, it is gone.
#[derive(Debug)]
pub struct Tap(File);

impl Tap {
    /// Makes a device of this name.
    ///
    /// # Errors
    /// The kernel makes none.
    pub fn new(namespace: &Namespace, name: &str) -> Result<Tap> {
        let name = name.to_owned();
        let made = namespace.within(move || make(&name))?;
        made.map(Tap).with_context(|| {
            format!(
                "a delay between nodes needs {MAKER}, by which dyno cannot make a network device here: load the module \
                 (modprobe tun), or give the container this device"
            )
        })
    }

    /// Says to the kernel that its cable is plugged in, or that it is not.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_carrier(&self, is_plugged: bool) -> io::Result<()> {
        let carrier = libc::c_int::from(is_plugged);
        // SAFETY: the file is a TAP device's, and the kernel reads one integer.
        let set = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::TUNSETCARRIER, &raw const carrier) };
        Ok(Errno::result(set).map(drop)?)
    }

    /// Reads the next frame that the namespace has sent; `None` if no frame is waiting.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lets the namespace receive a frame. It is lost where the device is down, as on a cable.
    pub fn write(&self, frame: &[u8]) {
        let _ = (&self.0).write(frame);
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A device in the namespace of the calling thread.
fn make(name: &str) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(MAKER)?;
    // SAFETY: zeroes are a request without a name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = byte as c_char;
    }
    request.ifr_ifru.ifru_flags = FLAGS as libc::c_short;
    // SAFETY: the kernel reads and writes one request, which lasts as long as the call; its name ends with a zero.
    Errno::result(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    // SAFETY: the kernel takes a number.
    Errno::result(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, OFFLOADED) })?;
    Ok(file)
}
