//! Leaves of an index, or of a table WITHOUT ROWID, that one thread fills from records in order (section 1.6 of the
//! format).
//!
//! Records of interior pages are not repeated in the leaves: where a leaf is full, the next record goes up between it
//! and the leaf that comes after.

use crate::cells::Cells;
use crate::copy::copy;
use crate::error::Error;
use crate::page::{Filling, Kind};
use crate::pages::Pages;
use crate::payload::{LONGEST, Room};
use crate::row::integer_type;
use crate::varint;

/// Pages that are written at once.
const GATHERED: usize = 64;

/// The fewest bytes of a cell: its place may come to hold a free block.
const LEAST: usize = 4;

/// Bytes of a [`KeyEntry`]'s cell before its values.
const HEAD: usize = 4;

/// Bytes before a cell that [`KeyEntry::put`] overwrites.
const SPILL: usize = 8;

/// The entry of a row in an index on one column of whole numbers.
struct KeyEntry {
    /// The type's number of the key and the bytes that it takes, and the same of the row's number.
    types: [(u8, u8); 2],
    /// The key, 0 where it is NULL, and the row's number.
    values: [i64; 2],
    /// Bytes of the cell.
    length: usize,
}

impl KeyEntry {
    #[inline(always)]
    fn new(key: Option<i64>, number: i64) -> KeyEntry {
        let types = [key.map_or((0, 0), integer_type), integer_type(number)];
        let length = HEAD + usize::from(types[0].1) + usize::from(types[1].1);
        KeyEntry { types, values: [key.unwrap_or_default(), number], length }
    }

    /// Writes the cell such that it ends at `end`. Each value is written from its end on with eight bytes: what was
    /// before it comes after.
    #[inline(always)]
    fn put(&self, page: &mut [u8], end: usize) {
        let [(key_type, key_length), (row_type, row_length)] = self.types;
        let [key, row] = self.values;
        page[end - 8..end].copy_from_slice(&row.to_be_bytes());
        let end = end - usize::from(row_length);
        page[end - 8..end].copy_from_slice(&key.to_be_bytes());
        let start = end - usize::from(key_length) - HEAD;
        // The record's length, the length of its header, and the types: no number takes more than a byte.
        page[start..start + HEAD].copy_from_slice(&[
            self.length as u8 - 1,
            HEAD as u8 - 1,
            key_type,
            row_type,
        ]);
    }

    /// The record without the cell.
    #[cold]
    fn record(&self) -> Vec<u8> {
        let mut cell = vec![0; SPILL + self.length];
        self.put(&mut cell, SPILL + self.length);
        cell.split_off(SPILL + 1)
    }
}

/// Leaves that are being filled.
pub struct IndexLeaves<'a, 'f> {
    pages: &'a Pages<'f>,
    room: Room,
    /// Leaves that are not in the file yet: the full ones, then the one that is being filled.
    bytes: Vec<u8>,
    full: usize,
    leaf: Filling,
    /// The cell that did not fit any more; it moves to the level above once another one is sure to follow. Empty: no
    /// cell waits.
    waiting: Vec<u8>,
    /// True if the next record moves to the level above, between these leaves and those before them.
    is_first: bool,
    placed: IndexPlaced,
}

/// Leaves that are in the file, and the records that go up from between them.
#[derive(Debug)]
pub struct IndexPlaced {
    /// The cell between the leaves before and these; None if no leaves come before.
    pub(crate) first: Option<Vec<u8>>,
    /// Each leaf but the last, with the cell behind it.
    pub(crate) cells: Cells,
    /// The last leaf; None if there are no records.
    pub(crate) last: Option<u32>,
}

impl<'a, 'f> IndexLeaves<'a, 'f> {
    /// The first leaves of an index, empty.
    pub fn new(pages: &'a Pages<'f>) -> IndexLeaves<'a, 'f> {
        let page = pages.size().bytes();
        IndexLeaves {
            pages,
            room: Room::of_index(page),
            bytes: vec![0; GATHERED * page],
            full: 0,
            leaf: Filling::new(Kind::IndexLeaf, 0, page),
            waiting: Vec::new(),
            is_first: false,
            placed: IndexPlaced { first: None, cells: Cells::default(), last: None },
        }
    }

    /// Leaves that come after others of the index, empty. They get two records at least.
    pub fn behind(pages: &'a Pages<'f>) -> IndexLeaves<'a, 'f> {
        IndexLeaves { is_first: true, ..IndexLeaves::new(pages) }
    }

