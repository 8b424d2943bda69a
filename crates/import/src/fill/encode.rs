//! A row's values put into its record one after another, as [`Converter::convert`] finds them and as SQLite stores them
//! in columns of their kinds.

use std::cell::Cell;

use sqlite_pages::{Row, Value};

use crate::convert::{BadField, Converter};
use crate::digits;
use crate::split::FieldBounds;
use crate::value::{self, Kind, read};

/// The rules by which the rows of a text are checked and encoded.
pub struct Encoder<'f> {
    converter: &'f Converter,
    columns: Vec<FieldFormat>,
    is_utf8: bool,
    /// The number of rows before this one whose first value was unusual, one after another.
    misses: Cell<u32>,
}

/// The most of such rows: after them no row is looked at for usual values.
const MOST_MISSES: u32 = 8;

/// The way in which the fields of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldFormat {
    /// As they are.
    Text,
    /// As whole numbers.
    Integer,
    /// As whole numbers, which an index holds too.
    Key,
    /// As whole numbers that are the rows' numbers. They are kept separately: SQLite's records have a NULL in their
    /// place.
    Number,
    /// As the column's kind says.
    Kind,
}

impl<'f> Encoder<'f> {
    /// For a text that may be known to be UTF-8, and where a column may have the rows' numbers and others the keys of
    /// indexes.
    pub fn new(
        converter: &'f Converter,
        numbered: Option<usize>,
        keys: impl Fn(usize) -> bool,
        is_utf8: bool,
    ) -> Encoder<'f> {
        let columns = converter.columns.iter().enumerate().map(|(column, wanted)| match wanted.kind {
            Kind::TEXT => FieldFormat::Text,
            Kind::INTEGER if numbered == Some(column) => FieldFormat::Number,
            Kind::INTEGER if keys(column) => FieldFormat::Key,
            Kind::INTEGER => FieldFormat::Integer,
            _ => FieldFormat::Kind,
        });
        Encoder { converter, columns: columns.collect(), is_utf8, misses: Cell::new(0) }
    }

    /// True if every text is known to be UTF-8 and none is NULL. Only the loop for x86 processors asks.
    #[cfg(target_arch = "x86_64")]
    pub fn is_plain(&self) -> bool {
        self.is_utf8 && self.converter.nulls.is_empty()
    }

    /// Puts the values of a row into its record, its number, where a column has it, into `number`, and the keys of its
    /// entries in indexes into `keys`, by their columns. `PLAIN` says what [`Encoder::is_plain`] says.
    // Data that not every field needs are not part of this, so that the processor's registers hold the rest.
    #[inline(always)]
    pub fn encode<const PLAIN: bool>(
        &self,
        row: &mut Row,
        text: &[u8],
        fields: impl FieldBounds,
        number: &mut Option<i64>,
        keys: &mut [Option<i64>],
    ) -> Result<(), BadField> {
        if fields.len() != self.columns.len() {
            return Err(self.converter.not_as_many(fields.len()));
        }
        let mut usual = 0;
        if PLAIN && self.misses.get() < MOST_MISSES {
            usual = self.put_usual(row, text, &fields, keys);
            self.misses.set(if usual == 0 { self.misses.get() + 1 } else { 0 });
        }
        for (column, how) in self.columns.iter().enumerate().skip(usual) {
            let (from, to) = fields.at(column);
            self.put::<PLAIN>(row, text, (from as usize, to as usize), (column, *how), number, keys)?;
        }
        Ok(())
    }

    /// Puts values until one is unusual, and returns its column.
    #[inline(always)]
    fn put_usual(
        &self,
        row: &mut Row,
        text: &[u8],
        fields: &impl FieldBounds,
        keys: &mut [Option<i64>],
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: rows are plain only where the processor has what `Reading::plain` requires.
            unsafe { put_usual_wide(&self.columns, row, text, fields, keys) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            put_usual(&self.columns, row, text, fields, keys, digits::small)
        }
    }

    /// Puts the value of any field.
    #[inline]
    fn put<const PLAIN: bool>(
        &self,
        row: &mut Row,
        text: &[u8],
        (from, to): (usize, usize),
        (column, how): (usize, FieldFormat),
        number: &mut Option<i64>,
        keys: &mut [Option<i64>],
    ) -> Result<(), BadField> {
        if !PLAIN && self.is_null(&text[from..to]) {
            row.null();
            keys[column] = None;
            return Ok(());
        }
        match how {
            FieldFormat::Text => row.text(text, from, to),
            FieldFormat::Integer => match digits::integer(text, from, to) {
                Some(found) => row.integer(found),
                None if from == to => row.null(),
                None => return Err(self.unfit(column)),
            },
            FieldFormat::Key => {
                keys[column] = digits::integer(text, from, to);
                match keys[column] {
                    Some(found) => row.integer(found),
                    None if from == to => row.null(),
                    None => return Err(self.unfit(column)),
                }
            }
            FieldFormat::Number => {
                *number = digits::integer(text, from, to);
                if number.is_none() && from < to {
                    return Err(self.unfit(column));
                }
                row.null();
            }
            FieldFormat::Kind => match self.value(column, &text[from..to])? {
                Value::Null => row.null(),
                Value::Integer(number) => row.integer(number),
                Value::Real(number) => row.real(number),
                Value::Text(_) | Value::Blob(_) => row.text(text, from, to),
            },
        }
        if !PLAIN && !self.is_utf8 && std::str::from_utf8(&text[from..to]).is_err() {
            return Err(self.converter.not_utf8(column));
        }
        Ok(())
    }

    /// A field of any kind.
    #[inline(never)]
    fn value<'t>(&self, column: usize, field: &'t [u8]) -> Result<Value<'t>, BadField> {
        let kind = self.converter.columns[column].kind;
        Ok(match read(kind, field).map_err(|reason| (Some(column), reason))? {
            value::Value::Null => Value::Null,
            value::Value::Integer(number) => Value::Integer(number),
            value::Value::Real(number) => stored(number, kind),
            value::Value::Text => Value::Text(field),
        })
    }

    fn is_null(&self, field: &[u8]) -> bool {
        self.converter.nulls.iter().any(|null| null == field)
    }

    #[cold]
    #[inline(never)]
    fn unfit(&self, column: usize) -> BadField {
        (Some(column), self.converter.columns[column].kind.wants())
    }
}

