//! The file as pages: their size, which numbers are free, and where each lies.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// The byte where SQLite's locks lie; the page around it is never used (section 1.5 of the format).
const LOCK_BYTE: u64 = 0x4000_0000;
/// The highest number that a page may have (section 1.3.4, "the maximum number of pages").
const LAST: u64 = 0xffff_fffe;

/// The size of each page of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize(u32);

impl PageSize {
    /// A power of two from 512 to 65,536 bytes; None for any other number.
    pub fn new(bytes: u32) -> Option<PageSize> {
        (bytes.is_power_of_two() && (512..=65_536).contains(&bytes)).then_some(PageSize(bytes))
    }

    /// Bytes.
    #[inline]
    pub fn bytes(self) -> usize {
        self.0 as usize
    }

    /// The page that holds the locks.
    fn lock_page(self) -> u64 {
        LOCK_BYTE / u64::from(self.0) + 1
    }
}

/// The pages of a file that is being written. Threads may take and write pages at the same time.
pub struct Pages<'a> {
    file: &'a File,
    size: PageSize,
    /// Pages taken, the one of the locks not counted.
    taken: AtomicU64,
}

/// Some pages that lie one after another, but for the page of the locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    first: u64,
    lock: u64,
}

impl Span {
    /// The number of one of its pages.
    #[inline]
    pub fn number(self, index: u32) -> u32 {
        let number = self.first + u64::from(index) + 1;
        // `take` has made sure that all of them fit.
        (number + u64::from(number >= self.lock)) as u32
    }

    /// The pages from this one on.
    pub fn from(self, index: u32) -> Span {
        Span { first: self.first + u64::from(index), lock: self.lock }
    }
}

impl<'a> Pages<'a> {
    /// Of a file in which only the first page, that of the schema, is taken.
    pub(crate) fn new(file: &'a File, size: PageSize) -> Pages<'a> {
        Pages { file, size, taken: AtomicU64::new(1) }
    }

    /// The size of each page.
    pub fn size(&self) -> PageSize {
        self.size
    }

    /// Reserves unused pages. The caller must then write each of them.
    pub(crate) fn take(&self, count: u32) -> Result<Span, Error> {
        let first = self.taken.fetch_add(u64::from(count), Ordering::Relaxed);
        let span = Span { first, lock: self.size.lock_page() };
        if first + u64::from(count) + 1 > LAST {
            return Err(Error::TooManyPages);
        }
        Ok(span)
    }

    /// Takes every page up to a number, so that tests reach the page of the locks without writing a gigabyte.
    #[doc(hidden)]
    pub fn skip_to(&self, page: u32) {
        self.taken.store(u64::from(page), Ordering::Relaxed);
    }

    /// The first page: that of the schema.
    pub(crate) fn first(&self) -> Span {
        Span { first: 0, lock: self.size.lock_page() }
    }

    /// Writes a span's pages.
    pub(crate) fn write(&self, span: Span, bytes: &[u8]) -> Result<(), Error> {
        let size = self.size.bytes();
        let count = (bytes.len() / size) as u32;
        let offset = |number: u32| (u64::from(number) - 1) * size as u64;
        // At most one piece ends before the page of the locks, and one begins behind it.
        let before = (0..count).take_while(|&index| span.number(index) == span.number(0) + index).count();
        let (before, behind) = bytes.split_at(before * size);
        self.file.write_all_at(before, offset(span.number(0)))?;
        if !behind.is_empty() {
            self.file.write_all_at(behind, offset(span.number((before.len() / size) as u32)))?;
        }
        Ok(())
    }

    /// The number of the last page that was taken.
    pub(crate) fn last(&self) -> u32 {
        let taken = self.taken.load(Ordering::Relaxed);
        Span { first: taken - 1, lock: self.size.lock_page() }.number(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_locks_is_left_out() {
        let file = tempfile::tempfile().unwrap();
        let pages = Pages::new(&file, PageSize::new(65_536).unwrap());
        let lock = 16_385;
        pages.skip_to(lock - 2);
        let span = pages.take(3).unwrap();
        assert_eq!([0, 1, 2].map(|index| span.number(index)), [lock - 1, lock + 1, lock + 2]);
        let bytes: Vec<u8> = [1u8, 2, 3].iter().flat_map(|&byte| vec![byte; 65_536]).collect();
        pages.write(span, &bytes).unwrap();
        let mut at = [0; 4];
        for (place, page) in [lock - 1, lock, lock + 1, lock + 2].into_iter().enumerate() {
            file.read_exact_at(&mut at[place..=place], u64::from(page - 1) * 65_536 + 9).unwrap();
        }
        assert_eq!(at, [1, 0, 2, 3]);
        assert_eq!(pages.last(), lock + 2);
    }

    #[test]
    fn there_are_only_so_many_numbers() {
        let file = tempfile::tempfile().unwrap();
        let pages = Pages::new(&file, PageSize::new(512).unwrap());
        pages.skip_to(0xffff_fff0);
        assert!(pages.take(8).is_ok());
        assert!(matches!(pages.take(8), Err(Error::TooManyPages)));
        assert!([500, 256, 131_072, 0].iter().all(|&bytes| PageSize::new(bytes).is_none()));
    }
}
