//! The rows of a part of a Parquet file as SQLite's records.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use sqlite_pages::Row;

use super::encode::put_real;
use super::job::Fill;
use super::restart::Restart;
use super::rows::Rows;
use crate::convert::{BadField, Wanted};
use crate::parquet::{Column, File, ParquetValue, Reader, RowParts};
use crate::parse::{NO_EMPTY_STRING, takes_empty_string};
use crate::split::fields_of;
use crate::value::{Kind, Value, read};

/// Bytes of records that are made before their pages are written: a column may refer to the same long text in each row,
/// so the number of a part's rows says little about the size of their records.
const GATHERED: usize = 8 << 20;

/// The part that a thread has in hand.
pub struct Columns {
    reader: Reader,
    file: Arc<File>,
    piece: u64,
    /// A value that is neither number nor bytes, as it is printed.
    printed: Vec<u8>,
    /// A value as text.
    text: Vec<u8>,
}

/// The row's number, if one of its columns holds it.
struct Number {
    column: Option<usize>,
    found: Option<i64>,
}

impl Columns {
    /// No part yet.
    pub fn new(file: Arc<File>) -> Columns {
        let reader = Reader::new(file.clone());
        Columns { reader, file, piece: 0, printed: Vec::new(), text: Vec::new() }
    }

    /// The index of the part.
    pub fn piece(&self) -> u64 {
        self.piece
    }

    /// Takes the next part, unless this one has rows left; false at the end.
    pub fn take(&mut self, parts: &Mutex<RowParts>) -> Result<bool> {
        if !self.reader.is_at_end() {
            return Ok(true);
        }
        let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(part) = next else { return Ok(false) };
        self.piece = part.index;
        self.reader.go_to(&part)?;
        Ok(true)
    }

    /// Adds the part's rows, or as many as may gather; says whether there are more.
    pub fn read(&mut self, rows: &mut Rows, fill: &Fill) -> Result<bool> {
        while rows.records.bytes() < GATHERED {
            let Some((count, first)) = self.reader.read()? else { return Ok(false) };
            let longest: usize = self.reader.columns.iter().map(Column::longest).sum();
            let may_be_long = longest > self.file.longest;
            for line in first..first + count as u64 {
                if may_be_long {
                    self.check_length(line)?;
                }
                self.row(line, longest, rows, fill)?;
            }
            fill.read.fetch_max(self.file.bytes_before(first + count as u64), Ordering::Relaxed);
        }
        Ok(!self.reader.is_at_end())
    }

    /// Refuses the next row if it is too long.
    #[cold]
    fn check_length(&mut self, line: u64) -> Result<()> {
        let mut bytes = 0;
        for column in &mut self.reader.columns {
            self.text.clear();
            bytes += match column.next(&mut self.printed)? {
                ParquetValue::Text(text) => text.len(),
                other => {
                    other.put(&mut self.text)?;
                    self.text.len()
                }
            };
            column.back();
        }
        self.file.check_length(line, bytes)
    }

    /// Adds a row, whose texts have `longest` bytes at most.
    fn row(&mut self, line: u64, longest: usize, rows: &mut Rows, fill: &Fill) -> Result<()> {
        let (wanted, nulls) = (&fill.converter.columns, &fill.converter.nulls);
        let mut number = Number { column: fill.numbers.column(), found: None };
        let mut row = rows.records.begin(wanted.len(), longest);
        for (place, (column, wanted)) in self.reader.columns.iter_mut().zip(wanted).enumerate() {
            let given = column.next(&mut self.printed)?;
            let put = match nulls.is_empty() {
                true => put(given, place, wanted, &mut row, &mut number, &mut self.text),
                false => put_text(given, place, wanted, nulls, &mut row, &mut number, &mut self.text),
            };
            if let Err(wrong) = put {
                return self.reject(line, place, wrong, rows, fill);
            }
        }
        let made = row.end()?;
        rows.records.add(made);
        if number.column.is_some() {
            rows.numbers.push(number.found.ok_or(Restart::Violated)?);
        }
        Ok(())
    }

    /// Rejects the row of whose columns one is wrong: all of them are printed for it.
    #[cold]
    fn reject(
        &mut self,
        line: u64,
        place: usize,
        wrong: BadField,
        rows: &mut Rows,
        fill: &Fill,
    ) -> Result<()> {
        self.reader.columns[..=place].iter_mut().for_each(Column::back);
        let (mut text, mut ends, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for column in &mut self.reader.columns {
            column.next(&mut self.printed)?.put(&mut text)?;
            ends.push(text.len());
        }
        fields_of(&ends, &mut fields);
        rows.reject(&fill.converter, line, &text, &fields, wrong)
    }
}

/// Puts a value into a record: unchanged if the column takes such values, else the conversion of its text.
#[inline]
fn put(
    given: ParquetValue,
    place: usize,
    wanted: &Wanted,
    row: &mut Row,
    number: &mut Number,
    text: &mut Vec<u8>,
) -> Result<(), BadField> {
    match (given, wanted.kind) {
        (ParquetValue::Null, _) => row.null(),
        (ParquetValue::Whole(whole), Kind::INTEGER) => put_whole(whole, place, row, number),
        // Values that are no number, and a zero with a sign, are judged by their text.
        (ParquetValue::Real(real), Kind::Real)
            if real.is_finite() && !(real == 0.0 && real.is_sign_negative()) =>
        {
            put_real(row, real, Kind::Real);
        }
        (ParquetValue::Text(bytes), Kind::TEXT) if bytes.is_ascii() || std::str::from_utf8(bytes).is_ok() => {
            row.text(bytes, 0, bytes.len());
        }
        _ => return put_text(given, place, wanted, &[], row, number, text),
    }
    Ok(())
}

/// Puts a value into a record as what its text is in such a column.
fn put_text(
    given: ParquetValue,
    place: usize,
    wanted: &Wanted,
    nulls: &[Vec<u8>],
    row: &mut Row,
    number: &mut Number,
    text: &mut Vec<u8>,
) -> Result<(), BadField> {
    text.clear();
    given.put(text).map_err(|error| (Some(place), error.to_string()))?;
    if given == ParquetValue::Null || nulls.contains(text) {
        row.null();
        return Ok(());
    }
    if text.is_empty() && !takes_empty_string(wanted.kind) {
        return Err((Some(place), NO_EMPTY_STRING.to_owned()));
    }
    let found = read(wanted.kind, text).map_err(|reason| (Some(place), reason))?;
    if std::str::from_utf8(text).is_err() {
        return Err((Some(place), "is not UTF-8".to_owned()));
    }
    match found {
        Value::Null => row.null(),
        Value::Integer(whole) => put_whole(whole, place, row, number),
        Value::Real(real) => put_real(row, real, wanted.kind),
        Value::Text => row.text(text, 0, text.len()),
    }
    Ok(())
}

/// Puts a whole number into the record, or keeps it separately if it is the row's number.
#[inline]
fn put_whole(whole: i64, place: usize, row: &mut Row, number: &mut Number) {
    if number.column == Some(place) {
        number.found = Some(whole);
        row.null();
    } else {
        row.integer(whole);
    }
}
