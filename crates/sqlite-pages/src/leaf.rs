//! A leaf of a table while rows come to it (section 1.6 of the format).
//!
//! A record is made where it stays, before its length is known. So the cells lie in the order of their rows, one behind
//! the other, and move to the page's end as one piece when the leaf is full. SQLite writes them the other way round;
//! the format allows both, since readers follow the pointers.

use crate::page::Kind;
use crate::row::{Made, Row, most};
use crate::varint;

/// Bytes of a pointer to a cell.
const POINTER: usize = 2;

/// Bytes of the longest cell's head: the record's length and the row's number.
const HEAD: usize = 2 * varint::LONGEST;

/// The leaf that is being filled.
pub struct Leaf {
    /// Bytes of a page.
    page: usize,
    /// The cells, the first `used` bytes; behind them is room for one that does not fit the page any more.
    bytes: Vec<u8>,
    used: usize,
    /// The offset of each cell.
    starts: Vec<u16>,
    /// Bytes of cells and pointers that the page takes.
    room: usize,
    /// The expected size of the current record's length field, in bytes: that of the record before it.
    expected: usize,
    /// The offset of the current record.
    record: usize,
    /// Values of the record in work whose types take more than a byte.
    long: Vec<(usize, u64)>,
}

impl Leaf {
    /// An empty leaf on pages of `page` bytes.
    pub fn new(page: usize) -> Leaf {
        let (bytes, starts) = (vec![0; 2 * page + HEAD], Vec::with_capacity(page / POINTER));
        Leaf { page, bytes, used: 0, starts, room: 0, expected: 1, record: 0, long: Vec::new() }
    }

    /// Begins anew, on a page whose first `head` bytes are not the leaf's.
    pub fn begin(&mut self, head: usize) {
        self.starts.clear();
        self.used = 0;
        self.room = self.page - head - Kind::TableLeaf.header();
    }

    /// True if a cell of `cell` bytes fits.
    #[inline(always)]
    pub fn fits(&self, cell: usize) -> bool {
        POINTER * (self.starts.len() + 1) + self.used + cell <= self.room
    }

    /// The place of a cell of `length` bytes, which must fit.
    #[inline(always)]
    pub fn cell(&mut self, length: usize) -> &mut [u8] {
        let start = self.used;
        self.starts.push(start as u16);
        self.used += length;
        &mut self.bytes[start..start + length]
    }

    /// Writes the number of a page at a place among the cells.
    pub fn set(&mut self, place: usize, page: u32) {
        self.bytes[place..place + size_of::<u32>()].copy_from_slice(&page.to_be_bytes());
    }

    /// The offset of the last cell.
    pub fn last(&self) -> usize {
        self.starts.last().map_or(0, |&start| start.into())
    }

    /// True if a record of `values` values, whose texts have `bytes` bytes at most, can be made here: it lies within
    /// one page whatever the values are.
    #[inline(always)]
    pub fn takes(&self, values: usize, bytes: usize) -> bool {
        most(values, bytes) + HEAD + POINTER <= self.room
    }

    /// Begins such a record, behind the row's number.
    #[inline(always)]
    pub fn row(&mut self, number: i64, values: usize) -> Row<'_> {
        let start = self.used + self.expected;
        self.record = start + varint::put(&mut self.bytes[start..], number as u64);
        Row::new(&mut self.bytes[self.record..], values, &mut self.long)
    }

    /// Completes the cell of the record that was begun last, and says how many bytes it has. It is the leaf's once
    /// [`Leaf::cell`] has taken that many, if they fit.
    #[inline(always)]
    pub fn complete(&mut self, Made(length): Made) -> usize {
        let end = self.record + length;
        let taken = varint::length(length as u64);
        if taken != self.expected {
            let start = self.used + self.expected;
            self.bytes.copy_within(start..end, self.used + taken);
            let cell = end - self.used + taken - self.expected;
            self.expected = taken;
            varint::put(&mut self.bytes[self.used..], length as u64);
            return cell;
        }
        varint::put(&mut self.bytes[self.used..], length as u64);
        end - self.used
    }

    /// Moves a complete cell of `cell` bytes that does not fit to the beginning. The leaf's content must have been
    /// written before, and [`Leaf::begin`] comes next.
    pub fn carry(&mut self, cell: usize) {
        self.bytes.copy_within(self.used..self.used + cell, 0);
    }

    /// Writes the leaf to its page, whose first `head` bytes are not the leaf's, and says where the cells begin there.
    pub fn write(&self, page: &mut [u8], head: usize) -> usize {
        let (content, start) = (page.len() - self.used, head + Kind::TableLeaf.header());
        let header = &mut page[head..start];
        header.fill(0);
        header[0] = Kind::TableLeaf as u8;
        header[3..5].copy_from_slice(&(self.starts.len() as u16).to_be_bytes());
        header[5..7].copy_from_slice(&(content as u16).to_be_bytes());
        let pointers = start + POINTER * self.starts.len();
        let (places, _) = page[start..pointers].as_chunks_mut::<POINTER>();
        for (place, &cell) in places.iter_mut().zip(&self.starts) {
            *place = (content as u16).wrapping_add(cell).to_be_bytes();
        }
        // No old memory comes into the file.
        page[pointers..content].fill(0);
        page[content..].copy_from_slice(&self.bytes[..self.used]);
        content
    }
}
