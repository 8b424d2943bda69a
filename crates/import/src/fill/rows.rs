//! The rows of a chunk as SQLite's records.

use anyhow::Result;
use sqlite_pages::{Records, Row, Value};

use super::{Fill, Unfit};
use crate::chunks::Chunk;
use crate::convert::{Converter, Wrong, not_utf8};
use crate::digits;
use crate::error::BadRow;
use crate::fields::{Fields, Split};
use crate::records::Dialect;
use crate::value::{self, Kind, read};

/// What became of a chunk, before its turn.
#[derive(Default)]
pub struct Rows {
    /// The rows' records.
    pub records: Records,
    /// Their numbers, where a column has them.
    pub numbers: Vec<i64>,
    /// The rows that are none, with their fields.
    pub bad: Vec<(BadRow, Vec<Vec<u8>>)>,
}

impl Rows {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.records.clear();
        self.numbers.clear();
        self.bad.clear();
    }

    /// Makes records of a chunk's rows.
    pub fn read(&mut self, chunk: &mut Chunk, dialect: Dialect, fill: &Fill) -> Result<()> {
        let is_utf8 = std::str::from_utf8(chunk.text()).is_ok();
        match chunk.has_quotes {
            true => self.split(Split::<true>::new(chunk, dialect.delimiter, &fill.name), fill, is_utf8),
            false => self.split(Split::<false>::new(chunk, dialect.delimiter, &fill.name), fill, is_utf8),
        }
    }

    fn split<const QUOTES: bool>(
        &mut self,
        mut split: Split<QUOTES>,
        fill: &Fill,
        is_utf8: bool,
    ) -> Result<()> {
        let (converter, numbered) = (&fill.converter, fill.numbers.column());
        while let Some((line, text, fields)) = split.next()? {
            let mut number = None;
            match encode(&mut self.records, converter, text, fields, is_utf8, (numbered, &mut number)) {
                Ok(row) => {
                    row.end()?;
                    if numbered.is_some() {
                        self.numbers.push(number.ok_or(Unfit::Violated)?);
                    }
                }
                Err(wrong) => self.reject(converter, line, text, fields, wrong)?,
            }
        }
        Ok(())
    }

    /// Takes a row that is none, or tells that it contradicts a type that was only inferred.
    #[cold]
    pub fn reject(
        &mut self,
        converter: &Converter,
        line: u64,
        text: &[u8],
        fields: &Fields,
        wrong: Wrong,
    ) -> Result<()> {
        let fields: Vec<&[u8]> = fields.iter().map(|&(from, to)| &text[from as usize..to as usize]).collect();
        let bad = converter.bad(line, &fields, wrong)?;
        self.bad.push((bad, fields.into_iter().map(<[u8]>::to_vec).collect()));
        Ok(())
    }
}

/// Puts a row's values behind one another as [`Converter::convert`] finds them, and as SQLite stores them in columns of
/// their kinds. The row's number, where a column has it, is kept apart: SQLite's record has a NULL in its place.
#[inline(always)]
fn encode<'r>(
    records: &'r mut Records,
    converter: &Converter,
    text: &[u8],
    fields: &Fields,
    is_utf8: bool,
    (numbered, row_number): (Option<usize>, &mut Option<i64>),
) -> Result<Row<'r>, Wrong> {
    let columns = &converter.columns;
    if fields.len() != columns.len() {
        return Err(converter.not_as_many(fields));
    }
    let length = match fields {
        [] => 0,
        [(first, _), .., (_, last)] | [(first, last)] => last - first,
    };
    let mut row = records.begin(fields.len(), length as usize);
    for (column, (wanted, &(from, to))) in columns.iter().zip(fields).enumerate() {
        let (from, to) = (from as usize, to as usize);
        let field = &text[from..to];
        if !converter.nulls.is_empty() && converter.nulls.iter().any(|null| null == field) {
            row.null();
        } else {
            match wanted.kind {
                Kind::TEXT => row.text(text, from, to),
                Kind::INTEGER => match digits::integer(text, from, to) {
                    Some(number) if numbered == Some(column) => {
                        *row_number = Some(number);
                        row.null();
                    }
                    Some(number) => row.integer(number),
                    None if field.is_empty() => row.null(),
                    None => return Err((Some(column), wanted.kind.wants())),
                },
                kind => match read(kind, field).map_err(|reason| (Some(column), reason))? {
                    value::Value::Null => row.null(),
                    value::Value::Integer(number) => row.integer(number),
                    value::Value::Real(number) => put_real(&mut row, number, kind),
                    value::Value::Text => row.text(text, from, to),
                },
            }
        }
        if !is_utf8 && std::str::from_utf8(field).is_err() {
            return Err(not_utf8(column));
        }
    }
    Ok(row)
}

/// A number as SQLite stores it in a column of such a kind.
#[inline]
pub fn put_real(row: &mut Row, number: f64, kind: Kind) {
    let stored = if kind == Kind::Real { Value::in_real(number) } else { Value::in_numeric(number) };
    match stored {
        Value::Integer(whole) => row.integer(whole),
        _ => row.real(number),
    }
}
