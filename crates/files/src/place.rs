//! Resolves the name of a result without opening what stands at its end.
//!
//! # Whom a name may lead to
//!
//! The user names a place, and another user may have put something there first: a link to a file of root's, or a FIFO
//! or a file of that user's that is to receive what dyno writes. The rules are those of the kernel for shared folders
//! (`fs.protected_symlinks`, `fs.protected_fifos`, `fs.protected_regular`), for every folder and stricter for root.
//! Links in the middle of a path count like one at its end.
//!
//! - What belongs to root, to the user who runs dyno, or to the one who has `sudo` run it, is used.
//! - What stands in a folder of one of these, to which no other user can write, is used: one of these put it there.
//!   `/dev/null` and a terminal are such.
//! - A regular file of the folder's owner is used: it is replaced by a rename, and nothing outside the folder changes.
//! - A link, a FIFO or a device of the folder's owner is used unless dyno is root, whom it could lead to what its owner
//!   may not touch.
//! - All else is refused.
//!
//! A descriptor that dyno was started with was opened by the user's shell, so no rule is needed for `/dev/stdout`.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use nix::errno::Errno;
use nix::unistd::Uid;

use crate::held::HeldFolder;
use crate::owner::{is_closed, is_trusted, user_name};
use crate::walk::{Entry, Link, Part, Walk};

/// The end of a path.
#[derive(Debug)]
pub(crate) enum Place {
    /// A regular file, or nothing yet.
    File(FilePlace),
    /// A device, such as `/dev/null`.
    Device(Stream),
    /// A FIFO.
    Fifo(Stream),
    /// A descriptor that dyno was started with: `/dev/stdout`, `/dev/fd/3`, `>(command)`.
    Descriptor(RawFd),
}

/// The name of a file in a folder.
#[derive(Debug)]
pub(crate) struct FilePlace {
    pub(crate) folder: HeldFolder,
    pub(crate) name: OsString,
    /// The file that is there, held but not opened.
    pub(crate) old: Option<File>,
}

/// A device or a FIFO, which is written to directly.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) path: PathBuf,
    /// It, held but not opened.
    pub(crate) held: File,
}

impl FilePlace {
    /// Its path, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// The path by which it is reached.
    pub(crate) fn within(&self) -> PathBuf {
        self.folder.within(&self.name)
    }
}

impl Place {
    /// Follows the links of a path to what it leads to. Folders on the way that are missing are made.
    ///
    /// # Errors
    /// It leads to something that cannot hold a result, or to something that another user may have put there.
    pub(crate) fn of(path: &Path) -> Result<Place> {
        if path.as_os_str().is_empty() {
            bail!("the name of the file is empty");
        }
        if path.as_os_str().as_bytes().ends_with(b"/") {
            bail!("{} is the name of a folder; name a file in it", path.display());
        }
        match end(path, Wanted::File)? {
            End::Folder(_) => bail!("{} is a folder; name a file in it", path.display()),
            End::Free(folder, name) => Ok(Place::File(FilePlace { folder, name, old: None })),
            End::Entry(folder, entry) => kind(folder, entry),
            End::Descriptor(number) => Ok(Place::Descriptor(number)),
        }
    }
}

impl HeldFolder {
    /// The folder that the user named. It and those on the way are made where they are missing.
    ///
    /// # Errors
    /// It cannot be made, or the name leads over a link that another user may have put there.
    pub fn named(path: &Path) -> Result<HeldFolder> {
        match end(path, Wanted::Folder)? {
            End::Folder(folder) => Ok(folder),
            _ => Err(io::Error::from(Errno::ENOTDIR))
                .with_context(|| format!("cannot enter {}", path.display())),
        }
    }
}

/// Where a path ends.
pub(crate) enum End {
    Folder(HeldFolder),
    /// At a name that is free in a folder.
    Free(HeldFolder, OsString),
    Entry(HeldFolder, Entry),
    Descriptor(RawFd),
}

