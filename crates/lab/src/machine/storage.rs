//! The storage of a run's databases: file system, mount options, device, space.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use dyno_record::{Device, Storage};

use super::fact;
use super::mounts::{self, Mount};

/// Reads where a folder lies.
///
/// # Errors
/// The folder does not exist or may not be entered.
pub fn storage(dir: &Path) -> io::Result<Storage> {
    let dir = dir.canonicalize()?;
    let space = nix::sys::statvfs::statvfs(&dir)?;
    let mounts = mounts::read();
    let mount = mounts::holding(&mounts, &dir);
    // The types of these counters differ between C libraries.
    #[allow(clippy::unnecessary_cast)]
    let bytes = |blocks| (blocks as u64).saturating_mul(space.fragment_size() as u64);
    Ok(Storage {
        mount_point: mount.map_or("unknown".into(), |mount| without_people(&mount.point)),
        file_system: mount.map_or("unknown".into(), |mount| mount.kind.clone()),
        options: mount.map_or(vec![], |mount| mount.options.iter().map(|o| public_option(o)).collect()),
        device: mount.and_then(device),
        total_bytes: bytes(space.blocks()),
        free_bytes: bytes(space.blocks_available()),
    })
}

fn device(mount: &Mount) -> Option<Device> {
    let folder = device_folder(&mount.device).or_else(|| device_folder(&number_of(&mount.source)?))?;
    let disk = disk_below(&folder);
    let text = |name: &str| fact(disk.join(name));
    Some(Device {
        name: file_name(&folder)?,
        disk: file_name(&disk)?,
        model: text("device/model"),
        driver: disk.join("device/driver").canonicalize().ok().as_deref().and_then(file_name),
        rotational: text("queue/rotational").map(|flag| flag == "1"),
        write_cache: text("queue/write_cache"),
        scheduler: text("queue/scheduler").map(|list| chosen(&list)),
    })
}

fn device_folder(number: &str) -> Option<PathBuf> {
    Path::new("/sys/dev/block").join(number).canonicalize().ok()
}

/// The number of a device file. File systems over several devices (btrfs) have none of their own in
/// the table of mounts, but name one of their devices as the source.
fn number_of(source: &str) -> Option<String> {
    let device = source.starts_with("/dev/").then(|| std::fs::metadata(source).ok())??.rdev();
    Some(format!("{}:{}", nix::sys::stat::major(device), nix::sys::stat::minor(device)))
}

/// From a partition to its disk, and from a mapped device down while there is one device below.
fn disk_below(folder: &Path) -> PathBuf {
    let mut disk = folder.to_owned();
    // Deeper stacks than this do not exist in practice; the bound excludes going in circles.
    for _ in 0..8 {
        if disk.join("partition").exists() {
            disk.pop();
        }
        let slaves: Vec<_> =
            std::fs::read_dir(disk.join("slaves")).map_or(vec![], |entries| entries.flatten().collect());
        match slaves.as_slice() {
            [one] => match one.path().canonicalize() {
                Ok(below) => disk = below,
                Err(_) => break,
            },
            _ => break,
        }
    }
    disk
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// The bracketed word of a kernel's list of choices: `none [mq-deadline] kyber`; without one, all.
pub(crate) fn chosen(list: &str) -> String {
    let inner = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(list, |(word, _)| word).to_owned()
}

/// A path for the record: removable and home file systems are mounted below a person's name.
fn without_people(point: &Path) -> String {
    let mut public = PathBuf::new();
    for part in point.components() {
        let hide = public.ends_with("home") || public.ends_with("media");
        public.push(if hide { Component::Normal("…".as_ref()) } else { part });
    }
    public.display().to_string()
}

/// Options whose values bear on speed or safety. Values of others may be people, hosts or paths.
const SHOWN_OPTIONS: &[&str] = &[
    "actimeo",
    "allocsize",
    "barrier",
    "cache",
    "commit",
    "compress",
    "compress_algorithm",
    "compress-force",
    "compression",
    "data",
    "discard",
    "errors",
    "flush_merge",
    "fsync_mode",
    "journal_checksum",
    "logbsize",
    "logbufs",
    "max_batch_time",
    "min_batch_time",
    "mode",
    "nconnect",
    "proto",
    "rsize",
    "size",
    "space_cache",
    "stripe",
    "sunit",
    "swidth",
    "vers",
    "wsize",
    "xattr",
];

fn public_option(option: &str) -> String {
    match option.split_once('=') {
        Some((key, _)) if !SHOWN_OPTIONS.contains(&key) => format!("{key}=…"),
        _ => option.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_of_a_folder_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let found = storage(dir.path()).unwrap();
        assert!(found.total_bytes >= found.free_bytes);
        assert!(found.total_bytes > 0);
        assert!(storage(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn memory_has_no_device() {
        let shm = Path::new("/dev/shm");
        if let Ok(found) = storage(shm)
            && found.file_system == "tmpfs"
        {
            assert_eq!(found.device, None);
        }
    }

    #[test]
    fn the_scheduler_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn the_record_names_no_person_and_no_host() {
        let public = |path: &str| without_people(Path::new(path));
        assert_eq!(public("/home/ann/disk"), "/home/…/disk");
        assert_eq!(public("/run/media/ann/stick"), "/run/media/…/stick");
        assert_eq!(public("/home"), "/home");
        assert_eq!(public("/srv/data"), "/srv/data");
        assert_eq!(public_option("username=ann"), "username=…");
        assert_eq!(public_option("addr=10.0.0.1"), "addr=…");
        assert_eq!(public_option("data=writeback"), "data=writeback");
        assert_eq!(public_option("noatime"), "noatime");
    }

    #[test]
    fn options_are_looked_up_by_name() {
        let storage = Storage {
            mount_point: "/".into(),
            file_system: "ext4".into(),
            options: vec!["rw".into(), "data=writeback".into()],
            device: None,
            total_bytes: 0,
            free_bytes: 0,
        };
        assert_eq!(storage.option("data"), Some("writeback"));
        assert_eq!(storage.option("rw"), Some(""));
        assert_eq!(storage.option("sync"), None);
    }
}
