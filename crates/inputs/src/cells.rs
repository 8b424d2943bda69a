//! Flat files of cells of one width, mapped: a cell is found by a multiplication.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use memmap2::{Advice, Mmap};

/// The page size: the unit in which the kernel maps a file.
const PAGE: usize = 4096;

/// A file of cells, in memory.
#[derive(Debug)]
pub struct Cells {
    bytes: Mmap,
    width: usize,
}

/// Some cells of a file, one after another.
#[derive(Debug, Clone, Copy)]
pub struct Slice<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl Cells {
    /// Maps a file that must hold `count` cells of `width` bytes, and touches every page of it, so that no page is read
    /// within the timed section. A file larger than half of the free memory is only read ahead: touching it would evict
    /// its own beginning.
    pub fn load(path: &Path, count: u64, width: u64) -> Result<Cells> {
        let name = || format!("the input {}", path.display());
        let file = File::open(path).with_context(|| format!("cannot open {}", name()))?;
        let length = file.metadata().with_context(|| format!("cannot look at {}", name()))?.len();
        let expected = count.checked_mul(width).filter(|_| width > 0);
        ensure!(
            expected == Some(length),
            "{} has {length} bytes where {count} cells of {width} bytes are promised: it is cut off or of \
             another shape",
            name()
        );
        // SAFETY: dyno wrote the file for this trial and nothing changes it while the runner lives.
        let bytes = unsafe { Mmap::map(&file) }.with_context(|| format!("cannot map {}", name()))?;
        // Advice that is not taken changes nothing but speed before the clock.
        let _ = bytes.advise(Advice::WillNeed);
        if length < available_memory() / 2 {
            for page in (0..bytes.len()).step_by(PAGE) {
                std::hint::black_box(bytes[page]);
            }
        }
        Ok(Cells { bytes, width: usize::try_from(width)? })
    }

    /// The number of cells.
    pub fn len(&self) -> u64 {
        (self.bytes.len() / self.width) as u64
    }

    /// True if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All cells.
    #[inline]
    pub fn all(&self) -> Slice<'_> {
        Slice { bytes: &self.bytes, width: self.width }
    }

    /// Some of the cells.
    ///
    /// # Panics
    /// The range is beyond the end.
    pub fn slice(&self, range: Range<u64>) -> Slice<'_> {
        self.all().slice(range)
    }
}

impl<'a> Slice<'a> {
    /// Cells of `width` bytes in memory.
    pub fn new(bytes: &'a [u8], width: usize) -> Slice<'a> {
        Slice { bytes, width }
    }

    /// The number of cells.
    #[inline]
    pub fn len(&self) -> u64 {
        (self.bytes.len() / self.width) as u64
    }

    /// True if there are no cells.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All of them as they lie in memory.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The width of a cell in bytes.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Splits the cells into groups of this size; the last may be smaller.
    ///
    /// # Panics
    /// The size is 0.
    #[inline]
    pub fn groups(&self, cells: u64) -> impl Iterator<Item = Slice<'a>> + use<'a> {
        let width = self.width;
        self.bytes.chunks(width * cells as usize).map(move |bytes| Slice { bytes, width })
    }

    /// The cells in order.
    #[inline]
    pub fn iter(&self) -> std::slice::ChunksExact<'a, u8> {
        self.bytes.chunks_exact(self.width)
    }

    /// The cell at a place counted from zero.
    ///
    /// # Panics
    /// There is no such cell.
    #[inline]
    pub fn get(&self, index: u64) -> &'a [u8] {
        let start = index as usize * self.width;
        &self.bytes[start..start + self.width]
    }

    /// Some of the cells.
    ///
    /// # Panics
    /// The range is beyond the end.
    pub fn slice(&self, range: Range<u64>) -> Slice<'a> {
        let bytes = &self.bytes[range.start as usize * self.width..range.end as usize * self.width];
        Slice { bytes, width: self.width }
    }
}

/// The kernel's estimate of available memory, in bytes; 0 if it gives no estimate.
fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    dyno_gauge::field(&text, "MemAvailable:").map_or(0, |kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(bytes: &[u8], count: u64, width: u64) -> Result<Cells> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        std::fs::write(&path, bytes).unwrap();
        Cells::load(&path, count, width)
    }

    #[test]
    fn a_mapped_file_is_the_array() {
        let cells = load(b"aabbccdd", 4, 2).unwrap();
        assert_eq!((cells.len(), cells.all().get(2)), (4, b"cc".as_slice()));
        let some = cells.slice(1..3);
        assert_eq!(some.iter().collect::<Vec<_>>(), [b"bb", b"cc"]);
        assert_eq!((some.len(), some.bytes()), (2, b"bbcc".as_slice()));
        let groups: Vec<_> = cells.all().groups(3).map(|group| group.bytes()).collect();
        assert_eq!(groups, [b"aabbcc".as_slice(), b"dd"]);
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        for (bytes, count, width) in [(b"aabbcc".as_slice(), 4, 2), (b"aabbccd", 3, 2), (b"", 0, 0)] {
            let said = format!("{:#}", load(bytes, count, width).unwrap_err());
            assert!(said.contains("cells of") && said.contains("keys"), "{said}");
        }
    }
}
