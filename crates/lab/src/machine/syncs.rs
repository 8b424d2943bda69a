//! The effect of a sync on the storage of a run, judged from the kernel's description of it, and the most that a commit
//! can survive there.

use dyno_record::{Level, Storage};

/// The effect of a file system's syncs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On a device of this machine, with the usual rules.
    Local,
    /// On a device, but never overwriting in place.
    CopyOnWrite,
    /// In memory: a sync does nothing.
    Memory,
    /// A layer over another file system.
    Layered,
    /// On another machine or the host.
    Remote,
    /// Served by a program.
    UserSpace,
    /// Anything else.
    Unknown,
}

pub(crate) fn kind(file_system: &str) -> Kind {
    match file_system {
        "ext2" | "ext3" | "ext4" | "xfs" | "f2fs" | "jfs" => Kind::Local,
        "btrfs" | "zfs" | "bcachefs" | "nilfs2" => Kind::CopyOnWrite,
        "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" | "hugetlbfs" => Kind::Memory,
        "overlay" | "aufs" | "fuse.fuse-overlayfs" | "ecryptfs" => Kind::Layered,
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "virtiofs" | "vboxsf" | "prl_fs" | "ceph"
        | "afs" | "lustre" | "gpfs" | "ocfs2" | "gfs2" | "glusterfs" | "fuse.sshfs" | "fuse.glusterfs"
        | "fuse.vmhgfs-fuse" => Kind::Remote,
        name if name.starts_with("fuse") => Kind::UserSpace,
        _ => Kind::Unknown,
    }
}

/// Returns true if it is mounted so that syncs do not reach the disk.
pub(crate) fn has_no_barriers(storage: &Storage) -> bool {
    let is = |name: &str, value: &str| storage.option(name) == Some(value);
    let set = |name: &str| storage.option(name).is_some();
    set("nobarrier") || is("barrier", "0") || is("fsync_mode", "nobarrier") || set("volatile")
}

/// Returns true if data there are in memory, where a sync is free.
pub fn is_in_memory(storage: &Storage) -> bool {
    kind(&storage.file_system) == Kind::Memory
}

/// The most that a commit can be said to survive on this storage, and why, where that is less than a power cut. What lies
/// below a layer, behind a network or in a program is out of sight: dyno does not promise what it cannot see.
pub fn cap(storage: &Storage) -> Option<(Level, &'static str)> {
    let why = match kind(&storage.file_system) {
        _ if has_no_barriers(storage) => "the file system is mounted so that syncs do not reach the disk",
        Kind::Memory => "the data are in memory, where a sync does nothing and a power cut takes all",
        Kind::Layered => {
            "the data are on a layer over another file system, and dyno cannot see what that does with a sync"
        }
        Kind::Remote => {
            "the data are on another machine or the host, and dyno cannot see what that does with a sync"
        }
        Kind::UserSpace => "a program serves the file system, and dyno cannot see what that does with a sync",
        Kind::Unknown => "dyno does not know this file system, nor what its syncs promise",
        Kind::Local | Kind::CopyOnWrite => return None,
    };
    Some((Level::ProcessCrash, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(file_system: &str, options: &str) -> Storage {
        Storage {
            mount_point: "/".into(),
            file_system: file_system.into(),
            options: options.split(',').map(str::to_owned).collect(),
            device: None,
            total_bytes: 0,
            free_bytes: 0,
        }
    }

    #[test]
    fn storage_without_syncs_that_are_known_to_reach_a_device_caps_the_level() {
        for (file_system, options) in [
            ("tmpfs", "rw"),
            ("overlay", "rw"),
            ("nfs4", "rw"),
            ("fuse.gocryptfs", "rw"),
            ("unknown", "rw"),
            ("ext4", "rw,nobarrier"),
            ("xfs", "rw,barrier=0"),
        ] {
            let (most, why) = cap(&storage(file_system, options)).unwrap();
            assert_eq!(most, Level::ProcessCrash, "{file_system} {options}");
            assert!(!why.is_empty());
        }
        for (file_system, options) in [("ext4", "rw,relatime"), ("btrfs", "rw"), ("xfs", "rw,barrier=1")] {
            assert_eq!(cap(&storage(file_system, options)), None, "{file_system} {options}");
        }
    }
}
