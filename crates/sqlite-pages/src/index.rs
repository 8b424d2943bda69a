//! An index's tree, or that of a table WITHOUT ROWID: the leaves in order, and the levels above them, which are written
//! as they fill (section 1.6 of the format).

use crate::cells::Cells;
use crate::error::Error;
use crate::index_leaves::IndexPlaced;
use crate::page::{Filling, Kind};
use crate::pages::Pages;

/// Bytes of a child's number in a cell.
const CHILD: usize = 4;

/// A tree that is being made.
#[derive(Debug, Default)]
pub struct IndexTree {
    /// The last leaf, which has no successor yet.
    last: Option<u32>,
    /// From the one above the leaves upwards, on each level the page that is being filled.
    levels: Vec<Level>,
}

/// The page of a level that is being filled.
#[derive(Debug, Default)]
struct Level {
    cells: Cells,
    /// Bytes that they take with their pointers.
    bytes: usize,
    /// The cell that did not fit, and goes up once it is sure that another one follows.
    next: Option<(u32, Vec<u8>)>,
}

impl IndexTree {
    /// Appends leaves to the existing ones.
    ///
    /// # Errors
    /// They are the first ones of an index and not the first here, or the other way round, or have too few records; or
    /// the file cannot be written.
    pub fn append(&mut self, placed: IndexPlaced, pages: &Pages) -> Result<(), Error> {
        match (self.last, &placed.first, placed.last) {
            (None, None, _) => {}
            (Some(last), Some(first), Some(_)) => self.add(0, last, first, pages)?,
            _ => return Err(Error::LeavesOutOfPlace),
        }
        for (leaf, body) in placed.cells.iter() {
            self.add(0, leaf, body, pages)?;
        }
        self.last = placed.last;
        Ok(())
    }

    /// Writes what is left and gives the number of the root page.
    ///
    /// # Errors
    /// The file cannot be written, or has too many pages.
    pub fn finish(mut self, pages: &Pages) -> Result<u32, Error> {
        let Some(mut right) = self.last else {
            return page(Kind::IndexLeaf, &Cells::default(), None, pages);
        };
        let mut height = 0;
        while height < self.levels.len() {
            if let Some(next) = self.levels[height].next.take() {
                self.split(height, next, pages)?;
            }
            right = page(Kind::IndexInterior, &self.levels[height].cells, Some(right), pages)?;
            height += 1;
        }
        Ok(right)
    }

    /// Adds a cell to a level's page. Where a cell waits already, that page is full: it is written, and the
    /// cell that waits goes up.
    fn add(&mut self, height: usize, child: u32, body: &[u8], pages: &Pages) -> Result<(), Error> {
        if self.levels.len() == height {
            self.levels.push(Level::default());
        }
        if let Some((right, waiting)) = self.levels[height].next.take() {
            let level = &mut self.levels[height];
            let full = page(Kind::IndexInterior, &level.cells, Some(right), pages)?;
            level.cells.clear();
            level.bytes = 0;
            self.add(height + 1, full, &waiting, pages)?;
        }
        let level = &mut self.levels[height];
        let cost = 2 + CHILD + body.len();
        if Kind::IndexInterior.header() + level.bytes + cost <= pages.size().bytes() {
            level.bytes += cost;
            level.cells.push(child, body);
        } else {
            level.next = Some((child, body.to_vec()));
        }
        Ok(())
    }

    /// No cell follows the one that waits: it becomes the only one of a last page, and the last cell of the page
    /// before it goes up in its place. A full page has several.
    fn split(&mut self, height: usize, next: (u32, Vec<u8>), pages: &Pages) -> Result<(), Error> {
        let cells = &mut self.levels[height].cells;
        let Some((right, up)) = cells.pop() else { return Ok(()) };
        let full = page(Kind::IndexInterior, cells, Some(right), pages)?;
        cells.clear();
        cells.push(next.0, &next.1);
        self.add(height + 1, full, &up, pages)
    }
}

/// Writes a page of the tree and gives its number.
fn page(kind: Kind, cells: &Cells, right: Option<u32>, pages: &Pages) -> Result<u32, Error> {
    let mut page = vec![0; pages.size().bytes()];
    let mut filling = Filling::new(kind, 0, page.len());
    for (child, body) in cells.iter() {
        let at = filling.add(&mut page, CHILD + body.len());
        page[at..at + CHILD].copy_from_slice(&child.to_be_bytes());
        page[at + CHILD..at + CHILD + body.len()].copy_from_slice(body);
    }
    filling.seal(&mut page, right);
    let span = pages.take(1)?;
    pages.write(span, &page)?;
    Ok(span.number(0))
}
