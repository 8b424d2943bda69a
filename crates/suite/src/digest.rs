//! The right answer of a test that has too many rows to write out, as the digest that run files keep of such answers.

use dyno_record::{Answer, Column, Sums};
use serde::Deserialize;

use super::Test;

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
    /// For each chunk of rows how many numbers it has, their sum, the sum of their magnitudes of at least 1, and the
    /// sum that is weighted by row. A column of whole numbers alone is compared by its hash and needs no chunks.
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

/// The fault of the digest of a test's right answer, if it has one.
pub(super) fn complaint(test: &Test) -> Option<&'static str> {
    let digest = test.expect_digest.as_ref()?;
    if test.expect.is_some() {
        return Some("`expect` and `expect_digest` are both there; one of them says what is right");
    }
    digest.answer().is_none().then_some("an `integer_hash` of `expect_digest` is no whole number below 2⁶⁴")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use crate::Suite;

    #[test]
    fn a_digest_that_is_none_is_refused() {
        let load = |more: &str| {
            let text = format!(
                "name = 'x'\ntitle = 'x'\nstory = 'x'\ncontenders = ['sqlite']\n[[test]]\nid = '1'\ntitle = 'x'\n\
                 shows = 'x'\nmodel = 'statements'\nstatements = 'SELECT 1'\n{more}"
            );
            let dialects = BTreeSet::from(["sqlite".to_owned()]);
            Suite::parse(text, Path::new("x.toml"), &dialects).map_err(|error| error.to_string())
        };
        let digest =
            |hash: &str| format!("[test.expect_digest]\nrows = 1\ncolumns = [{{ integer_hash = '{hash}' }}]");
        let suite = load(&digest("18446744073709551615")).unwrap();
        let answer = suite.tests[0].expect_digest.as_ref().unwrap().answer().unwrap();
        assert_eq!((answer.rows, answer.columns[0].integer_hash), (1, u64::MAX));
        assert!(load(&digest("0xff")).unwrap_err().contains("x.toml:7: test 1: an `integer_hash`"));
        let both = format!("expect = [[1]]\n{}", digest("1"));
        assert!(load(&both).unwrap_err().contains("are both there"));
    }
}
