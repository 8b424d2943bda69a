//! The recorder: a file system of two files, served by a separate process.
//!
//! `disk` is the backing file of a loop device. Each write and each flush of it is logged before it is answered,
//! whichever process issued it. `output` is the standard output of the program whose commits are on the disk. Its
//! content goes to the same log, and since one thread serves both files, a line has one exact place among the writes
//! and flushes: behind all that were answered before the program wrote it, and before all that the program does
//! afterwards, because it goes on only when its write was answered.
//!
//! The process holds no other file system's file and no mount, and the kernel kills it when dyno dies: then the
//! connection ends, and a process that waited for the disk gets an error instead of waiting for ever.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    Session, SessionACL, TimeOrNow, WriteFlags,
};

use super::faults::{Faults, Reaction};
use super::log::Writer;

/// The name of the file under the loop device.
pub const DISK: &str = "disk";
/// The name of the file that is the program's standard output.
pub const OUTPUT: &str = "output";

const DISK_NODE: INodeNo = INodeNo(2);
const OUTPUT_NODE: INodeNo = INodeNo(3);
/// The time for which the kernel may cache the files' attributes, which never change.
const VALID: Duration = Duration::from_secs(3600);

/// Serves the file system over the connection that is standard input, until it is unmounted. `disk` is
/// the content and `log` is made.
///
/// # Errors
/// The files cannot be opened, or standard input is no connection.
pub fn serve(disk: &Path, log: &Path, faults: Faults) -> Result<()> {
    let connection = io::stdin().as_fd().try_clone_to_owned().context("there is no connection")?;
    let disk = File::options().read(true).write(true).open(disk).context("cannot open the disk's file")?;
    let size = disk.metadata()?.len();
    let state = Mutex::new(State { log: Writer::create(log).context("cannot make the log")?, faults });
    let recorder = Recorder { disk, size, state };
    let session = Session::from_fd(recorder, connection, SessionACL::Owner, Config::default())?;
    match session.run() {
        // A request was on its way when the file system was unmounted: the kernel's other way to report the end. A
        // program that was cut off while at work reports this itself.
        Err(error) if error.raw_os_error() == Some(nix::libc::ECONNABORTED) => Ok(()),
        ended => ended.context("the connection broke"),
    }
}

struct Recorder {
    disk: File,
    size: u64,
    state: Mutex<State>,
}

struct State {
    log: Writer,
    faults: Faults,
}

impl Recorder {
    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0),
            DISK_NODE => (FileType::RegularFile, self.size),
            OUTPUT_NODE => (FileType::RegularFile, 0),
            _ => return None,
        };
        let never = UNIX_EPOCH;
        Some(FileAttr {
            ino: node,
            size,
            blocks: size / 512,
            atime: never,
            mtime: never,
            ctime: never,
            crtime: never,
            kind,
            perm: if kind == FileType::Directory { 0o700 } else { 0o600 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a write and does it, unless it is to fail.
    fn write_disk(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut state = self.state();
        let reaction = state.faults.write();
        self.obey(&mut state, reaction, |log| log.write(offset, bytes))?;
        self.disk.write_all_at(bytes, offset).map_err(|_| Errno::EIO)
    }

    fn flush_disk(&self) -> Result<(), Errno> {
        let mut state = self.state();
        let reaction = state.faults.flush();
        self.obey(&mut state, reaction, Writer::flush)
    }

    fn obey(
        &self,
        state: &mut State,
        reaction: Reaction,
        log: impl FnOnce(&mut Writer) -> io::Result<()>,
    ) -> Result<(), Errno> {
        match reaction {
            Reaction::Work => log(&mut state.log).map_err(|_| Errno::ENOSPC),
            Reaction::Refuse => {
                let _ = state.log.refused();
                Err(Errno::EIO)
            }
        }
    }

    fn say(&self, bytes: &[u8]) -> Result<(), Errno> {
        let mut state = self.state();
        state.log.text(bytes).map_err(|_| Errno::ENOSPC)
    }
}

impl Filesystem for Recorder {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let node = match name.to_str() {
            Some(DISK) => DISK_NODE,
            Some(OUTPUT) => OUTPUT_NODE,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(node) {
            Some(attributes) => reply.entry(&VALID, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&VALID, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    // A shell that redirects to the output empties it first, which changes nothing.
    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&VALID, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    // Without the kernel's cache each write comes here before its caller goes on.
    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if node != DISK_NODE {
            return reply.data(&[]);
        }
        let length = u64::from(size).min(self.size.saturating_sub(offset)) as usize;
        if self.state().faults.read(offset, length as u64) == Reaction::Refuse {
            return reply.error(Errno::EIO);
        }
        let mut bytes = vec![0; length];
        match self.disk.read_exact_at(&mut bytes, offset) {
            Ok(()) => reply.data(&bytes),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let done = match node {
            DISK_NODE if offset + bytes.len() as u64 > self.size => Err(Errno::ENOSPC),
            DISK_NODE => self.write_disk(offset, bytes),
            _ => self.say(bytes),
        };
        match done {
            Ok(()) => reply.written(bytes.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match node {
            DISK_NODE => match self.flush_disk() {
                Ok(()) => reply.ok(),
                Err(error) => reply.error(error),
            },
            _ => reply.ok(),
        }
    }
}
