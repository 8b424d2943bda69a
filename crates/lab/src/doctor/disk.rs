//! Checks of the file system and the device below it, from what the kernel says of them.

use dyno_record::{Device, Machine, Storage};

use super::Check;
use crate::machine::{Kind, has_no_barriers, kind};

/// Below this, an engine's file, its journal and a full-size import no longer fit together.
const LITTLE_SPACE: u64 = 2 << 30;

pub(super) fn checks(storage: &Storage, machine: &Machine) -> Vec<Check> {
    let mut checks = vec![file_system(storage), options(storage), space(storage)];
    if let Some(device) = &storage.device {
        checks.push(device_kind(device));
        checks.push(write_cache(device, machine));
    }
    checks
}

fn file_system(storage: &Storage) -> Check {
    let subject = "file system";
    let found = format!("{} at {}", storage.file_system, storage.mount_point);
    match kind(&storage.file_system) {
        Kind::Local => Check::good(subject, found),
        Kind::CopyOnWrite => Check::note(
            subject,
            found,
            "it writes changed blocks to a new place, which slows engines that overwrite in place; figures \
             do not carry over to ext4 or xfs",
        ),
        Kind::Memory => Check::warning(
            subject,
            format!("{found}, in memory"),
            "a sync does nothing here, so safe and unsafe settings look alike; choose a folder on a disk \
             with --dir",
        ),
        Kind::Layered => Check::warning(
            subject,
            format!("{found}, a layer over another"),
            "the layer adds its own cost and may leave syncs out; choose a folder on a mounted volume with --dir",
        ),
        Kind::Remote => Check::warning(
            subject,
            format!("{found}, on another machine or the host"),
            "sync times are those of the network and of the other side's promises; choose a local folder with \
             --dir",
        ),
        Kind::UserSpace => Check::warning(
            subject,
            format!("{found}, served by a program"),
            "what a sync does is up to that program; choose a folder of a kernel file system with --dir",
        ),
        Kind::Unknown => Check::note(subject, found, "dyno does not know what its syncs promise"),
    }
}

fn options(storage: &Storage) -> Check {
    let subject = "mount options";
    let list = storage.options.join(",");
    let set = |name: &str| storage.option(name).is_some();
    let is = |name: &str, value: &str| storage.option(name) == Some(value);
    if has_no_barriers(storage) {
        return Check::warning(
            subject,
            list,
            "syncs do not reach the disk: nothing survives a power loss, whatever the engine promises",
        );
    }
    if set("sync") || set("dirsync") {
        let advice = "every write is synced, so engines that sync rarely lose their advantage; remount \
                      without `sync`";
        return Check::warning(subject, list, advice);
    }
    if is("data", "writeback") || is("data", "journal") {
        let advice = "not the usual data=ordered: syncs cost something else than on most machines, and after \
                      a power loss files may hold something else";
        return Check::warning(subject, list, advice);
    }
    if set("compress") || set("compress-force") {
        return Check::note(subject, list, "compression makes the time of a write depend on the data");
    }
    if storage.file_system != "btrfs" && set("discard") {
        return Check::note(
            subject,
            list,
            "deleting files trims the disk at once, which may slow what follows",
        );
    }
    Check::good(subject, list)
}

fn space(storage: &Storage) -> Check {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let found = format!("{:.1} of {:.1} GiB free", gib(storage.free_bytes), gib(storage.total_bytes));
    if storage.free_bytes < LITTLE_SPACE {
        let advice = "runs may fail with a full disk, and nearly full disks are slow; make room for 2 GiB or \
                      choose another folder with --dir";
        return Check::warning("free space", found, advice);
    }
    Check::good("free space", found)
}

fn is_virtual(device: &Device) -> bool {
    let driver = device.driver.as_deref().unwrap_or("");
    driver.starts_with("virtio") || driver == "vbd" || device.disk.starts_with("xvd")
}

