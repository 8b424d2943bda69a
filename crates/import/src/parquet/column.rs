//! A column of a row group, of which some rows are decoded at a time.

use std::io::{self, Write};

use anyhow::{Result, ensure};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{
    AsBytes, BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96Type,
};

use super::form::{Form, put_legacy};

/// The longest text of a value that is not stored as bytes, bytes: that of a double of 309 digits.
const LONGEST_PRINTED: usize = 400;

/// A column.
pub struct Column {
    form: Form,
    values: Values,
}

/// Its values, by how they are stored.
enum Values {
    Bool(Typed<BoolType>),
    Int32(Typed<Int32Type>),
    Int64(Typed<Int64Type>),
    Int96(Typed<Int96Type>),
    Float(Typed<FloatType>),
    Double(Typed<DoubleType>),
    Bytes(Typed<ByteArrayType>),
    Fixed(Typed<FixedLenByteArrayType>),
}

/// Does the same with values of any type.
macro_rules! each {
    ($values:expr, $typed:ident => $work:expr) => {
        match $values {
            Values::Bool($typed) => $work,
            Values::Int32($typed) => $work,
            Values::Int64($typed) => $work,
            Values::Int96($typed) => $work,
            Values::Float($typed) => $work,
            Values::Double($typed) => $work,
            Values::Bytes($typed) => $work,
            Values::Fixed($typed) => $work,
        }
    };
}

/// A value as the file has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParquetValue<'v> {
    /// No value.
    Null,
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// Bytes, or the text of a value that is neither.
    Text(&'v [u8]),
}

impl ParquetValue<'_> {
    /// Appends its text to `to`; a missing value adds nothing.
    pub fn put(&self, to: &mut Vec<u8>) -> io::Result<()> {
        match self {
            ParquetValue::Null => Ok(()),
            ParquetValue::Whole(number) => write!(to, "{number}"),
            ParquetValue::Real(number) => write!(to, "{number}"),
            ParquetValue::Text(bytes) => to.write_all(bytes),
        }
    }
}

impl Column {
    /// From its first row on. A value is missing where its level is below `most`.
    pub fn new(reader: ColumnReader, form: Form, most: i16) -> Column {
        let values = match reader {
            ColumnReader::BoolColumnReader(reader) => Values::Bool(Typed::new(reader, most)),
            ColumnReader::Int32ColumnReader(reader) => Values::Int32(Typed::new(reader, most)),
            ColumnReader::Int64ColumnReader(reader) => Values::Int64(Typed::new(reader, most)),
            ColumnReader::Int96ColumnReader(reader) => Values::Int96(Typed::new(reader, most)),
            ColumnReader::FloatColumnReader(reader) => Values::Float(Typed::new(reader, most)),
            ColumnReader::DoubleColumnReader(reader) => Values::Double(Typed::new(reader, most)),
            ColumnReader::ByteArrayColumnReader(reader) => Values::Bytes(Typed::new(reader, most)),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => Values::Fixed(Typed::new(reader, most)),
        };
        Column { form, values }
    }

    /// Leaves rows out.
    pub fn skip(&mut self, rows: usize) -> Result<()> {
        each!(&mut self.values, typed => typed.skip(rows))
    }

    /// Decodes the next rows, in the place of those before.
    pub fn read(&mut self, rows: usize) -> Result<()> {
        each!(&mut self.values, typed => typed.read(rows))
    }

    /// The most bytes of the text of a value that was decoded.
    pub fn longest(&self) -> usize {
        let longest = match &self.values {
            Values::Bytes(typed) => typed.values.iter().map(|value| value.len()).max(),
            Values::Fixed(typed) => typed.values.first().map(|value| value.len()),
            _ => None,
        };
        // Bytes may be printed too, as decimals are: of each byte come fewer than three digits.
        LONGEST_PRINTED.max(longest.unwrap_or(0) * if self.form == Form::Bytes { 1 } else { 3 })
    }

    /// The next row's value. One that must be printed is printed to `text`.
    #[inline]
    pub fn next<'v>(&'v mut self, text: &'v mut Vec<u8>) -> Result<ParquetValue<'v>> {
        if !matches!(self.form, Form::Whole | Form::Real | Form::Bytes) {
            return printed(&mut self.values, self.form, text);
        }
        let found = match &mut self.values {
            Values::Bool(typed) => typed.next().map(|value| ParquetValue::Whole((*value).into())),
            Values::Int32(typed) => typed.next().map(|value| ParquetValue::Whole((*value).into())),
            Values::Int64(typed) => typed.next().map(|value| ParquetValue::Whole(*value)),
            Values::Float(typed) => typed.next().map(|value| ParquetValue::Real((*value).into())),
            Values::Double(typed) => typed.next().map(|value| ParquetValue::Real(*value)),
            Values::Bytes(typed) => typed.next().map(|value| ParquetValue::Text(value.as_bytes())),
            Values::Fixed(typed) => typed.next().map(|value| ParquetValue::Text(value.as_bytes())),
            // Its form is one that is printed.
            Values::Int96(_) => None,
        };
        Ok(found.unwrap_or(ParquetValue::Null))
    }

    /// Goes back to the row before.
    pub fn back(&mut self) {
        each!(&mut self.values, typed => typed.back());
    }
}

/// The next value as text that says what it means.
fn printed<'v>(values: &mut Values, form: Form, text: &'v mut Vec<u8>) -> Result<ParquetValue<'v>> {
    text.clear();
    let is_there = match values {
        Values::Int32(typed) => {
            typed.next().map(|value| form.put_whole((*value).into(), true, text)).transpose()?
        }
        Values::Int64(typed) => typed.next().map(|value| form.put_whole(*value, false, text)).transpose()?,
        Values::Int96(typed) => typed.next().map(|value| put_legacy(value, text)).transpose()?,
        Values::Bytes(typed) => {
            typed.next().map(|value| form.put_bytes(value.as_bytes(), text)).transpose()?
        }
        Values::Fixed(typed) => {
            typed.next().map(|value| form.put_bytes(value.as_bytes(), text)).transpose()?
        }
        Values::Bool(_) | Values::Float(_) | Values::Double(_) => None,
    };
    Ok(is_there.map_or(ParquetValue::Null, |()| ParquetValue::Text(text)))
}

/// Values of one type.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    /// The definition level of a present value; 0 where no value can be missing.
    most: i16,
    levels: Vec<i16>,
    values: Vec<T::T>,
    /// The next row, and its value if it has one.
    row: usize,
    value: usize,
}

impl<T: DataType> Typed<T> {
    fn new(reader: ColumnReaderImpl<T>, most: i16) -> Typed<T> {
        Typed { reader, most, levels: Vec::new(), values: Vec::new(), row: 0, value: 0 }
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        ensure!(self.reader.skip_records(rows)? == rows, FEWER);
        Ok(())
    }

    fn read(&mut self, rows: usize) -> Result<()> {
        (self.row, self.value) = (0, 0);
        self.levels.clear();
        self.values.clear();
        let (found, ..) = self.reader.read_records(rows, Some(&mut self.levels), None, &mut self.values)?;
        let there = match self.most {
            0 => rows,
            most => self.levels.iter().filter(|level| **level == most).count(),
        };
        ensure!(found == rows && self.values.len() == there, FEWER);
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Option<&T::T> {
        self.row += 1;
        if self.most > 0 && self.levels[self.row - 1] < self.most {
            return None;
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }

    fn back(&mut self) {
        self.row -= 1;
        if self.most == 0 || self.levels[self.row] == self.most {
            self.value -= 1;
        }
    }
}

const FEWER: &str = "a column has fewer rows than the file states";
