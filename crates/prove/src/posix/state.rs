//! The files that are served, and the log of what is done to them.

use std::ffi::OsString;

use fuser::{Errno, FileType};
use nix::libc;

use super::attributes::attributes;
use crate::disk::log::Writer;
use crate::tree::{NodeKind, Number, Op, Rights, Tree};

/// Both.
pub struct State {
    /// The files as the program sees them.
    pub tree: Tree,
    /// The log of operations.
    pub log: Writer,
}

impl State {
    /// Logs something and does it.
    pub fn apply(&mut self, op: Op) -> Result<(), Errno> {
        self.log.file(&op).map_err(|_| Errno::ENOSPC)?;
        self.tree.apply(&op);
        Ok(())
    }

    /// Logs what the program says.
    pub fn say(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        self.log.text(bytes).map_err(|_| Errno::ENOSPC)
    }

    /// Changes rights, as mode, owner and group, and the length, each where there is a new one.
    pub fn change(
        &mut self,
        number: Number,
        (mode, uid, gid): (Option<u32>, Option<u32>, Option<u32>),
        size: Option<u64>,
    ) -> Result<(), Errno> {
        let Some(node) = self.tree.node(number) else { return Ok(()) };
        let old = node.rights;
        let rights = Rights {
            mode: mode.map_or(old.mode, |mode| mode & 0o7777),
            uid: uid.unwrap_or(old.uid),
            gid: gid.unwrap_or(old.gid),
        };
        if rights != old {
            self.apply(Op::Rights(number, rights))?;
        }
        size.map_or(Ok(()), |size| self.apply(Op::Length(number, size)))
    }

    /// Makes a part of a file zeros, or the file longer, as fallocate(2) says.
    pub fn allocate(&mut self, node: Number, offset: u64, length: u64, mode: i32) -> Result<(), Errno> {
        let zeroes = mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0;
        let keeps = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        let known = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE;
        let Some(NodeKind::File(image)) = self.tree.node(node).map(|node| &node.what) else {
            return Err(Errno::ENODEV);
        };
        if mode & !known != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let (old, end) = (image.length(), offset + length);
        if zeroes && offset < old {
            let bytes = vec![0; (end.min(old) - offset) as usize];
            self.apply(Op::Write { node, offset, bytes })?;
        }
        match !keeps && end > old {
            true => self.apply(Op::Length(node, end)),
            false => Ok(()),
        }
    }

    /// The entries of a folder, by number.
    pub fn listed(&self, folder: Number) -> Vec<(OsString, Number, FileType)> {
        let names = self.tree.names(folder).into_iter().flatten();
        let mut listed: Vec<_> = names
            .filter_map(|(name, &number)| Some((name.clone(), number, attributes(&self.tree, number)?.kind)))
            .collect();
        listed.sort_by_key(|&(_, number, _)| number);
        listed
    }
}
