//! The table of mounts, from the text of `/proc/self/mountinfo`, whose fields proc(5) describes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The kernel's number for it, unique while it is mounted.
    pub(crate) id: u64,
    /// Major and minor number of the device, as `254:0`; major 0 is no block device.
    pub(crate) device: String,
    /// The part of the file system that is mounted; `/` unless it is a bind mount or a subvolume.
    pub(crate) root: PathBuf,
    /// The mount point.
    pub(crate) point: PathBuf,
    /// The file system's type, as `ext4`.
    pub(crate) kind: String,
    /// The mounted device, as `/dev/vda`.
    pub(crate) source: String,
    /// Options of the mount, then those of the file system, each once.
    pub(crate) options: Vec<String>,
}

/// Every mount that dyno sees, in the order of mounting; empty when the kernel does not show them.
pub(crate) fn read() -> Vec<Mount> {
    parse(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// The mounts in the text of a `mountinfo` file; lines of another form are left out.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Mount> {
    // Any number of optional fields stand before the lone hyphen.
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let id = mount.next()?.parse().ok()?;
    let device = mount.nth(1)?.to_owned();
    let (root, point) = (unescape(mount.next()?), unescape(mount.next()?));
    let mut options: Vec<String> = Vec::new();
    let mut system_fields = system.split(' ');
    let (kind, source) = (system_fields.next()?, system_fields.next()?);
    for option in mount.next()?.split(',').chain(system_fields.next().unwrap_or("").split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount {
        id,
        device,
        root: root.into(),
        point: point.into(),
        kind: kind.to_owned(),
        source: unescape(source).to_string_lossy().into_owned(),
        options,
    })
}

/// The kernel writes space, tab, line feed and backslash as three octal digits.
fn unescape(field: &str) -> OsString {
    let bytes = field.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 4;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    OsString::from_vec(plain)
}

/// The mount that holds an absolute path without links: the longest mount point above it, and of
/// several at one point the last, which hides the others.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resuid=65534
25 27 0:23 / /dev/shm rw,nosuid shared:4 master:1 - tmpfs tmpfs rw,size=24684084k
40 27 0:40 /@home /data\\040of\\011the\\134day rw,noatime shared:9 - btrfs /dev/nvme0n1p3 rw,ssd,subvol=/@home
41 27 0:41 / /data\\040of\\011the\\134day rw - tmpfs none rw
not a mount
";

    #[test]
    fn fields_and_escapes_are_read() {
        let mounts = parse(SAMPLE);
        assert_eq!(mounts.len(), 5);
        assert_eq!((mounts[0].id, mounts[4].id), (22, 41));
        assert_eq!(mounts[1].options, ["rw", "relatime", "discard", "resuid=65534"]);
        assert_eq!((mounts[2].kind.as_str(), mounts[2].device.as_str()), ("tmpfs", "0:23"));
        assert_eq!(mounts[3].point, Path::new("/data of\tthe\\day"));
        assert_eq!(mounts[3].root, Path::new("/@home"));
        assert_eq!(mounts[3].source, "/dev/nvme0n1p3");
        assert_eq!(unescape("ends\\04"), OsString::from("ends\\04"));
    }

    #[test]
    fn the_longest_and_last_mount_holds_a_path() {
        let mounts = parse(SAMPLE);
        let kind = |path: &str| holding(&mounts, Path::new(path)).unwrap().kind.as_str();
        assert_eq!(kind("/var/tmp"), "ext4");
        assert_eq!(kind("/dev/shm/x"), "tmpfs");
        assert_eq!(kind("/dev/shmoo"), "ext4");
        assert_eq!(kind("/data of\tthe\\day/db"), "tmpfs");
        assert_eq!(holding(&mounts, Path::new("relative")), None);
    }
}
