//! Names: what is made, named, moved and taken away in folders.

use std::ffi::OsStr;

use fuser::{Errno, FileAttr, RenameFlags};

use super::attributes::attributes;
use super::state::State;
use crate::tree::{Kind, Number, Op, Rights};

/// A name in a folder.
pub type Place<'a> = (Number, &'a OsStr);

impl State {
    /// Makes something under a name.
    pub fn make(&mut self, (parent, name): Place, kind: Kind, rights: Rights) -> Result<FileAttr, Errno> {
        if self.tree.named(parent, name).is_some() {
            return Err(Errno::EEXIST);
        }
        let node = self.tree.fresh();
        self.apply(Op::Make(node, kind, rights))?;
        self.name((parent, name), Some(node))?;
        attributes(&self.tree, node).ok_or(Errno::EIO)
    }

    /// Gives something a second name.
    pub fn link(&mut self, (parent, name): Place, node: Number) -> Result<FileAttr, Errno> {
        if self.tree.named(parent, name).is_some() {
            return Err(Errno::EEXIST);
        }
        self.name((parent, name), Some(node))?;
        attributes(&self.tree, node).ok_or(Errno::EIO)
    }

    /// Takes away the name of a file, or of a folder in which nothing is.
    pub fn unname(&mut self, (parent, name): Place, is_folder: bool) -> Result<(), Errno> {
        let node = self.tree.named(parent, name).ok_or(Errno::ENOENT)?;
        match self.tree.names(node) {
            Some(_) if !is_folder => return Err(Errno::EISDIR),
            Some(names) if !names.is_empty() => return Err(Errno::ENOTEMPTY),
            None if is_folder => return Err(Errno::ENOTDIR),
            _ => {}
        }
        self.name((parent, name), None)
    }

    /// Gives something another name, which may be taken.
    pub fn rename(&mut self, from: Place, to: Place, flags: RenameFlags) -> Result<(), Errno> {
        let node = self.tree.named(from.0, from.1).ok_or(Errno::ENOENT)?;
        let there = self.tree.named(to.0, to.1);
        if flags.contains(RenameFlags::RENAME_NOREPLACE) && there.is_some() {
            return Err(Errno::EEXIST);
        }
        if !flags.difference(RenameFlags::RENAME_NOREPLACE).is_empty() {
            return Err(Errno::EINVAL);
        }
        if there.and_then(|there| self.tree.names(there)).is_some_and(|names| !names.is_empty()) {
            return Err(Errno::ENOTEMPTY);
        }
        let owned = |(folder, name): Place| (folder, name.to_owned());
        self.apply(Op::Move { from: owned(from), to: owned(to), node })
    }

    fn name(&mut self, (folder, name): Place, node: Option<Number>) -> Result<(), Errno> {
        self.apply(Op::Name { folder, name: name.to_owned(), node })
    }
}
