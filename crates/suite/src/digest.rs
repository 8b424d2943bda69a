//! The right answer of a test that has too many rows to write out, as the digest that run files keep of such answers.

use dyno_record::{Answer, Column, Sums};
use serde::Deserialize;

/// The digest of an answer by column.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDigest {
    /// The number of rows.
    pub rows: u64,
    /// The columns, from the left.
    pub columns: Vec<ExpectedColumn>,
}

/// The numbers of one column; a column of text or blobs has to be given by its rows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExpectedColumn {
    /// The number of values that are NULL.
    pub nulls: u64,
    /// The number of whole numbers.
    pub integers: u64,
    /// The number of other numbers.
    pub reals: u64,
    /// The hash of the whole numbers, a decimal number: TOML has none of 64 bits without a sign.
    pub integer_hash: Option<String>,
    /// For each chunk of rows how many numbers it has, their sum, the sum of their magnitudes of at least 1, and the sum
    /// that is weighted by row. A column of whole numbers alone is compared by its hash and needs no chunks.
    pub chunks: Vec<[f64; 4]>,
}

impl ExpectedDigest {
    /// The answer, of which no row is kept. None if a hash is no number.
    pub fn answer(&self) -> Option<Answer> {
        let columns = self.columns.iter().map(ExpectedColumn::column).collect::<Option<_>>()?;
        Some(Answer { rows: self.rows, kept: Vec::new(), columns })
    }
}

impl ExpectedColumn {
    fn column(&self) -> Option<Column> {
        let integer_hash = self.integer_hash.as_ref().map_or(Some(0), |hash| hash.parse().ok())?;
        let sums = |&[count, sum, magnitude, weighted]: &[f64; 4]| Sums {
            count: count as u64,
            sum,
            magnitude,
            weighted,
        };
        Some(Column {
            nulls: self.nulls,
            integers: self.integers,
            reals: self.reals,
            integer_hash,
            chunks: self.chunks.iter().map(sums).collect(),
            ..Column::default()
        })
    }
}
