//! Compares two answers, and names the place where they differ: a sentence for a person.
//!
//! Nulls, text, blobs and whole numbers must be the same. An integer and a real without a fraction are the same if
//! the real is the nearest to the integer: 5000 and 5000.0 agree, 5000 and 5001.0 do not. Beyond 2^53 a real is the
//! nearest to several integers, and languages without other numbers give no more. Two reals, or an integer and a real
//! with a fraction, agree when |a - b| <= tolerance x max(1, |a|, |b|): relative for numbers above one, absolute below,
//! because engines round averages to a number of decimals.
//!
//! Values that both answers have kept are compared one by one, the rest by the digests of its columns. There
//! a column that holds only whole numbers on both sides is compared exactly; with a real on either side
//! the sums of its chunks must agree within what the tolerance allows all values together, so a single
//! deviating real among many rows is found only if it exceeds that. Answers that agree value by value
//! always agree by digest. Rows and columns are named from 1.

use std::fmt;

use dyno_protocol::Value;
use dyno_record::{Answer, Column, Sums, rows_per_chunk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place where an answer departs from its reference. Rows and columns count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Mismatch {
    /// It has more or fewer rows.
    #[error("it has {} where {} expected", rows(*.found), were(*.expected))]
    Rows {
        /// Rows of the answer.
        found: u64,
        /// Rows of the reference.
        expected: u64,
    },
    /// A row has more or fewer values.
    #[error("row {row} has {found} values where {expected} are expected")]
    Width {
        /// The row.
        row: u64,
        /// Values in the answer's row.
        found: usize,
        /// Values in the reference's row.
        expected: usize,
    },
    /// A value differs.
    #[error("row {row}, column {column} is {} where {} is expected", Shown(.found), Shown(.expected))]
    Value {
        /// The row.
        row: u64,
        /// The column.
        column: usize,
        /// The answer's value.
        found: Value,
        /// The reference's value.
        expected: Value,
    },
    /// The columns are not as many.
    #[error("its rows have up to {found} columns where {expected} are expected")]
    Columns {
        /// Columns of the answer.
        found: usize,
        /// Columns of the reference.
        expected: usize,
    },
    /// A column holds other kinds of value.
    #[error("column {column} has {found} {kind} where {expected} are expected")]
    Kinds {
        /// The column.
        column: usize,
        /// The unit that is counted, as `nulls`.
        #[serde(rename = "values")]
        kind: ValueKind,
        /// The number in the answer.
        found: u64,
        /// The number in the reference.
        expected: u64,
    },
    /// A column that must be the same is not; the digest does not say in which row.
    #[error("the {kind} of column {column} are not the expected ones, or not in the expected order")]
    Hash {
        /// The column.
        column: usize,
        /// The part that differs.
        #[serde(rename = "values")]
        kind: ValueKind,
    },
    /// The numbers of some rows add up to something else.
    #[error(
        "the numbers of column {column} in rows {first_row} to {last_row} add up to {found} \
         (weighted by row {found_weighted}) where {expected} ({expected_weighted}) is expected"
    )]
    Sum {
        /// The column.
        column: usize,
        /// The first row of the chunk.
        first_row: u64,
        /// The last row of the chunk.
        last_row: u64,
        /// The answer's sum.
        found: f64,
        /// The reference's sum.
        expected: f64,
        /// The answer's weighted sum.
        found_weighted: f64,
        /// The reference's weighted sum.
        expected_weighted: f64,
    },
}

/// The kinds of value that a digest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// SQL NULL.
    Nulls,
    /// Integers.
    Integers,
    /// Numbers, whole or not.
    Numbers,
    /// Text.
    Texts,
    /// Blobs.
    Blobs,
}

/// Holds `found` against `expected`; numbers that are not whole may differ by `tolerance`, as the
/// module says.
///
/// # Errors
/// The first mismatch, in the order rows, kept values, columns.
pub fn compare(found: &Answer, expected: &Answer, tolerance: f64) -> Result<(), Mismatch> {
    if found.rows != expected.rows {
        return Err(Mismatch::Rows { found: found.rows, expected: expected.rows });
    }
    for (row, (found, expected)) in found.kept.iter().zip(&expected.kept).enumerate() {
        compare_row(row as u64 + 1, found, expected, tolerance)?;
    }
    if found.is_complete() && expected.is_complete() {
        return Ok(());
    }
    let rows = found.rows;
    let (found, expected) = (found.digest(), expected.digest());
    if found.len() != expected.len() {
        return Err(Mismatch::Columns { found: found.len(), expected: expected.len() });
    }
    for (place, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
        compare_column(place + 1, rows, found, expected, tolerance)?;
    }
    Ok(())
}

