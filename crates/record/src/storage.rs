//! The storage of a run's databases: file system, mount options, device, space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file system that holds a folder. The folder itself is not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// The mount point of the file system. Below `home` and `media`, names of people are left out: `…`.
    pub mount_point: String,
    /// Its type, as `ext4`; `unknown` when the kernel does not show its mounts.
    pub file_system: String,
    /// Mount options. Values of options that do not bear on speed or safety are left out: `user=…`.
    pub options: Vec<String>,
    /// The block device below it, if there is one.
    pub device: Option<Device>,
    /// Size of the file system, in bytes.
    pub total_bytes: u64,
    /// Space that dyno may fill, in bytes.
    pub free_bytes: u64,
}

/// A block device, as the kernel sees it: of a virtual disk, only what the host lets through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The name of what is mounted, as `nvme0n1p2` or `dm-0`.
    pub name: String,
    /// The whole disk of a partition, or the disk below a mapped device where there is just one, as
    /// `nvme0n1`; else the same as the name.
    pub disk: String,
    /// The disk's model, as `Samsung SSD 990 PRO 2TB`.
    pub model: Option<String>,
    /// The disk's driver, as `nvme`, `sd` or `virtio_blk`.
    pub driver: Option<String>,
    /// True if the disk says that it rotates. Virtual disks often say so without meaning.
    pub rotational: Option<bool>,
    /// `write back`: the disk has a volatile cache that a sync flushes. `write through`: the kernel
    /// sends no flushes.
    pub write_cache: Option<String>,
    /// The kernel's scheduler for the disk, as `mq-deadline`.
    pub scheduler: Option<String>,
}

impl Storage {
    /// The value of a mount option, `""` for one without a value, `None` for one that is not set.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            (key == name).then_some(value)
        })
    }
}
