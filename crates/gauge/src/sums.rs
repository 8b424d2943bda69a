//! What a table or a store holds, in a few numbers: counts, and sums of CRC-32 as zlib has it. Sums do not depend
//! on the order, which tables do not promise.

/// The sums of a table.
#[derive(Debug, Clone)]
pub struct TableSums {
    count: u64,
    /// Per column the sum of its cells' checksums.
    columns: Vec<u64>,
    /// The sum of the checksums of whole rows, which tells cells of different rows that changed places.
    rows: u64,
}

impl TableSums {
    /// Those of an empty table with this many columns.
    pub fn new(columns: usize) -> TableSums {
        TableSums { count: 0, columns: vec![0; columns], rows: 0 }
    }

    /// How many rows were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many columns the table has.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Takes in a row, if it has as many cells as the table has columns. Whether it has is returned.
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
