//! The recorder of files: a file system in memory, served by a separate process, that logs all operations.
//!
//! The standard output of the program that works on the files is a file of it too, which no listing shows. As one
//! thread serves everything, each line has one exact place among the operations on the files.
//!
//! Files may be mapped into memory: what is stored there comes as a write when the program syncs it, or later when
//! the kernel writes it back. Locks are the kernel's affair.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, Session, SessionACL, TimeOrNow, WriteFlags,
};
use nix::libc;

use super::attributes::{OUTPUT_NODE, attributes};
use super::state::State;
use crate::disk::log::Writer;
use crate::tree::{Kind, NodeKind, Op, ROOT, Rights, Tree};

/// The name of the file that is the program's standard output.
pub const OUTPUT: &str = ".dyno-output";

/// The time for which the kernel may cache answers: only requests through the kernel change anything.
const VALID: Duration = Duration::from_secs(3600);
/// No file is asked for its generation: no number is used twice.
const GENERATION: Generation = Generation(0);
/// The size and the free space, in blocks of 4 KiB, and the number of files.
const BLOCKS: u64 = 1 << 18;
const FILES: u64 = 1 << 16;

/// Serves the files over the connection that is standard input, until they are unmounted. `folder` holds the initial
/// content, and `log` is created.
///
/// # Errors
/// The folder cannot be read, or standard input is no connection.
pub fn serve(folder: &Path, log: &Path) -> Result<()> {
    let connection = io::stdin().as_fd().try_clone_to_owned().context("there is no connection")?;
    let log = Writer::create(log).context("cannot make the log")?;
    let files = Files(Mutex::new(State { tree: Tree::of(folder)?, log }));
    let session = Session::from_fd(files, connection, SessionACL::All, Config::default())?;
    match session.run() {
        // A request was on its way when it was unmounted.
        Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => Ok(()),
        ended => ended.context("the connection broke"),
    }
}

struct Files(Mutex<State>);

impl Files {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes something under a name; it belongs to the user whose process asks.
    fn make(
        &self,
        request: &Request,
        (parent, name): (INodeNo, &OsStr),
        kind: Kind,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        let rights = Rights { mode: mode & 0o7777, uid: request.uid(), gid: request.gid() };
        self.state().make((parent.0, name), kind, rights)
    }

    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        attributes(&self.state().tree, node.0)
    }
}

fn entry(reply: ReplyEntry, made: Result<FileAttr, Errno>) {
    match made {
        Ok(attributes) => reply.entry(&VALID, &attributes, GENERATION),
        Err(error) => reply.error(error),
    }
}

fn done(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let state = self.state();
        let node = match parent.0 == ROOT && name == OUTPUT {
            true => Some(OUTPUT_NODE),
            false => state.tree.named(parent.0, name),
        };
        entry(reply, node.and_then(|node| attributes(&state.tree, node)).ok_or(Errno::ENOENT));
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&VALID, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut state = self.state();
        let changed = state.change(node.0, (mode, uid, gid), size);
        match (changed, attributes(&state.tree, node.0)) {
            (Ok(()), Some(attributes)) => reply.attr(&VALID, &attributes),
            (Err(error), _) => reply.error(error),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _: &Request, node: INodeNo, reply: ReplyData) {
        match self.state().tree.node(node.0).map(|node| &node.what) {
            Some(NodeKind::Other(Kind::Link(to))) => reply.data(to.as_os_str().as_encoded_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        let kind = match mode & libc::S_IFMT {
            libc::S_IFREG | 0 => Kind::File,
            kind => Kind::Special(kind, rdev),
        };
        entry(reply, self.make(request, (parent, name), kind, mode & !umask));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        entry(reply, self.make(request, (parent, name), Kind::Folder, mode & !umask));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.state().unname((parent.0, name), false));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.state().unname((parent.0, name), true));
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, to: &Path, reply: ReplyEntry) {
        entry(reply, self.make(request, (parent, name), Kind::Link(to.to_owned()), 0o777));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        done(reply, self.state().rename((parent.0, name), (to.0, to_name), flags));
    }

    fn link(&self, _: &Request, node: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, self.state().link((parent.0, name), node.0));
    }

    fn open(&self, _: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags =
            if node.0 == OUTPUT_NODE { FopenFlags::FOPEN_DIRECT_IO } else { FopenFlags::FOPEN_KEEP_CACHE };
        reply.opened(FileHandle(0), flags);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.make(request, (parent, name), Kind::File, mode & !umask) {
            Ok(made) => reply.created(&VALID, &made, GENERATION, FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE),
            Err(error) => reply.error(error),
        }
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
        match self.state().tree.node(node.0).map(|node| &node.what) {
            Some(NodeKind::File(image)) => reply.data(&image.bytes(offset, size as usize)),
            _ => reply.data(&[]),
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
        let mut state = self.state();
        let written = match node.0 {
            OUTPUT_NODE => state.say(bytes),
            node => state.apply(Op::Write { node, offset, bytes: bytes.to_vec() }),
        };
        match written {
            Ok(()) => reply.written(bytes.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        node: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        done(reply, self.state().allocate(node.0, offset, length, mode));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match node.0 {
            OUTPUT_NODE => reply.ok(),
            node => done(reply, self.state().apply(Op::Sync(node))),
        }
    }

    fn fsyncdir(&self, _: &Request, node: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        done(reply, self.state().apply(Op::Sync(node.0)));
    }

    fn readdir(&self, _: &Request, node: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        for (name, number, kind) in self.state().listed(node.0) {
            // A number is a place that stays the same when others go meanwhile.
            if number > offset && reply.add(INodeNo(number), number, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS / 2, BLOCKS / 2, FILES, FILES / 2, 4096, 255, 4096);
    }
}
