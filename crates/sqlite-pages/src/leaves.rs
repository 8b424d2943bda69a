//! Leaves of a table that one thread fills, and their overflow pages, before they have a place in the file.

#[cfg(test)]
mod tests;

use crate::copy::copy;
use crate::error::Error;
use crate::leaf::Leaf;
use crate::pages::Pages;
use crate::payload::{KEPT, Room};
use crate::record::{Encoder, Value};
use crate::row::{Made, Row};
use crate::varint;

/// Bytes of a page's number.
const LINK: usize = 4;

/// Some leaves. While they have no place their pages are counted from 0; [`Leaves::place`] gives them numbers.
pub struct Leaves {
    page: usize,
    room: Room,
    /// Bytes kept free at the beginning of the first page.
    head: usize,
    /// The pages; of the buffer the first `used` are in use.
    bytes: Vec<u8>,
    used: u32,
    /// The leaf that is being filled, and which page it is once it has a row.
    leaf: Leaf,
    filling: Option<u32>,
    /// Offsets in the leaf at which the number of another one of these pages is stored.
    unplaced: Vec<usize>,
    /// The number of the row that was begun last.
    begun: i64,
    /// The leaves that are full, by page, each with the number of its last row.
    full: Vec<(u32, i64)>,
    /// Offsets in the pages at which the number of another one of these pages is stored.
    links: Vec<usize>,
    encoder: Encoder,
    record: Vec<u8>,
    first: Option<i64>,
    before: Option<i64>,
    rows: u64,
}

/// Leaves that are in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The page of each and the number of its last row.
    pub(crate) leaves: Vec<(u32, i64)>,
    /// The number of the first row.
    pub(crate) first: Option<i64>,
    /// The number of rows in these leaves.
    pub rows: u64,
}

impl Leaves {
    /// No leaves yet, with pages of the file's size.
    pub fn new(pages: &Pages) -> Leaves {
        Leaves::with_head(pages.size().bytes(), 0)
    }

    /// No leaves yet; the first one will leave `head` bytes free at its beginning.
    pub(crate) fn with_head(page: usize, head: usize) -> Leaves {
        let mut leaf = Leaf::new(page);
        leaf.begin(head);
        Leaves {
            page,
            room: Room::of_table(page),
            head,
            bytes: Vec::new(),
            used: 0,
            leaf,
            filling: None,
            unplaced: Vec::new(),
            begun: 0,
            full: Vec::new(),
            links: Vec::new(),
            encoder: Encoder::default(),
            record: Vec::new(),
            first: None,
            before: None,
            rows: 0,
        }
    }