    /// Adds a record, which must come after the one before it in the order of the index.
    ///
    /// # Errors
    /// The record is longer than SQLite takes, or the file cannot be written.
    pub fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        if !self.waiting.is_empty() {
            self.end_leaf()?;
        }
        let head = varint::length(record.len() as u64);
        let length = head + record.len();
        let is_whole = self.room.local(record.len()) == record.len();
        if !is_whole || self.is_first || !self.leaf.fits(length.max(LEAST)) {
            return self.push_apart(record);
        }
        let cell = self.cell(length);
        varint::put(cell, record.len() as u64);
        copy(&mut cell[head..], record);
        Ok(())
    }

    /// Adds the entry of a row in an index on one column of whole numbers: its key, unless that is NULL, and the row's
    /// number.
    ///
    /// # Errors
    /// As of [`IndexLeaves::push`].
    #[inline]
    pub fn push_key(&mut self, key: Option<i64>, number: i64) -> Result<(), Error> {
        let entry = KeyEntry::new(key, number);
        // No such entry is shorter than the shortest cell.
        let is_usual = self.waiting.is_empty() && !self.is_first;
        if !is_usual || !self.leaf.fits(entry.length + SPILL) {
            return self.push(&entry.record());
        }
        let size = self.page();
        let page = &mut self.bytes[self.full * size..][..size];
        let start = self.leaf.add(page, entry.length);
        entry.put(page, start + entry.length);
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<IndexPlaced, Error> {
        if !self.waiting.is_empty() {
            // No cell follows the one that waits: it becomes the only one of a last leaf, and the last cell of the leaf
            // before it goes up in its place. A full leaf has several.
            let page = &self.bytes[self.full * self.page()..][..self.page()];
            let last = self.leaf.pop(page);
            let last = page[last.start..last.start + self.body_length(&page[last])].to_vec();
            let waiting = std::mem::replace(&mut self.waiting, last);
            self.end_leaf()?;
            self.cell(waiting.len()).copy_from_slice(&waiting);
        }
        if self.leaf.is_empty() {
            return Ok(self.placed);
        }
        self.seal();
        self.placed.last = Some(self.write(1)?);
        Ok(self.placed)
    }

    fn page(&self) -> usize {
        self.pages.size().bytes()
    }

    /// The place of a cell with a body of `body` bytes, which must fit.
    #[inline]
    fn cell(&mut self, body: usize) -> &mut [u8] {
        let (size, length) = (self.page(), body.max(LEAST));
        let page = &mut self.bytes[self.full * size..][..size];
        let start = self.leaf.add(page, length);
        page[start + body..start + length].fill(0);
        &mut page[start..start + body]
    }

    /// Adds a record that goes up, has overflow pages or does not fit any more.
    #[cold]
    fn push_apart(&mut self, record: &[u8]) -> Result<(), Error> {
        let mut body = std::mem::take(&mut self.waiting);
        self.put_body(record, &mut body)?;
        if std::mem::take(&mut self.is_first) {
            self.placed.first = Some(body);
        } else if self.leaf.fits(body.len().max(LEAST)) {
            self.cell(body.len()).copy_from_slice(&body);
            body.clear();
            self.waiting = body;
        } else {
            self.waiting = body;
        }
        Ok(())
    }

    /// The body of a record's cell. What does not fit goes to overflow pages.
    fn put_body(&self, record: &[u8], body: &mut Vec<u8>) -> Result<(), Error> {
        if record.len() as u64 > LONGEST {
            return Err(Error::RowTooLong(record.len() as u64));
        }
        let (local, rest) = record.split_at(self.room.local(record.len()));
        let mut length = [0; varint::LONGEST];
        let count = varint::put(&mut length, record.len() as u64);
        body.clear();
        body.extend_from_slice(&length[..count]);
        body.extend_from_slice(local);
        if !rest.is_empty() {
            body.extend_from_slice(&self.overflow(rest)?.to_be_bytes());
        }
        Ok(())
    }

    /// The length of a cell's body, in bytes.
    fn body_length(&self, cell: &[u8]) -> usize {
        let (length, head) = varint::get(cell);
        let local = self.room.local(length as usize);
        head + local + if local < length as usize { size_of::<u32>() } else { 0 }
    }

    /// Writes the rest of a record to a chain of pages and gives the number of the first.
    fn overflow(&self, rest: &[u8]) -> Result<u32, Error> {
        let (count, size) = (rest.len().div_ceil(self.room.overflow()), self.page());
        let span = self.pages.take(count as u32)?;
        let mut pages = Vec::new();
        let mut written = 0;
        for (index, part) in (1..).zip(rest.chunks(self.room.overflow())) {
            let next = if index < count { span.number(index as u32) } else { 0 };
            let start = pages.len();
            pages.extend_from_slice(&next.to_be_bytes());
            pages.extend_from_slice(part);
            pages.resize(start + size, 0);
            if index == count || pages.len() == GATHERED * size {
                self.pages.write(span.from(written), &pages)?;
                written = index as u32;
                pages.clear();
            }
        }
        Ok(span.number(0))
    }

    /// Ends the leaf, behind which the cell that waits goes up.
    fn end_leaf(&mut self) -> Result<(), Error> {
        self.seal();
        // Its number is known once it is written.
        self.placed.cells.push(0, &self.waiting);
        self.waiting.clear();
        self.full += 1;
        if self.full == GATHERED {
            self.write(0)?;
        }
        self.leaf = Filling::new(Kind::IndexLeaf, 0, self.page());
        Ok(())
    }

    fn seal(&mut self) {
        let size = self.page();
        self.leaf.seal(&mut self.bytes[self.full * size..][..size], None);
    }

    /// Writes the full leaves and `more` pages after them, and returns the number of the page behind the full ones.
    fn write(&mut self, more: usize) -> Result<u32, Error> {
        let full = std::mem::take(&mut self.full);
        let span = self.pages.take((full + more) as u32)?;
        self.pages.write(span, &self.bytes[..(full + more) * self.page()])?;
        for (index, child) in (0..).zip(self.placed.cells.last_children(full)) {
            *child = span.number(index);
        }
        Ok(span.number(full as u32))
    }
}