fn compare_row(row: u64, found: &[Value], expected: &[Value], tolerance: f64) -> Result<(), Mismatch> {
    if found.len() != expected.len() {
        return Err(Mismatch::Width { row, found: found.len(), expected: expected.len() });
    }
    match found.iter().zip(expected).position(|(found, expected)| !agree(found, expected, tolerance)) {
        None => Ok(()),
        Some(place) => Err(Mismatch::Value {
            row,
            column: place + 1,
            found: found[place].clone(),
            expected: expected[place].clone(),
        }),
    }
}

/// Returns true if two values agree.
fn agree(a: &Value, b: &Value, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => near(*a, *b, tolerance),
        (Value::Integer(a), Value::Real(b)) | (Value::Real(b), Value::Integer(a)) => match b.fract() == 0.0 {
            true => *a as f64 == *b,
            false => near(*a as f64, *b, tolerance),
        },
        _ => a == b,
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    // An infinite number is within any share of itself of every other.
    let gap = (a - b).abs();
    a == b || (gap.is_finite() && gap <= tolerance * a.abs().max(b.abs()).max(1.0))
}

fn compare_column(
    column: usize,
    rows: u64,
    found: &Column,
    expected: &Column,
    tolerance: f64,
) -> Result<(), Mismatch> {
    use ValueKind::{Blobs, Integers, Nulls, Numbers, Texts};
    let counts = |column: &Column| {
        let numbers = column.integers + column.reals;
        [(Nulls, column.nulls), (Numbers, numbers), (Texts, column.texts), (Blobs, column.blobs)]
    };
    for ((kind, found), (_, expected)) in counts(found).into_iter().zip(counts(expected)) {
        if found != expected {
            return Err(Mismatch::Kinds { column, kind, found, expected });
        }
    }
    if found.text_hash != expected.text_hash {
        let kind = if found.texts > 0 { Texts } else { Blobs };
        return Err(Mismatch::Hash { column, kind });
    }
    if found.reals == 0 && expected.reals == 0 {
        let same = found.integer_hash == expected.integer_hash;
        return if same { Ok(()) } else { Err(Mismatch::Hash { column, kind: Integers }) };
    }
    compare_sums(column, rows, &found.chunks, &expected.chunks, tolerance)
}

fn compare_sums(
    column: usize,
    rows: u64,
    found: &[Sums],
    expected: &[Sums],
    tolerance: f64,
) -> Result<(), Mismatch> {
    let size = rows_per_chunk(rows);
    for chunk in 0..found.len().max(expected.len()) {
        let sums = |chunks: &[Sums]| chunks.get(chunk).copied().unwrap_or_default();
        let (a, b) = (sums(found), sums(expected));
        // If all values agree, max(1, |a|, |b|) of each is at most max(1, |a|) / (1 - tolerance).
        let allowed = tolerance / (1.0 - tolerance.min(0.5)) * a.magnitude.max(b.magnitude);
        let within = |a: f64, b: f64| a == b || (a - b).abs() <= allowed;
        if a.count != b.count || !within(a.sum, b.sum) || !within(a.weighted, b.weighted) {
            return Err(Mismatch::Sum {
                column,
                first_row: chunk as u64 * size + 1,
                last_row: rows.min((chunk as u64 + 1) * size),
                found: a.sum,
                expected: b.sum,
                found_weighted: a.weighted,
                expected_weighted: b.weighted,
            });
        }
    }
    Ok(())
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ValueKind::Nulls => "nulls",
            ValueKind::Integers => "integers",
            ValueKind::Numbers => "numbers",
            ValueKind::Texts => "texts",
            ValueKind::Blobs => "blobs",
        })
    }
}

/// A value as a sentence shows it, long text cut.
struct Shown<'a>(&'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        const LONGEST: usize = 60;
        let cut = |text: &str| match text.char_indices().nth(LONGEST) {
            None => text.to_owned(),
            Some((end, _)) => format!("{}…", &text[..end]),
        };
        match self.0 {
            Value::Null => f.write_str("NULL"),
            Value::Integer(integer) => write!(f, "{integer}"),
            Value::Real(real) => write!(f, "{real:?}"),
            Value::Text(text) => write!(f, "'{}'", cut(text)),
            Value::Blob { blob } => write!(f, "x'{}'", cut(blob)),
        }
    }
}

/// A value as messages have it: a text in quotation marks, and only the beginning of a long one.
pub fn shown(value: &Value) -> String {
    Shown(value).to_string()
}

fn rows(n: u64) -> String {
    if n == 1 { "1 row".to_owned() } else { format!("{n} rows") }
}

fn were(n: u64) -> String {
    if n == 1 { "1 is".to_owned() } else { format!("{n} are") }
}
