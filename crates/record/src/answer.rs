//! The answer of a test, small enough to be kept in a run file and whole enough to be checked.
//!
//! Rows are streamed in as the runner sends them. A small answer is kept in full; of a large one the
//! first rows are kept, for people to read, and all of it is digested by column. Nothing here judges:
//! whether two agree is the verdict's business.

use std::borrow::Cow;

use dyno_protocol::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::columns::{Column, push_row};

/// The most values of an answer that are kept, rows counted whole.
pub const KEPT_VALUES: usize = 1_000;

/// The most bytes of text and blobs (in hexadecimal) that are kept.
pub const KEPT_BYTES: usize = 64 * 1024;

/// The answer of one test in one trial. Two that are the same to the last bit are equal by `==`;
/// whether they agree within a tolerance is the verdict's business.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The number of rows.
    pub rows: u64,
    /// The first rows, as many as fit within [`KEPT_VALUES`] and [`KEPT_BYTES`].
    pub kept: Vec<Vec<Value>>,
    /// The digest of all rows by column; empty while every row is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
}

impl Answer {
    /// The answer that consists of `rows`.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = &'a Vec<Value>>) -> Answer {
        let mut answer = Answer::default();
        rows.into_iter().for_each(|row| answer.push(row));
        answer
    }

    /// True if every row is kept.
    pub fn is_complete(&self) -> bool {
        self.kept.len() as u64 == self.rows
    }

    /// Takes in the next row.
    pub fn push(&mut self, row: &[Value]) {
        if self.is_complete() {
            if self.has_room_for(row) {
                self.kept.push(row.to_vec());
                self.rows += 1;
                return;
            }
            self.columns = digest(&self.kept);
        }
        push_row(&mut self.columns, self.rows, row);
        self.rows += 1;
    }

    /// The digest by column, computed where it is not stored.
    pub fn digest(&self) -> Cow<'_, [Column]> {
        if self.is_complete() { digest(&self.kept).into() } else { Cow::Borrowed(&self.columns) }
    }

    fn has_room_for(&self, row: &[Value]) -> bool {
        let all = || self.kept.iter().map(Vec::as_slice).chain([row]);
        let values: usize = all().map(|row| row.len().max(1)).sum();
        values <= KEPT_VALUES && all().flatten().map(text_bytes).sum::<usize>() <= KEPT_BYTES
    }
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) | Value::Blob { blob: text } => text.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    }
}

fn digest(rows: &[Vec<Value>]) -> Vec<Column> {
    let mut columns = Vec::new();
    for (row, values) in rows.iter().enumerate() {
        push_row(&mut columns, row as u64, values);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_answer_is_kept_and_a_large_one_digested() {
        let rows = |n: i64| (0..n).map(|i| vec![Value::Integer(i), Value::Null]).collect::<Vec<_>>();
        let small = Answer::from_rows(&rows(500));
        assert!(small.is_complete() && small.columns.is_empty());
        let large = Answer::from_rows(&rows(501));
        assert!(!large.is_complete());
        assert_eq!((large.rows, large.kept.len()), (501, 500));
        assert_eq!((large.columns[0].integers, large.columns[1].nulls), (501, 501));
    }

    #[test]
    fn once_a_row_does_not_fit_none_after_it_is_kept() {
        let long = vec![Value::Text("x".repeat(KEPT_BYTES + 1))];
        let answer = Answer::from_rows(&[vec![Value::Integer(1)], long, vec![Value::Integer(3)]]);
        assert_eq!((answer.rows, answer.kept.len()), (3, 1));
        assert_eq!((answer.columns[0].integers, answer.columns[0].texts), (2, 1));
    }

    #[test]
    fn the_digest_does_not_depend_on_whether_it_was_stored() {
        let rows: Vec<_> = (0..300).map(|i| vec![Value::Real(f64::from(i) / 8.0)]).collect();
        let complete = Answer::from_rows(&rows);
        let stored = Answer { columns: digest(&rows), kept: Vec::new(), rows: 300 };
        assert_eq!(complete.digest(), stored.digest());
    }
}
