//! The content that a power cut leaves: that of a disk with a file system, or of files that are recorded themselves.

use crate::disk::log::Entry;
use crate::image::Image;
use crate::tree::{Op, Tree};

/// One or the other.
#[derive(Debug, Clone)]
pub enum Content {
    /// A disk.
    Disk(Image),
    /// Files.
    Files(Tree),
}

impl Content {
    /// Does what an entry of the log says.
    pub fn apply(&mut self, entry: &Entry) {
        match (self, entry) {
            (Content::Disk(image), Entry::Write { offset, bytes }) => image.put(*offset, bytes),
            (Content::Files(tree), Entry::File(op)) => tree.apply(op),
            _ => {}
        }
    }

    /// Does a write by halves: of each of its sectors, in order, what `left` says, from its number and its new content; a
    /// sector of which it says nothing stays as it was. A file that the write made longer is so all the same, with zeros
    /// where nothing was written.
    pub fn tear(
        &mut self,
        entry: &Entry,
        sector: usize,
        mut left: impl FnMut(usize, &[u8]) -> Option<Vec<u8>>,
    ) {
        let (Entry::Write { offset, bytes } | Entry::File(Op::Write { offset, bytes, .. })) = entry else {
            return;
        };
        for (number, new) in bytes.chunks(sector).enumerate() {
            let Some(piece) = left(number, new) else { continue };
            let start = offset + (number * sector) as u64;
            match (&mut *self, entry) {
                (Content::Disk(image), _) => image.put(start, &piece),
                (Content::Files(tree), Entry::File(Op::Write { node, .. })) => {
                    tree.write(*node, start, &piece)
                }
                _ => {}
            }
        }
        if let (Content::Files(tree), Entry::File(Op::Write { node, .. })) = (self, entry) {
            tree.grow(*node, offset + bytes.len() as u64);
        }
    }

    /// A digest of all that can be seen.
    pub fn digest(&self) -> u128 {
        match self {
            Content::Disk(image) => image.digest(),
            Content::Files(tree) => tree.digest(),
        }
    }
}
