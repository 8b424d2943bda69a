//! A file that gets its name once it is whole, so that one which is there is whole. Until then it is in no folder, and
//! the kernel removes it, also when dyno is killed; where the file system has no such files, it has a hidden name.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::libc;
use tempfile::NamedTempFile;

use crate::error::Input;
use crate::names::{escaped, with_ending};

/// A file that is being written. It is removed on drop.
pub enum Building {
    /// In no folder.
    Unnamed(File),
    /// Under a hidden name.
    Named(NamedTempFile),
}

impl Building {
    /// A file next to `place`, without a name where the file system has such files. It has the rights of `mode` that the
    /// user's umask leaves.
    pub fn unnamed(place: &Path, mode: u32) -> Result<Building> {
        // Giving it its name later needs the first of these.
        let unnamed = Path::new("/proc/self/fd").exists().then(|| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE);
            options.open(folder(place))
        });
        match unnamed {
            Some(Ok(file)) => Ok(Building::Unnamed(file)),
            _ => Building::named(place, mode),
        }
    }

    /// The same under a hidden name.
    pub fn named(place: &Path, mode: u32) -> Result<Building> {
        let folder = folder(place);
        let file = tempfile::Builder::new()
            .prefix(&hidden(place))
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder);
        let file = file
            .map_err(plain)
            .with_context(|| format!("cannot make a file in {}", escaped(folder)))
            .input()?;
        Ok(Building::Named(file))
    }

    pub fn file(&self) -> &File {
        match self {
            Building::Unnamed(file) => file,
            Building::Named(file) => file.as_file(),
        }
    }

    /// The path under which it is written; None without a name.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Building::Unnamed(_) => None,
            Building::Named(file) => Some(file.path()),
        }
    }

    /// Gives it a hidden name while another program or library opens it by that name.
    pub fn opened<T>(&self, place: &Path, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        match self {
            Building::Named(file) => open(file.path()),
            Building::Unnamed(file) => {
                let prefix = hidden(place);
                let mut names = tempfile::Builder::new();
                let named = names.prefix(&prefix).make_in(folder(place), |path| name(file, path));
                let named = named
                    .map_err(plain)
                    .with_context(|| format!("cannot name a file in {}", escaped(folder(place))))?;
                open(named.path())
            }
        }
    }

    /// Gives it its name, if no file has that name.
    pub fn take_place(self, place: &Path) -> io::Result<()> {
        match self {
            Building::Unnamed(file) => name(&file, place),
            Building::Named(file) => file.persist_noclobber(place).map(drop).map_err(|error| error.error),
        }
    }
}

/// An error of the crate tempfile without the name that it made up.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

/// The prefix of hidden names next to a place.
pub fn hidden(place: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    with_ending(name, ".dyno-")
}

/// Gives a name to a file without one, if no file has that name.
fn name(file: &File, place: &Path) -> io::Result<()> {
    let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    let follow = AtFlags::AT_SYMLINK_FOLLOW;
    Ok(nix::unistd::linkat(AT_FDCWD, descriptor.as_str(), AT_FDCWD, place, follow)?)
}

/// The folder of a file.
pub fn folder(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