/// [`put_usual`] for processors since 2013.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn put_usual_wide(
    columns: &[FieldFormat],
    row: &mut Row,
    text: &[u8],
    fields: &impl FieldBounds,
    keys: &mut [Option<i64>],
) -> usize {
    put_usual(columns, row, text, fields, keys, |text, from, to| digits::small_wide(text, from, to))
}

/// Puts a row's short texts and small whole numbers until another value comes, and returns the column of that one.
#[inline(always)]
fn put_usual(
    columns: &[FieldFormat],
    row: &mut Row,
    text: &[u8],
    fields: &impl FieldBounds,
    keys: &mut [Option<i64>],
    small: impl Fn(&[u8], usize, usize) -> Option<u32>,
) -> usize {
    let (types, mut body) = row.room(columns.len());
    let mut put = 0;
    for ((how, (from, to)), kind) in columns.iter().zip(fields.all()).zip(types) {
        let (from, to) = (from as usize, to as usize);
        let usual = match how {
            FieldFormat::Text => body.short_text(text, from, to),
            FieldFormat::Integer => small(text, from, to).map(|number| body.small(number)),
            FieldFormat::Key => small(text, from, to).map(|number| {
                keys[put] = Some(number.into());
                body.small(number)
            }),
            FieldFormat::Number | FieldFormat::Kind => None,
        };
        let Some(found) = usual else { break };
        *kind = found;
        put += 1;
    }
    let end = body.end();
    row.take(put, columns.len(), end);
    put
}

/// A number as SQLite stores it in a column of such a kind.
#[inline]
fn stored(number: f64, kind: Kind) -> Value<'static> {
    if kind == Kind::Real { Value::in_real(number) } else { Value::in_numeric(number) }
}

/// Puts a number as SQLite stores it in a column of such a kind.
#[inline]
#[cfg(feature = "parquet")]
pub fn put_real(row: &mut Row, number: f64, kind: Kind) {
    match stored(number, kind) {
        Value::Integer(whole) => row.integer(whole),
        _ => row.real(number),
    }
}
