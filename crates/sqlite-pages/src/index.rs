//! An index's tree, or that of a table WITHOUT ROWID, from records in order (section 1.6 of the format).
//!
//! Entries of interior pages are not repeated in the leaves: where a page is full, the next record goes up
//! between it and the page that comes after.

use crate::error::Error;
use crate::page::{Filling, Kind};
use crate::pages::{Pages, Span};
use crate::payload::{LONGEST, Room};
use crate::varint;

/// Pages that are written at once.
const GATHERED: usize = 64;

/// A tree that is being made.
pub struct IndexTree<'a, 'f> {
    out: Output<'a, 'f>,
    room: Room,
    /// From the leaves upwards, on each level the page that is being filled.
    levels: Vec<Level>,
    /// Room for a cell's body.
    body: Vec<u8>,
}

/// The page of a level that is being filled.
#[derive(Debug, Default)]
struct Level {
    /// Its cells, each with its left child but on a leaf.
    cells: Cells,
    /// Bytes that they take with their pointers.
    bytes: usize,
    /// The cell that did not fit, and goes up once it is sure that another one follows.
    next: Option<(Option<u32>, Vec<u8>)>,
}

/// Cells of a page: the left child of each, and its record's part without that number.
#[derive(Debug, Default)]
struct Cells {
    bodies: Vec<u8>,
    /// The child of each, and where its body ends.
    ends: Vec<(Option<u32>, usize)>,
}

impl Cells {
    fn push(&mut self, child: Option<u32>, body: &[u8]) {
        self.bodies.extend_from_slice(body);
        self.ends.push((child, self.bodies.len()));
    }

    fn pop(&mut self) -> Option<(Option<u32>, Vec<u8>)> {
        let (child, _) = self.ends.pop()?;
        let start = self.ends.last().map_or(0, |(_, end)| *end);
        Some((child, self.bodies.split_off(start)))
    }

    fn iter(&self) -> impl Iterator<Item = (Option<u32>, &[u8])> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&(child, end)| (child, &self.bodies[std::mem::replace(&mut start, end)..end]))
    }

    fn clear(&mut self) {
        self.bodies.clear();
        self.ends.clear();
    }
}

impl<'a, 'f> IndexTree<'a, 'f> {
    /// An empty one.
    pub fn new(pages: &'a Pages<'f>) -> IndexTree<'a, 'f> {
        let room = Room::of_index(pages.size().bytes());
        IndexTree { out: Output::new(pages), room, levels: Vec::new(), body: Vec::new() }
    }

    /// Adds a record, which must come after the one before it in the order of the index.
    ///
    /// # Errors
    /// The record is longer than SQLite takes, or the file cannot be written.
    pub fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        let mut body = std::mem::take(&mut self.body);
        let added = self.put_body(record, &mut body).and_then(|()| self.add(0, None, &body));
        self.body = body;
        added
    }

    /// Writes what is left and gives the number of the root page.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<u32, Error> {
        let mut right = None;
        let mut height = 0;
        loop {
            if self.levels.len() <= height {
                self.levels.push(Level::default());
            }
            if let Some(next) = self.levels[height].next.take() {
                self.split(height, next)?;
            }
            let level = std::mem::take(&mut self.levels[height]);
            let page = self.out.page(&level.cells, right)?;
            right = Some(page);
            height += 1;
            if height == self.levels.len() {
                self.out.flush()?;
                return Ok(page);
            }
        }
    }

    /// Adds a cell to a level's page. Where a cell waits already, that page is full: it is written, and the
    /// cell that waits goes up.
    fn add(&mut self, height: usize, child: Option<u32>, body: &[u8]) -> Result<(), Error> {
        if self.levels.len() == height {
            self.levels.push(Level::default());
        }
        if let Some((left, waiting)) = self.levels[height].next.take() {
            let mut full = std::mem::take(&mut self.levels[height].cells);
            let page = self.out.page(&full, left)?;
            full.clear();
            self.levels[height] = Level { cells: full, ..Level::default() };
            self.add(height + 1, Some(page), &waiting)?;
        }
        let size = self.out.pages.size().bytes();
        let level = &mut self.levels[height];
        let cost = cost(child, body);
        if kind(child).header() + level.bytes + cost <= size {
            level.bytes += cost;
            level.cells.push(child, body);
        } else {
            level.next = Some((child, body.to_vec()));
        }
        Ok(())
    }

    /// No cell follows the one that waits: it becomes the only one of a last page, and the last cell of the page
    /// before it goes up in its place. A full page has several.
    fn split(&mut self, height: usize, (child, body): (Option<u32>, Vec<u8>)) -> Result<(), Error> {
        let mut full = std::mem::take(&mut self.levels[height]);
        let Some((left, up)) = full.cells.pop() else { return Ok(()) };
        let page = self.out.page(&full.cells, left)?;
        self.add(height + 1, Some(page), &up)?;
        self.levels[height].cells.push(child, &body);
        Ok(())
    }

    /// A record's cell. What does not fit goes to overflow pages.
    fn put_body(&mut self, record: &[u8], body: &mut Vec<u8>) -> Result<(), Error> {
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
            let first = self.out.overflow(rest, self.room)?;
            body.extend_from_slice(&first.to_be_bytes());
        }
        Ok(())
    }
}