/// The kind of entry that a path is to lead to.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wanted {
    /// A folder. It and those on the way are made where they are missing.
    Folder,
    /// A file or its place. Folders on the way are made where they are missing.
    File,
    /// A file or its place, in a folder that is there.
    FileInFolder,
}

pub(crate) fn end(path: &Path, wanted: Wanted) -> Result<End> {
    let mut walk = Walk::begin(path).with_context(|| format!("cannot look at {}", path.display()))?;
    loop {
        if let Some(number) = walk.descriptor().filter(|_| wanted != Wanted::Folder) {
            return Ok(End::Descriptor(number));
        }
        match walk.step()? {
            None => return Ok(End::Folder(walk.folder)),
            Some(Part::Folder) => {}
            Some(Part::Link(link)) => {
                check_link(&walk.folder, &link)?;
                walk.follow(&link)?;
            }
            Some(Part::Missing(name)) if walk.is_over() && wanted != Wanted::Folder => {
                return Ok(End::Free(walk.folder, name));
            }
            Some(Part::Missing(_)) if wanted == Wanted::FileInFolder => {
                let fault = io::Error::from(Errno::ENOENT);
                return Err(fault)
                    .with_context(|| format!("cannot make a file in {}", crate::folder(path).display()));
            }
            Some(Part::Missing(name)) => walk.make(&name)?,
            Some(Part::Other(entry)) if walk.is_over() => return Ok(End::Entry(walk.folder, entry)),
            Some(Part::Other(_)) => {
                let fault = io::Error::from(Errno::ENOTDIR);
                return Err(fault).with_context(|| format!("cannot look at {}", path.display()));
            }
        }
    }
}

pub(crate) fn kind(folder: HeldFolder, entry: Entry) -> Result<Place> {
    let path = folder.path().join(&entry.name);
    let (shown, kind) = (path.display(), entry.found.file_type());
    if kind.is_block_device() {
        bail!("{shown} is a block device: dyno writes no results to a disk itself; name a file");
    }
    if kind.is_socket() {
        bail!("{shown} is a socket, which cannot be opened like a file; name a file");
    }
    check_entry(&folder, &entry)?;
    Ok(match kind {
        kind if kind.is_char_device() => Place::Device(Stream { path, held: entry.held }),
        kind if kind.is_fifo() => Place::Fifo(Stream { path, held: entry.held }),
        _ => Place::File(FilePlace { folder, name: entry.name, old: Some(entry.held) }),
    })
}

/// Refuses a link that another user may have made to lead dyno to a file which that user cannot write to.
fn check_link(folder: &HeldFolder, link: &Link) -> Result<()> {
    let target = match link.target.is_absolute() {
        true => link.target.clone(),
        false => folder.path().join(&link.target),
    };
    ensure!(
        is_used(folder, &link.found)?,
        "{} is a link that belongs to {}, and in its folder others than you can make links, so dyno does not follow \
         it; if you mean what it leads to, name {}",
        folder.path().join(&link.name).display(),
        user_name(link.found.uid()),
        target.display()
    );
    Ok(())
}

/// Refuses a file, a FIFO or a device that another user may have put where dyno was to write.
pub(crate) fn check_entry(folder: &HeldFolder, entry: &Entry) -> Result<()> {
    ensure!(
        is_used(folder, &entry.found)?,
        "{} belongs to {}, and in its folder others than you can make files, so dyno does not write to it; remove it, \
         or name another file",
        folder.path().join(&entry.name).display(),
        user_name(entry.found.uid())
    );
    Ok(())
}

/// The rules that stand above.
fn is_used(folder: &HeldFolder, found: &Metadata) -> Result<bool> {
    let around = folder.about()?;
    let is_of_owner = found.uid() == around.uid() && (found.is_file() || !Uid::effective().is_root());
    Ok(is_trusted(found.uid()) || is_closed(&around) || is_of_owner)
}

#[cfg(test)]
mod tests;
