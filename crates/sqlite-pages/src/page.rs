//! A page of a tree while cells come to it: pointers grow from the front, cells from the end (section 1.6 of the
//! format).

use std::ops::Range;

/// The kind of a page of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An interior page of an index.
    IndexInterior = 0x02,
    /// An interior page of a table.
    TableInterior = 0x05,
    /// A leaf of an index.
    IndexLeaf = 0x0a,
    /// A leaf of a table.
    TableLeaf = 0x0d,
}

impl Kind {
    /// Bytes of the page's header.
    pub fn header(self) -> usize {
        match self {
            Kind::TableInterior | Kind::IndexInterior => 12,
            Kind::TableLeaf | Kind::IndexLeaf => 8,
        }
    }
}

/// The positions in a page at which the next cell goes.
#[derive(Debug, Clone, Copy)]
pub struct Filling {
    kind: Kind,
    /// Bytes before the page's header: 100 on the first page of a file, otherwise 0.
    head: usize,
    cells: usize,
    /// The offset of the first cell.
    content: usize,
}

impl Filling {
    /// An empty page of `page` bytes.
    pub fn new(kind: Kind, head: usize, page: usize) -> Filling {
        Filling { kind, head, cells: 0, content: page }
    }

    /// True if a cell of `cell` bytes fits.
    #[inline]
    pub fn fits(&self, cell: usize) -> bool {
        self.pointers() + 2 + cell <= self.content
    }

    /// Takes the place for a cell, which must fit, and says where in the page it begins.
    #[inline]
    pub fn add(&mut self, page: &mut [u8], cell: usize) -> usize {
        let pointer = self.pointers();
        self.content -= cell;
        self.cells += 1;
        page[pointer..pointer + 2].copy_from_slice(&(self.content as u16).to_be_bytes());
        self.content
    }

    /// True if the page has no cell.
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Takes the last cell away again, which must be there, and says where in the page it lies.
    pub fn pop(&mut self, page: &[u8]) -> Range<usize> {
        let start = self.content;
        self.cells -= 1;
        let before = self.pointers() - 2;
        self.content = match self.cells {
            0 => page.len(),
            _ => u16::from_be_bytes([page[before], page[before + 1]]).into(),
        };
        start..self.content
    }

    /// Writes the header, and zeros where nothing is, so that no old memory comes into the file.
    pub fn seal(&self, page: &mut [u8], right: Option<u32>) {
        let end = self.pointers();
        page[end..self.content].fill(0);
        let header = &mut page[self.head..self.head + self.kind.header()];
        header[0] = self.kind as u8;
        header[1..3].fill(0);
        header[3..5].copy_from_slice(&(self.cells as u16).to_be_bytes());
        // A page of 65,536 bytes without cells has 0 here.
        header[5..7].copy_from_slice(&(self.content as u16).to_be_bytes());
        header[7] = 0;
        if let Some(right) = right {
            header[8..12].copy_from_slice(&right.to_be_bytes());
        }
    }

    /// The offset behind the last pointer.
    #[inline]
    fn pointers(&self) -> usize {
        self.head + self.kind.header() + 2 * self.cells
    }
}
