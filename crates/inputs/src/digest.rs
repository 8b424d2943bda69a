//! The contents of a table or a store in a few numbers that every language can compute: counts, and sums of CRC-32 as
//! zlib computes it. Sums do not depend on the order of rows, which tables do not promise.

use anyhow::{Result, ensure};
use dyno_gauge::{StoreSums, TableSums};
use dyno_protocol::Value;

/// The digest of a table.
#[derive(Debug)]
pub struct TableDigest {
    sums: TableSums,
    /// The rows that are shown whole, by their first cell.
    wanted: Vec<(Vec<u8>, Option<Vec<Value>>)>,
}

impl TableDigest {
    /// An empty one of a table with this many columns, which is to show the rows that begin with these
    /// cells.
    pub fn new(columns: usize, wanted: impl IntoIterator<Item = Vec<u8>>) -> TableDigest {
        let wanted = wanted.into_iter().map(|first| (first, None)).collect();
        TableDigest { sums: TableSums::new(columns), wanted }
    }

    /// Takes in a row.
    ///
    /// # Errors
    /// It has another number of cells.
    pub fn add(&mut self, row: &[&[u8]]) -> Result<()> {
        ensure!(
            self.sums.add(row.iter().copied()),
            "row {} has {} columns and not {}",
            self.sums.count() + 1,
            row.len(),
            self.sums.columns()
        );
        for (first, shown) in &mut self.wanted {
            if *first == row[0] {
                *shown = Some(row.iter().map(|cell| Value::from_text(cell)).collect());
            }
        }
        Ok(())
    }

    /// The rows of the answer: the count and the sums, then each wanted row or one NULL.
    pub fn answer(self) -> Vec<Vec<Value>> {
        let sums = self.sums.sums().map(|number| Value::Integer(number as i64)).collect();
        let shown = self.wanted.into_iter().map(|(_, row)| row.unwrap_or_else(|| vec![Value::Null]));
        [sums].into_iter().chain(shown).collect()
    }
}

/// The digest of a store.
#[derive(Debug, Default)]
pub struct StoreDigest(StoreSums);

impl StoreDigest {
    /// Takes in a pair.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        self.0.add(key, value);
    }

    /// The row of the answer: the count, and the sums of the checksums of keys, of values, and of each
    /// key with its value.
    pub fn answer(self) -> Vec<Value> {
        self.0.sums().map(|number| Value::Integer(number as i64)).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&[u8]]]) -> Vec<Vec<Value>> {
        let mut digest = TableDigest::new(2, [b"a".to_vec(), b"z".to_vec()]);
        rows.iter().for_each(|row| digest.add(row).unwrap());
        digest.answer()
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_everything_else_does() {
        let right = table(&[&[b"a", b"b"], &[b"c", b"d"]]);
        assert_eq!(right, table(&[&[b"c", b"d"], &[b"a", b"b"]]));
        assert_eq!(right[1], [Value::Text("a".into()), Value::Text("b".into())]);
        assert_eq!(right[2], [Value::Null]);
        for wrong in [
            table(&[&[b"a", b"d"], &[b"c", b"b"]]),
            table(&[&[b"b", b"a"], &[b"d", b"c"]]),
            table(&[&[b"a", b"b"]]),
        ] {
            assert_ne!(right, wrong);
        }
        assert!(TableDigest::new(2, []).add(&[b"a"]).is_err());
    }

    #[test]
    fn checksums_are_those_of_zlib() {
        // `python3 -c 'import zlib; print(zlib.crc32(b"key"), zlib.crc32(b"value"))'`
        let mut digest = StoreDigest::default();
        digest.add(b"key", b"value");
        let sums = digest.answer();
        assert_eq!(sums[1..3], [Value::Integer(2_324_736_937), Value::Integer(494_360_628)]);
    }
}
