//! The split of a record between its cell and overflow pages (section 1.6 of the format).

/// The longest record that SQLite takes, bytes: its limit SQLITE_MAX_LENGTH.
pub const LONGEST: u64 = 1_000_000_000;

/// The most bytes of memory that are kept for what comes next, where a huge record needed more.
pub const KEPT: usize = 16 << 20;

/// The limits that decide how much of a record stays in its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The most bytes.
    most: usize,
    /// The fewest, where the rest does not fit.
    fewest: usize,
    /// Bytes of a record on an overflow page.
    overflow: usize,
}

impl Room {
    /// In the leaves of a table, on pages of `page` bytes.
    pub fn of_table(page: usize) -> Room {
        Room { most: page - 35, ..Room::of_index(page) }
    }

    /// In the pages of an index.
    pub fn of_index(page: usize) -> Room {
        Room { most: (page - 12) * 64 / 255 - 23, fewest: (page - 12) * 32 / 255 - 23, overflow: page - 4 }
    }

    /// The number of a record's bytes that stay in its cell.
    #[inline]
    pub fn local(self, record: usize) -> usize {
        if record <= self.most {
            return record;
        }
        let kept = self.fewest + (record - self.fewest) % self.overflow;
        if kept <= self.most { kept } else { self.fewest }
    }

    /// Bytes of a record on an overflow page.
    pub fn overflow(self) -> usize {
        self.overflow
    }
}
