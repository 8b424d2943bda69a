//! The attributes of a file or a folder, as the kernel receives them.

use std::time::UNIX_EPOCH;

use fuser::{FileAttr, FileType, INodeNo};
use nix::libc;

use crate::tree::{Kind, NodeKind, Number, Rights, Tree};

/// The number of the file that is the program's standard output.
pub const OUTPUT_NODE: Number = 2;

/// All of it. Times are not kept: no program asks here when a file was changed.
pub fn attributes(tree: &Tree, number: Number) -> Option<FileAttr> {
    let output = Rights { mode: 0o600, uid: 0, gid: 0 };
    let (kind, size, rights, rdev) = match tree.node(number) {
        None if number == OUTPUT_NODE => (FileType::RegularFile, 0, output, 0),
        None => return None,
        Some(node) => {
            let (kind, size, rdev) = match &node.what {
                NodeKind::Folder(_) => (FileType::Directory, 4096, 0),
                NodeKind::File(image) => (FileType::RegularFile, image.length(), 0),
                NodeKind::Other(Kind::Link(to)) => (FileType::Symlink, to.as_os_str().len() as u64, 0),
                NodeKind::Other(Kind::Special(mode, rdev)) => (special(*mode), 0, *rdev),
                NodeKind::Other(_) => return None,
            };
            (kind, size, node.rights, rdev)
        }
    };
    let never = UNIX_EPOCH;
    Some(FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(512),
        atime: never,
        mtime: never,
        ctime: never,
        crtime: never,
        kind,
        perm: rights.mode as u16,
        nlink: 1,
        uid: rights.uid,
        gid: rights.gid,
        rdev,
        blksize: 4096,
        flags: 0,
    })
}

fn special(mode: u32) -> FileType {
    match mode & libc::S_IFMT {
        libc::S_IFSOCK => FileType::Socket,
        libc::S_IFIFO => FileType::NamedPipe,
        libc::S_IFBLK => FileType::BlockDevice,
        _ => FileType::CharDevice,
    }
}