/// What a page with such children is.
fn kind(child: Option<u32>) -> Kind {
    if child.is_some() { Kind::IndexInterior } else { Kind::IndexLeaf }
}

/// Bytes of a cell: SQLite gives none less than four, since its place may come to hold a free block.
fn length(child: Option<u32>, body: &[u8]) -> usize {
    (body.len() + if child.is_some() { 4 } else { 0 }).max(4)
}

/// Bytes of a cell with its pointer.
fn cost(child: Option<u32>, body: &[u8]) -> usize {
    2 + length(child, body)
}

/// Pages on their way to the file, gathered while they lie one after another.
struct Output<'a, 'f> {
    pages: &'a Pages<'f>,
    /// Where the gathered ones begin.
    first: Option<Span>,
    count: usize,
    bytes: Vec<u8>,
}

impl<'a, 'f> Output<'a, 'f> {
    fn new(pages: &'a Pages<'f>) -> Output<'a, 'f> {
        Output { pages, first: None, count: 0, bytes: Vec::new() }
    }

    /// A page more, filled with zeros: its number, and its bytes.
    fn take(&mut self) -> Result<(u32, &mut [u8]), Error> {
        let size = self.pages.size().bytes();
        let span = self.pages.take(1)?;
        let follows = self.first.is_some_and(|first| first.number(self.count as u32) == span.number(0));
        if !follows || self.count == GATHERED {
            self.flush()?;
            self.first = Some(span);
        }
        self.count += 1;
        let start = self.bytes.len();
        self.bytes.resize(start + size, 0);
        Ok((span.number(0), &mut self.bytes[start..]))
    }

    /// Writes a page of a tree.
    fn page(&mut self, cells: &Cells, right: Option<u32>) -> Result<u32, Error> {
        let (number, page) = self.take()?;
        let mut filling = Filling::new(kind(right), 0, page.len());
        for (child, body) in cells.iter() {
            let length = length(child, body);
            let at = filling.add(page, length);
            let cell = &mut page[at..at + length];
            let start = if let Some(child) = child {
                cell[..4].copy_from_slice(&child.to_be_bytes());
                4
            } else {
                0
            };
            cell[start..start + body.len()].copy_from_slice(body);
        }
        filling.seal(page, right);
        Ok(number)
    }

    /// Writes the rest of a record to a chain of pages and gives the number of the first.
    fn overflow(&mut self, rest: &[u8], room: Room) -> Result<u32, Error> {
        let mut next = 0u32;
        // From the last to the first, so that each knows the one after it.
        for part in rest.chunks(room.overflow()).rev() {
            let (number, page) = self.take()?;
            page[..4].copy_from_slice(&next.to_be_bytes());
            page[4..4 + part.len()].copy_from_slice(part);
            next = number;
        }
        Ok(next)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if let Some(first) = self.first.take() {
            self.pages.write(first, &self.bytes)?;
        }
        self.bytes.clear();
        self.count = 0;
        Ok(())
    }
}
