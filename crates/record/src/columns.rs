//! The digest of an answer too large to keep: one column at a time, rows streamed in order.
//!
//! Two things are asked of it. What must be the same exactly (integers, text, blobs, where the nulls
//! are) goes into hashes, and one changed value or two swapped rows change them. What may differ within
//! a tolerance (numbers, where one engine's average has four decimals and another's sixteen) cannot be
//! hashed, so it goes into sums over chunks of rows. Values have no unit here; rows count from 0.

use dyno_protocol::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most chunks a column is summed in; at more rows, neighbouring chunks are joined.
const CHUNKS: u64 = 32;

/// One column of an answer, in counts, hashes and sums.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// The number of NULLs.
    pub nulls: u64,
    /// The number of whole numbers.
    pub integers: u64,
    /// The number of other numbers.
    pub reals: u64,
    /// The number of texts.
    pub texts: u64,
    /// The number of blobs.
    pub blobs: u64,
    /// A hash of the integers, each with its row.
    pub integer_hash: u64,
    /// A hash of texts and blobs, each with its row and kind.
    pub text_hash: u64,
    /// The sums of the numbers, integers and reals alike, one per chunk of [`rows_per_chunk`] rows.
    /// Chunks after the last number may be absent.
    pub chunks: Vec<Sums>,
}

/// A summary of the numbers in one chunk of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sums {
    /// The number of values that are numbers.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of max(1, |number|), by which a tolerance is multiplied.
    pub magnitude: f64,
    /// The sum of number x weight, where the weight is between -1 and 1 and differs from row to row,
    /// so that values in each other's place do not cancel.
    pub weighted: f64,
}

/// The number of rows in a chunk of an answer of `rows`: the smallest power of two that needs no more
/// than 32 chunks.
pub fn rows_per_chunk(rows: u64) -> u64 {
    rows.div_ceil(CHUNKS).next_power_of_two()
}

impl Column {
    /// Takes in the value of `row`; rows come in ascending order.
    pub fn push(&mut self, row: u64, value: &Value) {
        match value {
            Value::Null => self.nulls += 1,
            Value::Integer(integer) => {
                self.integers += 1;
                self.integer_hash = fnv1a(self.integer_hash, row, b'i', &integer.to_le_bytes());
                self.add(row, *integer as f64);
            }
            Value::Real(real) => {
                self.reals += 1;
                self.add(row, *real);
            }
            Value::Text(text) => {
                self.texts += 1;
                self.text_hash = fnv1a(self.text_hash, row, b't', text.as_bytes());
            }
            Value::Blob { blob } => {
                self.blobs += 1;
                self.text_hash = fnv1a(self.text_hash, row, b'b', blob.as_bytes());
            }
        }
    }

    /// Joins neighbouring chunks where `row` is the first that needs larger ones.
    fn widen(&mut self, row: u64) {
        if row > 0 && rows_per_chunk(row + 1) > rows_per_chunk(row) {
            self.chunks = self.chunks.chunks(2).map(|pair| join(pair[0], pair.get(1))).collect();
        }
    }

    fn add(&mut self, row: u64, number: f64) {
        let chunk = (row / rows_per_chunk(row + 1)) as usize;
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, Sums::default());
        }
        let weight = 2.0 * (fnv1a(0, row, b'w', &[]) >> 11) as f64 / (1_u64 << 53) as f64 - 1.0;
        let number =
            Sums { count: 1, sum: number, magnitude: number.abs().max(1.0), weighted: number * weight };
        self.chunks[chunk] = join(self.chunks[chunk], Some(&number));
    }
}

/// Takes in one row of an answer; `columns` grows to the widest row.
pub fn push_row(columns: &mut Vec<Column>, row: u64, values: &[Value]) {
    if columns.len() < values.len() {
        columns.resize(values.len(), Column::default());
    }
    columns.iter_mut().for_each(|column| column.widen(row));
    columns.iter_mut().zip(values).for_each(|(column, value)| column.push(row, value));
}

/// The sums of two chunks together. A sum too large for a float stays the largest one, because JSON
/// has no infinity.
fn join(a: Sums, b: Option<&Sums>) -> Sums {
    let b = b.copied().unwrap_or_default();
    let add = |a: f64, b: f64| (a + b).clamp(f64::MIN, f64::MAX);
    Sums {
        count: a.count + b.count,
        sum: add(a.sum, b.sum),
        magnitude: add(a.magnitude, b.magnitude),
        weighted: add(a.weighted, b.weighted),
    }
}

/// FNV-1a with 64 bits (Fowler, Noll and Vo; RFC 9923) over a row, a kind, a length and bytes, going
/// on from `hash`. Not meant to withstand an adversary.
fn fnv1a(hash: u64, row: u64, kind: u8, bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let (row, length) = (row.to_le_bytes(), (bytes.len() as u64).to_le_bytes());
    let all = row.iter().chain([&kind]).chain(&length).chain(bytes);
    all.fold(hash ^ OFFSET, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined_as_rows_come() {
        let mut columns = Vec::new();
        for row in 0..1_000 {
            push_row(&mut columns, row, &[Value::Integer(1)]);
            let size = rows_per_chunk(row + 1);
            let last = columns[0].chunks.len() as u64 - 1;
            assert!(last < CHUNKS);
            for (place, chunk) in columns[0].chunks.iter().enumerate() {
                let full = (place as u64) < last;
                assert_eq!(chunk.count, if full { size } else { row + 1 - last * size }, "row {row}");
            }
        }
        assert_eq!(rows_per_chunk(1_000), 32);
    }

    #[test]
    fn a_hash_goes_on_from_the_one_before() {
        let one = fnv1a(0, 0, b't', b"one");
        assert_ne!(fnv1a(one, 1, b't', b"two"), fnv1a(0, 1, b't', b"two"));
        assert_ne!(fnv1a(0, 0, b't', b"6f"), fnv1a(0, 0, b'b', b"6f"));
    }
}
