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

    /// Does a write by halves: of its sectors those that `keeps` says, in order. A file that it made longer is so all
    /// the same, with zeros where nothing was written.
    pub fn tear(&mut self, entry: &Entry, sector: usize, mut keeps: impl FnMut() -> bool) {
        let (Entry::Write { offset, bytes } | Entry::File(Op::Write { offset, bytes, .. })) = entry else {
            return;
        };
        for (number, piece) in bytes.chunks(sector).enumerate().filter(|_| keeps()) {
            let start = offset + (number * sector) as u64;
            match (&mut *self, entry) {
                (Content::Disk(image), _) => image.put(start, piece),
                (Content::Files(tree), Entry::File(Op::Write { node, .. })) => {
                    tree.write(*node, start, piece)
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
