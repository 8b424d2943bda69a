//! The destination of a result.
//!
//! A regular file is written next to its destination and then renamed, so that readers find either the old file or the
//! complete new one, with the mode and the owner of the old one. A device, a FIFO or a descriptor is written directly.
//! [`crate::place`] says which of them are refused because another user may have put them there.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, FcntlArg, OFlag, fcntl};
use nix::libc::{O_NOCTTY, O_NONBLOCK};
use nix::unistd::{AccessFlags, faccessat};
use tempfile::NamedTempFile;

use crate::fresh::names;
use crate::held::{HeldFolder, by_descriptor};
use crate::place::{FilePlace, Place, Stream};

/// A place for a result, found usable before the work whose result it takes.
#[derive(Debug)]
pub struct Output {
    /// As the user called it, or as it was named here.
    path: PathBuf,
    to: To,
    is_standard_output: bool,
}

#[derive(Debug)]
enum To {
    /// A file that is replaced.
    File,
    /// A device, FIFO or descriptor, written directly.
    Stream(File),
    /// A new file, by these parts of its name.
    Fresh { folder: PathBuf, stem: String, ending: String },
}

impl Output {
    /// The place that a user named. Folders on the way to it are made.
    ///
    /// # Errors
    /// Nothing can be written there, and why.
    pub fn open(path: &Path) -> Result<Output> {
        let place = Place::of(path)?;
        let standard_output = io::stdout().as_raw_fd();
        let is_standard_output = matches!(place, Place::Descriptor(number) if number == standard_output);
        let to = match place {
            Place::File(place) => {
                check_file(&place)?;
                To::File
            }
            Place::Device(device) => To::Stream(open(&device, 0)?),
            Place::Fifo(fifo) => To::Stream(open_fifo(&fifo)?),
            Place::Descriptor(number) => To::Stream(duplicate(number)?),
        };
        Ok(Output { path: path.to_owned(), to, is_standard_output })
    }

    /// A new file in a folder, which is made where it is missing. Where the name is taken, a number follows `stem`.
    ///
    /// # Errors
    /// No file can be made there.
    pub fn fresh(folder: &Path, stem: &str, ending: &str) -> Result<Output> {
        let path = folder.join(format!("{stem}{ending}"));
        let context = || format!("cannot write to {}", path.display());
        HeldFolder::named(folder).and_then(|folder| check_folder(&folder)).with_context(context)?;
        let to = To::Fresh { folder: folder.to_owned(), stem: stem.to_owned(), ending: ending.to_owned() };
        Ok(Output { path, to, is_standard_output: false })
    }

    /// Its name. That of a new file is known once it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if it is not a file that can be read again.
    pub fn is_stream(&self) -> bool {
        matches!(self.to, To::Stream(_))
    }

    /// True if it is the standard output of dyno.
    pub fn is_standard_output(&self) -> bool {
        self.is_standard_output
    }

    /// Writes all of a result, or the beginning of one that goes on. Returns the open file, with `bytes` in it and on
    /// the device.
    ///
    /// # Errors
    /// It cannot be written; what was there before is still there.
    pub fn write(&mut self, bytes: &[u8]) -> Result<File> {
        let context = format!("cannot write to {}", self.path.display());
        let written = match &mut self.to {
            To::Stream(stream) => {
                stream.write_all(bytes).and_then(|()| stream.try_clone()).map_err(Into::into)
            }
            To::File => replace(&self.path, bytes),
            To::Fresh { folder, stem, ending } => create(folder, stem, ending, bytes).map(|(file, path)| {
                self.path = path;
                self.to = To::File;
                file
            }),
        };
        written.context(context)
    }
}

/// Refuses a place where no file can be made or replaced.
fn check_file(place: &FilePlace) -> Result<()> {
    let context = || format!("cannot write to {}", place.path().display());
    check_folder(&place.folder).with_context(context)?;
    match &place.old {
        Some(old) => {
            let path = by_descriptor(old);
            faccessat(AT_FDCWD, &path, AccessFlags::W_OK, AtFlags::AT_EACCESS).with_context(context)
        }
        None => Ok(()),
    }
}

/// Refuses a folder in which no file can be made.
fn check_folder(folder: &HeldFolder) -> Result<()> {
    Ok(temporary(folder).map(drop)?)
}

/// Replaces the regular file that a path leads to. It is looked at again: since it was found usable, hours may have gone.
fn replace(path: &Path, bytes: &[u8]) -> Result<File> {
    let Place::File(place) = Place::of(path)? else {
        bail!("it has become something else than a regular file since dyno began")
    };
    let new = aside(&place.folder, bytes)?;
    if let Some(old) = &place.old {
        let old = old.metadata()?;
        // Only root may give a file away; another user's replacement is that user's.
        let _ = fchown(new.as_file(), Some(old.uid()), Some(old.gid()));
        // Without a setuid bit: a result is no program.
        new.as_file().set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
    }
    new.persist(place.within()).map_err(|failed| failed.error.into())
}

/// Makes a new file under the first name that is free.
fn create(folder: &Path, stem: &str, ending: &str, bytes: &[u8]) -> Result<(File, PathBuf)> {
    let held = HeldFolder::named(folder)?;
    let mut new = aside(&held, bytes)?;
    for name in names(stem, ending) {
        match new.persist_noclobber(held.within(&name)) {
            Ok(file) => return Ok((file, folder.join(name))),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => new = error.file,
            Err(error) => return Err(error.error.into()),
        }
    }
    Err(anyhow!("no name is free in {}", folder.display()))
}

/// A file with these bytes, on the device, in a folder.
fn aside(folder: &HeldFolder, bytes: &[u8]) -> Result<NamedTempFile> {
    let mut file = temporary(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A new file in a folder, with the rights that the user's umask leaves.
fn temporary(folder: &HeldFolder) -> io::Result<NamedTempFile> {
    let create =
        |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(path);
    tempfile::Builder::new().prefix(".dyno-").make_in(folder.within(""), create)
}

fn open(stream: &Stream, flags: i32) -> Result<File> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).custom_flags(flags | O_NOCTTY).open(by_descriptor(&stream.held));
    opened.with_context(|| format!("cannot write to {}", stream.path.display()))
}

/// Opens a FIFO that a program reads. Without one, dyno would wait for it, deaf, or lose the result at the end.
fn open_fifo(stream: &Stream) -> Result<File> {
    let fifo = open(stream, O_NONBLOCK).map_err(|error| match error.downcast_ref::<io::Error>() {
        Some(cause) if cause.raw_os_error() == Some(Errno::ENXIO as i32) => {
            anyhow!("no program reads the FIFO {}; start one first", stream.path.display())
        }
        _ => error,
    })?;
    let flags = OFlag::from_bits_truncate(fcntl(&fifo, FcntlArg::F_GETFL)?);
    fcntl(&fifo, FcntlArg::F_SETFL(flags & !OFlag::O_NONBLOCK))?;
    Ok(fifo)
}

/// A second handle of a descriptor, with the same position.
fn duplicate(number: RawFd) -> Result<File> {
    // SAFETY: the descriptor is asked of before it is used, and used no longer than this function.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = match number {
        0.. => fcntl(descriptor, FcntlArg::F_GETFL).map(OFlag::from_bits_truncate),
        _ => Err(Errno::EBADF),
    };
    let flags = flags.with_context(|| format!("descriptor {number} is not open"))?;
    if flags & OFlag::O_ACCMODE == OFlag::O_RDONLY {
        bail!("descriptor {number} is open for reading only");
    }
    Ok(File::from(descriptor.try_clone_to_owned()?))
}

#[cfg(test)]
mod tests;