fn device_kind(device: &Device) -> Check {
    let subject = "device";
    let model = device.model.as_deref().or(device.driver.as_deref()).unwrap_or("unknown model");
    let scheduler = device.scheduler.as_ref().map_or(String::new(), |name| format!(", scheduler {name}"));
    let found = |kind: &str| format!("{}: {kind}, {model}{scheduler}", device.disk);
    if device.disk.starts_with("zram") || device.disk.starts_with("ram") {
        return Check::warning(
            subject,
            found("memory"),
            "syncs reach no disk; choose another folder with --dir",
        );
    }
    if device.disk.starts_with("loop") || device.disk.starts_with("nbd") {
        let advice = "its speed is that of the file or machine behind it";
        return Check::note(subject, found("a file or another machine as a disk"), advice);
    }
    if is_virtual(device) {
        let advice = "its speed and what a flush means are up to the host, and neighbours may share it";
        return Check::note(subject, found("virtual disk"), advice);
    }
    match device.rotational {
        Some(true) => Check::note(
            subject,
            found("rotating disk"),
            "a sync waits for the platter, so sync-bound tests show the disk and little of the engine",
        ),
        Some(false) => Check::good(subject, found("solid-state disk")),
        None => Check::note(subject, found("unknown kind"), "the kernel does not report its kind"),
    }
}

fn write_cache(device: &Device, machine: &Machine) -> Check {
    let subject = "write cache";
    match device.write_cache.as_deref() {
        Some("write back") => Check::good(subject, "write back: a sync makes the disk flush its cache"),
        Some("write through") => {
            let advice = if machine.virtualisation.hypervisor == Some(true) || is_virtual(device) {
                "a sync sends no flush: whether data is safe then is up to the host"
            } else {
                "a sync sends no flush: right for a disk whose cache needs no power or that has none; \
                 otherwise nothing survives a power loss"
            };
            Check::note(subject, "write through", advice)
        }
        other => {
            Check::note(subject, other.unwrap_or("unknown"), "the kernel does not report whether syncs flush")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn storage(file_system: &str, options: &str, free_bytes: u64) -> Storage {
        Storage {
            mount_point: "/".into(),
            file_system: file_system.into(),
            options: options.split(',').map(str::to_owned).collect(),
            device: None,
            total_bytes: 100 << 30,
            free_bytes,
        }
    }

    #[test]
    fn file_systems_whose_syncs_mean_little_are_warned_of() {
        for name in ["tmpfs", "ramfs", "overlay", "nfs4", "cifs", "9p", "virtiofs", "fuse.sshfs", "fuse"] {
            assert_eq!(file_system(&storage(name, "rw", 0)).level, Level::Warning, "{name}");
        }
        assert_eq!(file_system(&storage("ext4", "rw", 0)).level, Level::Good);
        assert_eq!(file_system(&storage("btrfs", "rw", 0)).level, Level::Note);
        assert_eq!(file_system(&storage("unknown", "rw", 0)).level, Level::Note);
    }

    #[test]
    fn options_that_undo_syncs_are_warned_of() {
        for list in ["rw,nobarrier", "rw,barrier=0", "rw,data=writeback", "rw,sync", "rw,volatile"] {
            assert_eq!(options(&storage("ext4", list, 0)).level, Level::Warning, "{list}");
        }
        assert_eq!(options(&storage("ext4", "rw,discard", 0)).level, Level::Note);
        for list in ["rw,relatime,barrier=1,data=ordered", "rw,nosync"] {
            assert_eq!(options(&storage("ext4", list, 0)).level, Level::Good, "{list}");
        }
    }

    #[test]
    fn little_space_is_warned_of() {
        assert_eq!(space(&storage("ext4", "rw", (2 << 30) - 1)).level, Level::Warning);
        let check = space(&storage("ext4", "rw", 2 << 30));
        assert_eq!((check.level, check.found.as_str()), (Level::Good, "2.0 of 100.0 GiB free"));
    }

    #[test]
    fn a_virtual_disk_is_not_taken_for_a_rotating_one() {
        let mut device = Device {
            name: "vda1".into(),
            disk: "vda".into(),
            model: None,
            driver: Some("virtio_blk".into()),
            rotational: Some(true),
            write_cache: Some("write back".into()),
            scheduler: Some("none".into()),
        };
        assert_eq!(device_kind(&device).found, "vda: virtual disk, virtio_blk, scheduler none");
        device.driver = Some("sd".into());
        assert!(device_kind(&device).found.contains("rotating"));
        device.rotational = Some(false);
        assert_eq!(device_kind(&device).level, Level::Good);
    }
}
