//! A row's values put into its record one after another, as [`Converter::convert`] finds them and as SQLite stores them
//! in columns of their kinds.

use sqlite_pages::{Row, Value};

use crate::convert::{BadField, Converter, not_utf8};
use crate::digits;
use crate::value::{self, Kind, read};

/// The rules by which the rows of a text are checked and encoded.
pub struct Encoder<'f> {
    converter: &'f Converter,
    columns: Vec<FieldFormat>,
    is_utf8: bool,
}

/// The way in which the fields of a column are read.
#[derive(Debug, Clone, Copy)]
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
        Encoder { converter, columns: columns.collect(), is_utf8 }
    }

    /// True if every text is known to be UTF-8 and none is NULL.
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
        fields: impl ExactSizeIterator<Item = (u32, u32)>,
        number: &mut Option<i64>,
        keys: &mut [Option<i64>],
    ) -> Result<(), BadField> {
        if fields.len() != self.columns.len() {
            return Err(self.converter.not_as_many(fields.len()));
        }
        for (column, (how, (from, to))) in self.columns.iter().zip(fields).enumerate() {
            let (from, to) = (from as usize, to as usize);
            if !PLAIN && self.is_null(&text[from..to]) {
                row.null();
                continue;
            }
            match how {
                FieldFormat::Text => row.text(text, from, to),
                FieldFormat::Integer => match digits::integer(text, from, to) {
                    Some(found) => row.integer(found),
                    None if from == to => row.null(),
                    None => return Err(self.unfit(column)),
                },
                FieldFormat::Key | FieldFormat::Number => match digits::integer(text, from, to) {
                    Some(found) if matches!(how, FieldFormat::Key) => {
                        row.integer(found);
                        keys[column] = Some(found);
                    }
                    Some(found) => {
                        *number = Some(found);
                        row.null();
                    }
                    None if from == to => row.null(),
                    None => return Err(self.unfit(column)),
                },
                FieldFormat::Kind => match self.value(column, &text[from..to])? {
                    Value::Null => row.null(),
                    Value::Integer(number) => row.integer(number),
                    Value::Real(number) => row.real(number),
                    Value::Text(_) | Value::Blob(_) => row.text(text, from, to),
                },
            }
            if !PLAIN && !self.is_utf8 && std::str::from_utf8(&text[from..to]).is_err() {
                return Err(not_utf8(column));
            }
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
