//! The blocks of files on their disk, as the file system reports them (FIEMAP).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use dyno_files::{Found, HeldFolder};
use nix::errno::Errno;
use nix::libc;

use crate::disk::faults::BLOCK;

/// The request `FS_IOC_FIEMAP` of `linux/fs.h`.
const FIEMAP: libc::Ioctl = 0xC020_660B;
/// Write what is only in memory first.
const SYNC: u32 = 1;
/// Flags of extents whose bytes are not at their position as they are: unknown, delayed, encoded, encrypted, not
/// aligned, within the inode, in a tail, allocated and not written.
const ELSEWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800;
/// The most extents of a file that are asked for.
const EXTENTS: usize = 256;

/// `struct fiemap_extent` of `linux/fiemap.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

/// `struct fiemap` of the same, with room for its extents.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

/// A block of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file, within the folder.
    pub file: PathBuf,
    /// Its offset in the file, in bytes.
    pub in_file: u64,
    /// Its offset on the disk, in bytes.
    pub on_disk: u64,
}

/// The blocks of all files in a folder, in the order of their names. A file of which the file system says nothing has
/// none.
pub fn blocks(folder: &Path) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Ok(folder) = HeldFolder::open(folder) {
        add(&folder, Path::new(""), &mut blocks);
    }
    blocks.sort_by(|one, other| (&one.file, one.in_file).cmp(&(&other.file, other.in_file)));
    blocks
}

/// Adds the blocks of a folder. It may belong to the account of a server, so it is held open, and no link is followed.
fn add(folder: &HeldFolder, within: &Path, blocks: &mut Vec<Block>) {
    for name in folder.names().unwrap_or_default() {
        let path = within.join(&name);
        match folder.find(&name) {
            Ok((Found::Folder(inner), _)) => add(&inner, &path, blocks),
            Ok((Found::File(file), about)) => {
                let length = about.len();
                for Extent { logical, physical, length: many, .. } in extents(&file) {
                    let inside =
                        (0..many).step_by(BLOCK as usize).filter(|part| logical + part + BLOCK <= length);
                    blocks.extend(inside.map(|part| Block {
                        file: path.clone(),
                        in_file: logical + part,
                        on_disk: physical + part,
                    }));
                }
            }
            _ => {}
        }
    }
}

/// The extents of a file whose bytes are on the disk as they are.
fn extents(file: &File) -> Vec<Extent> {
    let mut map = Map {
        start: 0,
        length: u64::MAX,
        flags: SYNC,
        mapped: 0,
        count: EXTENTS as u32,
        reserved: 0,
        extents: [Extent::default(); EXTENTS],
    };
    // SAFETY: the request reads and writes one structure of this layout, with as many extents as it says.
    let asked = Errno::result(unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut map) });
    let many = asked.map_or(0, |_| map.mapped as usize);
    map.extents[..many.min(EXTENTS)].iter().filter(|extent| extent.flags & ELSEWHERE == 0).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_sizes_of_the_kernels() {
        assert_eq!((size_of::<Extent>(), size_of::<Map>()), (56, 32 + 56 * EXTENTS));
    }
}
