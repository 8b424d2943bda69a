//! The contents of a table or a store in a few numbers: counts, and sums of CRC-32 as zlib computes it. Sums do not
//! depend on the order of rows, which tables do not promise.

/// The sums of a table.
#[derive(Debug, Clone)]
pub struct TableSums {
    count: u64,
    /// Per column the sum of its cells' checksums.
    columns: Vec<u64>,
    /// The sum of the checksums of whole rows. It changes if two rows exchange a cell, which the sums of columns do not.
    rows: u64,
}

impl TableSums {
    /// Those of an empty table with this many columns.
    pub fn new(columns: usize) -> TableSums {
        TableSums { count: 0, columns: vec![0; columns], rows: 0 }
    }

    /// The number of rows that were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of columns of the table.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Adds a row. Returns false, and adds nothing, if it has not as many cells as the table has columns.
    pub fn add<'a>(&mut self, row: impl ExactSizeIterator<Item = &'a [u8]>) -> bool {
        if row.len() != self.columns.len() {
            return false;
        }
        let mut whole = crc32fast::Hasher::new();
        for (sum, cell) in self.columns.iter_mut().zip(row) {
            *sum += u64::from(crc32fast::hash(cell));
            whole.update(cell);
        }
        self.rows += u64::from(whole.finalize());
        self.count += 1;
        true
    }

    /// The count, the sum of each column, and that of whole rows.
    pub fn sums(&self) -> impl Iterator<Item = u64> {
        [self.count].into_iter().chain(self.columns.iter().copied()).chain([self.rows])
    }
}

/// The sums of a store.
#[derive(Debug, Default, Clone, Copy)]
pub struct StoreSums {
    count: u64,
    keys: u64,
    values: u64,
    pairs: u64,
}

impl StoreSums {
    /// Takes in a pair.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut pair = crc32fast::Hasher::new();
        pair.update(key);
        pair.update(value);
        self.count += 1;
        self.keys += u64::from(crc32fast::hash(key));
        self.values += u64::from(crc32fast::hash(value));
        self.pairs += u64::from(pair.finalize());
    }

    /// The count, and the sums of the checksums of keys, of values, and of each key with its value.
    pub fn sums(&self) -> [u64; 4] {
        [self.count, self.keys, self.values, self.pairs]
    }
}
