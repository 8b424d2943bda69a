//! A table's tree: the leaves in order, and the levels that are put above them at the end.

use crate::error::Error;
use crate::leaves::Placed;
use crate::page::{Filling, Kind};
use crate::pages::Pages;
use crate::varint;

/// Bytes of a child's number in a cell of an interior page.
const CHILD: usize = 4;

/// Pages of a level that gather at least before the level above them is begun: so little memory is taken, however long
/// the table.
const GATHERED: usize = 1 << 12;

/// Pages, each with the number of its last row.
type Children = Vec<(u32, i64)>;

/// The leaves of a table, in order.
#[derive(Debug, Default)]
pub struct TableTree {
    /// From the leaves upwards: on each level the pages that no page above names yet.
    levels: Vec<Children>,
    /// The number of the last row.
    last: Option<i64>,
}

impl TableTree {
    /// Appends leaves to the existing ones.
    ///
    /// # Errors
    /// Their rows do not come after the ones before, or the file cannot be written.
    pub fn append(&mut self, placed: Placed, pages: &Pages) -> Result<(), Error> {
        if let (Some(before), Some(number)) = (self.last, placed.first)
            && before >= number
        {
            return Err(Error::RowsOutOfOrder { number, before });
        }
        self.last = placed.leaves.last().map(|(_, last)| *last).or(self.last);
        self.level(0).extend(placed.leaves);
        self.rise(pages)
    }

    /// Writes the levels above the leaves and gives the number of the root page.
    ///
    /// # Errors
    /// The file cannot be written, or has too many pages.
    pub fn finish(self, pages: &Pages) -> Result<u32, Error> {
        match self.top(pages, |children| children.len() <= 1)?.first() {
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
    pub(crate) fn finish_first(self, pages: &Pages, head: &[u8]) -> Result<(), Error> {
        let size = pages.size().bytes();
        let children = self.top(pages, |children| groups(children, head.len(), size).len() <= 1)?;
        let mut page = vec![0; size];
        interior(&children, head.len(), &mut page);
        page[..head.len()].copy_from_slice(head);
        pages.write(pages.first(), &page)
    }

    fn level(&mut self, height: usize) -> &mut Children {
        if self.levels.len() == height {
            self.levels.push(Children::new());
        }
        &mut self.levels[height]
    }

    /// Writes the pages above those that have gathered, but for the last two: their number of children depends on the
    /// pages that follow.
    fn rise(&mut self, pages: &Pages) -> Result<(), Error> {
        // A page has fewer than half as many children as bytes.
        let many = GATHERED.max(pages.size().bytes() / 2);
        let mut height = 0;
        while self.level(height).len() >= many {
            let mut groups = groups(&self.levels[height], 0, pages.size().bytes());
            groups.truncate(groups.len().saturating_sub(2));
            let rest = self.levels[height].split_off(groups.iter().sum());
            let above = level(&std::mem::replace(&mut self.levels[height], rest), groups, pages)?;
            height += 1;
            self.level(height).extend(above);
        }
        Ok(())
    }

    /// Writes levels until the pages of one can be the root or its children.
    fn top(mut self, pages: &Pages, is_top: impl Fn(&[(u32, i64)]) -> bool) -> Result<Children, Error> {
        let mut height = 0;
        loop {
            let children = std::mem::take(self.level(height));
            height += 1;
            if height >= self.levels.len() && is_top(&children) {
                return Ok(children);
            }
            let groups = groups(&children, 0, pages.size().bytes());
            let above = level(&children, groups, pages)?;
            self.level(height).extend(above);
        }
    }
}

/// A leaf without rows, whose header comes after `head` bytes.
pub(crate) fn empty_leaf(head: usize, size: usize) -> Vec<u8> {
    let mut page = vec![0; size];
    Filling::new(Kind::TableLeaf, head, size).seal(&mut page, None);
    page
}

/// Writes the pages above some others; each gets the next number of children from `groups`.
fn level(mut children: &[(u32, i64)], groups: Vec<usize>, pages: &Pages) -> Result<Children, Error> {
    let size = pages.size().bytes();
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

/// The number of children of each page: as many as fit, but two at least, since SQLite takes no page without a cell.
fn groups(children: &[(u32, i64)], head: usize, size: usize) -> Vec<usize> {
    let room = size - head - Kind::TableInterior.header();
    let (mut groups, mut left) = (Vec::new(), 0);
    let mut before = None;
    for (_, last) in children {
        // The last child of a page has no cell: the header holds its number. So a child costs the cell of the one
        // before it.
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
