//! Operations of a program on files, one at a time, and the sync that makes each durable.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The number of a file or a folder, whatever its names are.
pub type Number = u64;

/// The kind of thing that is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link, with what it names.
    Link(PathBuf),
    /// A socket, a pipe or a device: the type bits of its mode, and the device's number.
    Special(u32, u32),
}

/// The owner and the permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// The permission bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
}

/// One thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// A file or a folder is made, and has no name yet. Without one it is not seen.
    Make(Number, Kind, Rights),
    /// Its rights change. They are never lost: no program here could know them again.
    Rights(Number, Rights),
    /// A name in a folder is given to something, or taken away.
    Name {
        /// The folder.
        folder: Number,
        /// The name.
        name: OsString,
        /// The node that has it from now on; None: the name is taken away.
        node: Option<Number>,
    },
    /// Something moves from a name to another one, at once.
    Move {
        /// The folder and the name that it leaves.
        from: (Number, OsString),
        /// The folder and the name that it takes.
        to: (Number, OsString),
        /// The moved node.
        node: Number,
    },
    /// Bytes are written to a file, which grows if it must.
    Write {
        /// The file.
        node: Number,
        /// The offset in bytes.
        offset: u64,
        /// The bytes. They are logged separately.
        #[serde(skip)]
        bytes: Vec<u8>,
    },
    /// A file gets a length.
    Length(Number, u64),
    /// A file's bytes and its length, or a folder's names, are durable.
    Sync(Number),
}

impl Op {
    /// The files and folders all of which must be synced before this is durable; nothing where it cannot be lost.
    pub fn homes(&self) -> Vec<Number> {
        match self {
            Op::Make(..) | Op::Rights(..) | Op::Sync(_) => Vec::new(),
            Op::Name { folder, .. } => vec![*folder],
            Op::Move { from, to, .. } => vec![from.0, to.0],
            Op::Write { node, .. } | Op::Length(node, _) => vec![*node],
        }
    }

    /// For people.
    pub fn describe(&self) -> String {
        match self {
            Op::Make(node, kind, _) => format!("make {kind:?} {node}"),
            Op::Rights(node, rights) => format!("give {node} the mode {:o}", rights.mode),
            Op::Name { folder, name, node: Some(node) } => {
                format!("name {node} {} in folder {folder}", name.display())
            }
            Op::Name { folder, name, node: None } => format!("unlink {} in folder {folder}", name.display()),
            Op::Move { from, to, node } => format!(
                "rename {node} from {} in folder {} to {} in folder {}",
                from.1.display(),
                from.0,
                to.1.display(),
                to.0
            ),
            Op::Write { node, offset, bytes } => format!("write {} bytes at {offset} of {node}", bytes.len()),
            Op::Length(node, length) => format!("make {node} {length} bytes long"),
            Op::Sync(node) => format!("sync {node}"),
        }
    }
}