    /// Adds a row, whose number must be above the one before it.
    ///
    /// # Errors
    /// The number is not, or the row is longer than SQLite takes.
    pub fn push(&mut self, number: i64, values: &[Value]) -> Result<(), Error> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        let pushed = match self.encoder.append(values.iter().copied(), &mut record) {
            Ok(_) => self.push_record(number, &record),
            Err(error) => Err(error),
        };
        self.record = record;
        pushed
    }

    /// Adds a row that an [`Encoder`](crate::Encoder) has made a record of.
    ///
    /// # Errors
    /// The number is not above the one before it.
    pub fn push_record(&mut self, number: i64, record: &[u8]) -> Result<(), Error> {
        self.push_records([(number, record)].into_iter())
    }

    /// Adds rows of which [`Records`](crate::Records) were made.
    ///
    /// # Errors
    /// A number is not above the one before it.
    pub fn push_records<'r>(&mut self, rows: impl Iterator<Item = (i64, &'r [u8])>) -> Result<(), Error> {
        let mut before = self.before;
        for (number, record) in rows {
            self.check(before, number)?;
            before = Some(number);
            self.put(number, record);
        }
        Ok(())
    }

    /// Begins a row whose record is made where it stays: one of `values` values, whose texts have `bytes` bytes at
    /// most. None if it may be too long for that. The row counts once [`Leaves::add`] has taken it.
    #[inline(always)]
    pub fn begin(&mut self, number: i64, values: usize, bytes: usize) -> Option<Row<'_>> {
        self.begun = number;
        // Not `then`, which is a call where functions are compiled for other processors.
        if self.leaf.takes(values, bytes) { Some(self.leaf.row(number, values)) } else { None }
    }

    /// Takes the row that was begun last.
    ///
    /// # Errors
    /// Its number is not above the one before it.
    #[inline(always)]
    pub fn add(&mut self, made: Made) -> Result<(), Error> {
        let number = self.begun;
        self.check(self.before, number)?;
        let cell = self.leaf.complete(made);
        if self.filling.is_none() || !self.leaf.fits(cell) {
            self.turn(cell);
        }
        self.leaf.cell(cell);
        self.note(number);
        Ok(())
    }

    /// Begins a new leaf with the row that was completed.
    #[cold]
    fn turn(&mut self, cell: usize) {
        self.write_leaf();
        self.leaf.carry(cell);
        self.open();
    }

    #[inline(always)]
    fn check(&self, before: Option<i64>, number: i64) -> Result<(), Error> {
        match before {
            Some(before) if before >= number => Err(Error::RowsOutOfOrder { number, before }),
            _ => Ok(()),
        }
    }

    #[inline(always)]
    fn note(&mut self, number: i64) {
        self.first.get_or_insert(number);
        self.before = Some(number);
        self.rows += 1;
    }

    #[inline(always)]
    fn put(&mut self, number: i64, record: &[u8]) {
        let (local, length) = (self.room.local(record.len()), record.len() as u64);
        let head = varint::length(length) + varint::length(number as u64);
        let is_whole = local == record.len();
        let cell = head + local + if is_whole { 0 } else { LINK };
        if self.filling.is_none() || !self.leaf.fits(cell) {
            self.write_leaf();
            self.open();
        }
        let bytes = self.leaf.cell(cell);
        let at = varint::put(bytes, length);
        varint::put(&mut bytes[at..], number as u64);
        copy(&mut bytes[head..head + local], &record[..local]);
        if !is_whole {
            self.overflow(head + local, &record[local..]);
        }
        self.note(number);
    }

    /// Puts the rest of a record on overflow pages; the number of the first one is stored at `link` in the last cell.
    #[cold]
    fn overflow(&mut self, link: usize, rest: &[u8]) {
        let (cell, first) = (self.leaf.last(), self.used);
        self.leaf.set(cell + link, first);
        self.unplaced.push(cell + link);
        let mut parts = rest.chunks(self.room.overflow()).peekable();
        while let Some(part) = parts.next() {
            let start = self.fresh() as usize * self.page;
            let (after, next) = (start + LINK + part.len(), parts.peek().map_or(0, |_| self.used));
            self.bytes[start..start + LINK].copy_from_slice(&next.to_be_bytes());
            self.bytes[start + LINK..after].copy_from_slice(part);
            self.bytes[after..start + self.page].fill(0);
            if next > 0 {
                self.links.push(start);
            }
        }
    }

    /// Takes a page for the leaf.
    fn open(&mut self) {
        let page = self.fresh();
        self.leaf.begin(if page == 0 { self.head } else { 0 });
        self.filling = Some(page);
    }

    /// A page more; what it holds is old.
    fn fresh(&mut self) -> u32 {
        let page = self.used;
        self.used += 1;
        let end = self.used as usize * self.page;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        page
    }

    /// Writes the leaf that is being filled to its page.
    fn write_leaf(&mut self) {
        if let (Some(page), Some(last)) = (self.filling.take(), self.before) {
            let (start, head) = (page as usize * self.page, if page == 0 { self.head } else { 0 });
            let content = self.leaf.write(&mut self.bytes[start..start + self.page], head);
            self.links.extend(self.unplaced.drain(..).map(|link| start + content + link));
            self.full.push((page, last));
        }
    }

    /// The size of the pages so far, in bytes.
    pub fn bytes(&self) -> usize {
        self.used as usize * self.page
    }

    /// Gives the leaves their places in the file, writes them, and is empty again, for rows that come after.
    ///
    /// # Errors
    /// The file cannot be written, or has too many pages.
    pub fn place(&mut self, pages: &Pages) -> Result<Placed, Error> {
        let span = pages.take(self.used)?;
        self.link(|index| span.number(index));
        pages.write(span, &self.bytes[..self.bytes()])?;
        let leaves = self.full.drain(..).map(|(page, last)| (span.number(page), last)).collect();
        self.used = 0;
        if self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
        self.leaf.begin(self.head);
        Ok(Placed { leaves, first: self.first.take(), rows: std::mem::take(&mut self.rows) })
    }

    /// As [`Leaves::place`], but the one leaf that there is becomes the file's first page, with `head` before it.
    pub(crate) fn place_first(&mut self, pages: &Pages, head: &[u8]) -> Result<(), Error> {
        let span = pages.take(self.used - 1)?;
        self.link(|index| if index == 0 { 1 } else { span.number(index - 1) });
        self.bytes[..head.len()].copy_from_slice(head);
        let (first, others) = self.bytes[..self.used as usize * self.page].split_at(self.page);
        pages.write(span, others)?;
        pages.write(pages.first(), first)
    }

    /// The number of leaves.
    pub(crate) fn count(&self) -> usize {
        self.full.len() + usize::from(self.filling.is_some())
    }

    fn link(&mut self, number: impl Fn(u32) -> u32) {
        self.write_leaf();
        for link in self.links.drain(..) {
            let page = &mut self.bytes[link..link + LINK];
            let index = u32::from_be_bytes([page[0], page[1], page[2], page[3]]);
            page.copy_from_slice(&number(index).to_be_bytes());
        }
    }
}
