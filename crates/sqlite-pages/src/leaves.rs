//! Leaves of a table that one thread fills, and their overflow pages, before they have a place in the file.

use crate::copy::copy;
use crate::error::Error;
use crate::page::{Filling, Kind};
use crate::pages::Pages;
use crate::payload::{KEPT, Room};
use crate::record::{Encoder, Value};
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
    /// The leaf that is being filled, and which page it is.
    filling: Option<(u32, Filling)>,
    /// The leaves that are full, by page, each with the number of its last row.
    full: Vec<(u32, i64)>,
    /// Where in the pages the number of another one of these pages stands.
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
    /// How many rows they hold.
    pub rows: u64,
}

impl Leaves {
    /// None yet, of pages as the file has them.
    pub fn new(pages: &Pages) -> Leaves {
        Leaves::with_head(pages.size().bytes(), 0)
    }

    /// None yet, the first of which leaves bytes free at its beginning.
    pub(crate) fn with_head(page: usize, head: usize) -> Leaves {
        Leaves {
            page,
            room: Room::of_table(page),
            head,
            bytes: Vec::new(),
            used: 0,
            filling: None,
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
            if let Some(before) = before.filter(|before| *before >= number) {
                return Err(Error::RowsOutOfOrder { number, before });
            }
            before = Some(number);
            self.put(number, record);
        }
        Ok(())
    }

    #[inline(always)]
    fn put(&mut self, number: i64, record: &[u8]) {
        let (local, length) = (self.room.local(record.len()), record.len() as u64);
        let head = varint::length(length) + varint::length(number as u64);
        let is_whole = local == record.len();
        let cell = head + local + if is_whole { 0 } else { LINK };
        let start = self.cell(number, cell);
        let bytes = &mut self.bytes[start..start + cell];
        let at = varint::put(bytes, length);
        varint::put(&mut bytes[at..], number as u64);
        copy(&mut bytes[head..head + local], &record[..local]);
        if !is_whole {
            self.overflow(start + head + local, &record[local..]);
        }
        self.first.get_or_insert(number);
        self.before = Some(number);
        self.rows += 1;
    }

    /// Puts the rest of a record on pages of its own, whose first one is named at `link`.
    #[cold]
    fn overflow(&mut self, mut link: usize, rest: &[u8]) {
        for part in rest.chunks(self.room.overflow()) {
            let page = self.fresh();
            self.bytes[link..link + LINK].copy_from_slice(&page.to_be_bytes());
            self.links.push(link);
            link = page as usize * self.page;
            let after = link + LINK + part.len();
            self.bytes[link..link + LINK].fill(0);
            self.bytes[link + LINK..after].copy_from_slice(part);
            self.bytes[after..link + self.page].fill(0);
        }
    }

    /// A place for a row's cell, on a new leaf where this one is full: where in the pages it begins.
    #[inline]
    fn cell(&mut self, number: i64, length: usize) -> usize {
        debug_assert!(self.before.is_none_or(|before| before < number));
        match &mut self.filling {
            Some((page, leaf)) if leaf.fits(length) => {
                let start = *page as usize * self.page;
                start + leaf.add(&mut self.bytes[start..start + self.page], length)
            }
            _ => self.cell_on_a_new_leaf(length),
        }
    }

    fn cell_on_a_new_leaf(&mut self, length: usize) -> usize {
        self.seal();
        let page = self.fresh();
        let head = if page == 0 { self.head } else { 0 };
        let mut leaf = Filling::new(Kind::TableLeaf, head, self.page);
        let start = page as usize * self.page;
        let cell = start + leaf.add(&mut self.bytes[start..start + self.page], length);
        self.filling = Some((page, leaf));
        cell
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

    /// Ends the leaf that is being filled.
    fn seal(&mut self) {
        if let (Some((page, leaf)), Some(last)) = (self.filling.take(), self.before) {
            let start = page as usize * self.page;
            leaf.seal(&mut self.bytes[start..start + self.page], None);
            self.full.push((page, last));
        }
    }

    /// How many bytes the pages take so far.
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

    /// How many leaves there are.
    pub(crate) fn count(&self) -> usize {
        self.full.len() + usize::from(self.filling.is_some())
    }

    fn link(&mut self, number: impl Fn(u32) -> u32) {
        self.seal();
        for link in self.links.drain(..) {
            let page = &mut self.bytes[link..link + LINK];
            let index = u32::from_be_bytes([page[0], page[1], page[2], page[3]]);
            page.copy_from_slice(&number(index).to_be_bytes());
        }
    }
}
