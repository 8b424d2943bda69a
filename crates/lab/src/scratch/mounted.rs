//! Notes in a run's folder which file systems dyno mounted there, so that a later run unmounts these and no others.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use dyno_files::HeldFolder;

use crate::file_system;
use crate::machine::mounts::{self, Mount};

/// The file of notes: a line for each mount, with the kernel's boot, the mount's number and its name in the folder.
const NOTES: &str = "mounts";

/// Notes what has just been mounted at `name` in a run's folder.
///
/// # Errors
/// It cannot be written down, or nothing is mounted there.
pub(crate) fn note(folder: &Path, name: &str) -> io::Result<()> {
    let point = fs::canonicalize(folder)?.join(name);
    let found = mounts::read().into_iter().rfind(|mount| mount.point == point);
    let mount = found.ok_or_else(|| io::Error::other("nothing is mounted there"))?;
    let mut notes = OpenOptions::new().append(true).create(true).mode(0o600).open(folder.join(NOTES))?;
    notes.write_all(line(mount.id, name)?.as_bytes())
}

/// Mount numbers are given again after a boot, so the boot is a part of the note.
fn line(id: u64, name: &str) -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(format!("{} {id} {name}\n", boot.trim()))
}

/// Unmounts what dyno mounted in a folder. Returns whether nothing is mounted there any more.
pub(super) fn let_go_of_all(folder: &HeldFolder) -> bool {
    let Ok(real) = fs::canonicalize(folder.within("")) else { return false };
    let within = || mounts::read().into_iter().filter(|mount| mount.point.starts_with(&real));
    let notes = read(folder).unwrap_or_default();
    // The last one first: it may hide an earlier one.
    for mount in within().collect::<Vec<_>>().iter().rev() {
        let _ = let_go(folder, &real, mount, &notes);
    }
    within().next().is_none()
}

fn read(folder: &HeldFolder) -> io::Result<String> {
    let mut notes = String::new();
    folder.file(NOTES)?.take(1 << 16).read_to_string(&mut notes)?;
    Ok(notes)
}

/// Unmounts one file system, if it is noted.
fn let_go(folder: &HeldFolder, real: &Path, mount: &Mount, notes: &str) -> io::Result<()> {
    let name = mount.point.strip_prefix(real).map_err(io::Error::other)?;
    let wanted = line(mount.id, &name.to_string_lossy())?;
    if mount.kind != file_system::KIND || !notes.split_inclusive('\n').any(|noted| noted == wanted) {
        return Ok(());
    }
    // Opening it thus asks nothing of the file system, whose program may be dead.
    let root = folder.folder(name)?;
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", root.as_fd().as_raw_fd()))?;
    let id = about.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    if id == Some(mount.id) {
        file_system::detach(&root, &mount.point);
    }
    Ok(())
}
