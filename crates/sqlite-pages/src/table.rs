//! A table's tree: the leaves in order, and the levels that are put above them at the end.

use crate::error::Error;
use crate::leaves::Placed;
use crate::page::{Filling, Kind};
use crate::pages::Pages;
use crate::varint;

/// Bytes of a child's number in a cell of an interior page.
const CHILD: usize = 4;

/// The leaves of a table, in order.
#[derive(Debug, Default)]
pub struct TableTree {
    /// The page of each and the number of its last row.
    leaves: Vec<(u32, i64)>,
}

impl TableTree {
    /// Puts leaves behind those that are there.
    ///
    /// # Errors
    /// Their rows do not come after the ones before.
    pub fn append(&mut self, placed: Placed) -> Result<(), Error> {
        if let (Some((_, before)), Some(number)) = (self.leaves.last(), placed.first)
            && *before >= number
        {
            return Err(Error::RowsOutOfOrder { number, before: *before });
        }
        self.leaves.extend(placed.leaves);
        Ok(())
    }

    /// Writes the levels above the leaves and gives the number of the root page.
    ///
    /// # Errors
    /// The file cannot be written, or has too many pages.
    pub fn finish(mut self, pages: &Pages) -> Result<u32, Error> {
        while self.leaves.len() > 1 {
            self.leaves = level(&self.leaves, pages)?;
        }
        match self.leaves.first() {
            Some((root, _)) => Ok(*root),
            None => {
                let span = pages.take(1)?;
                pages.write(span, &empty_leaf(0, pages.size().bytes()))?;
                Ok(span.number(0))
            }
        }
    }

    /// As [`TableTree::finish`], but the root is the file's first page, with `head` before it. It may have one child
    /// alone, as no other page may.
    pub(crate) fn finish_first(mut self, pages: &Pages, head: &[u8]) -> Result<(), Error> {
        let size = pages.size().bytes();
        while groups(&self.leaves, head.len(), size).len() > 1 {
            self.leaves = level(&self.leaves, pages)?;
        }
        let mut page = vec![0; size];
        interior(&self.leaves, head.len(), &mut page);
        page[..head.len()].copy_from_slice(head);
        pages.write(pages.first(), &page)
    }
}

/// A leaf without rows, whose header stands behind `head` bytes.
pub(crate) fn empty_leaf(head: usize, size: usize) -> Vec<u8> {
    let mut page = vec![0; size];
    Filling::new(Kind::TableLeaf, head, size).seal(&mut page, None);
    page
}

/// Writes the level above some pages: the page of each, and the number of its last row.
fn level(mut children: &[(u32, i64)], pages: &Pages) -> Result<Vec<(u32, i64)>, Error> {
    let size = pages.size().bytes();
    let groups = groups(children, 0, size);
    let span = pages.take(groups.len() as u32)?;
    let (mut bytes, mut above) = (vec![0; groups.len() * size], Vec::with_capacity(groups.len()));
    for (index, (page, count)) in bytes.chunks_mut(size).zip(groups).enumerate() {
        let (group, rest) = children.split_at(count);
        interior(group, 0, page);
        above.extend(group.last().map(|(_, last)| (span.number(index as u32), *last)));
        children = rest;
    }
    pages.write(span, &bytes)?;
    Ok(above)
}

/// How many children each page gets: as many as fit, but two at least, since SQLite takes no page without a cell.
fn groups(children: &[(u32, i64)], head: usize, size: usize) -> Vec<usize> {
    let room = size - head - Kind::TableInterior.header();
    let (mut groups, mut left) = (Vec::new(), 0);
    let mut before = None;
    for (_, last) in children {
        // The last child of a page has no cell: its number stands in the header. So a child costs the cell of the
        // one before it.
        let cell = before.map_or(0, |before| 2 + CHILD + varint::length(before as u64));
        match groups.last_mut() {
            Some(count) if cell <= left => {
                *count += 1;
                left -= cell;
            }
            _ => {
                groups.push(1);
                left = room;
            }
        }
        before = Some(*last);
    }
    // A full page has many more than two.
    if let [.., full, last @ 1] = &mut groups[..] {
        *full -= 1;
        *last += 1;
    }
    groups
}

/// Writes an interior page with these children.
fn interior(children: &[(u32, i64)], head: usize, page: &mut [u8]) {
    let mut filling = Filling::new(Kind::TableInterior, head, page.len());
    let Some(((right, _), others)) = children.split_last() else { return };
    for (child, last) in others {
        let length = CHILD + varint::length(*last as u64);
        let at = filling.add(page, length);
        page[at..at + CHILD].copy_from_slice(&child.to_be_bytes());
        varint::put(&mut page[at + CHILD..at + length], *last as u64);
    }
    filling.seal(page, Some(*right));
}
