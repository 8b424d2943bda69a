//! Records: the values of a row as SQLite stores them (section 2.1 of the format).

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::error::Error;
use crate::payload::LONGEST;
use crate::varint;

/// A value as it is stored: what the column's affinity makes of it is the caller's affair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number. In a column with an affinity see [`Value::in_real`] and [`Value::in_numeric`].
    Real(f64),
    /// Text, UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// A number in a column of REAL affinity, where SQLite stores a whole one that takes six bytes at most as an
    /// integer (`OP_MakeRecord` and `MEM_IntReal` in its vdbe.c).
    #[inline]
    pub fn in_real(number: f64) -> Value<'static> {
        match Value::in_numeric(number) {
            Value::Integer(whole) if (-(1 << 47)..1 << 47).contains(&whole) => Value::Integer(whole),
            _ => Value::Real(number),
        }
    }

    /// A number in a column of NUMERIC or INTEGER affinity, where SQLite stores every whole one that fits as an
    /// integer (`sqlite3VdbeIntegerAffinity` in its vdbemem.c).
    #[inline]
    pub fn in_numeric(number: f64) -> Value<'static> {
        let whole = number as i64;
        if whole as f64 == number && whole > i64::MIN && whole < i64::MAX {
            Value::Integer(whole)
        } else {
            Value::Real(number)
        }
    }

    /// Bytes of a text or a blob.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Value::Text(bytes) | Value::Blob(bytes) => bytes.len(),
            _ => 0,
        }
    }

    /// The type's number, which also encodes the length.
    #[inline]
    fn serial(&self) -> u64 {
        match self {
            Value::Null => 0,
            Value::Integer(0) => 8,
            Value::Integer(1) => 9,
            Value::Integer(number) => {
                // Of a negative number the complement takes the same bits.
                let bits = 65 - (number ^ (number >> 63)).leading_zeros();
                [1, 1, 2, 3, 4, 5, 5, 6, 6][bits.div_ceil(8) as usize]
            }
            Value::Real(_) => 7,
            Value::Text(text) => 13 + 2 * text.len() as u64,
            Value::Blob(bytes) => 12 + 2 * bytes.len() as u64,
        }
    }

    /// Writes the value's bytes and says how many.
    #[inline]
    fn put(&self, serial: u64, out: &mut [u8]) -> usize {
        match self {
            Value::Integer(number) => {
                let length = length(serial);
                out[..length].copy_from_slice(&number.to_be_bytes()[8 - length..]);
                length
            }
            Value::Real(number) => {
                out[..8].copy_from_slice(&number.to_be_bytes());
                8
            }
            Value::Text(bytes) | Value::Blob(bytes) => {
                out[..bytes.len()].copy_from_slice(bytes);
                bytes.len()
            }
            Value::Null => 0,
        }
    }
}

/// Bytes of a value by its type's number.
#[inline]
fn length(serial: u64) -> usize {
    match serial {
        0 | 8 | 9 => 0,
        1..=4 => serial as usize,
        5 => 6,
        6 | 7 => 8,
        _ => ((serial - 12) / 2) as usize,
    }
}

/// Makes records of values.
// It keeps the types between measuring and writing.
#[derive(Debug, Default)]
pub struct Encoder {
    serials: Vec<u64>,
    header: usize,
}

impl Encoder {
    /// Writes the record of these values behind what `out` holds, and says how long it is.
    ///
    /// # Errors
    /// It is longer than SQLite takes.
    #[inline]
    pub fn append<'v>(
        &mut self,
        values: impl Iterator<Item = Value<'v>> + Clone,
        out: &mut Vec<u8>,
    ) -> Result<usize, Error> {
        let length = self.measure(values.clone());
        if length > LONGEST {
            return Err(Error::RowTooLong(length));
        }
        let start = out.len();
        out.resize(start + length as usize, 0);
        self.put(values, &mut out[start..]);
        Ok(length as usize)
    }

    /// The length of these values' record, in bytes.
    #[inline]
    fn measure<'v>(&mut self, values: impl Iterator<Item = Value<'v>>) -> u64 {
        self.serials.clear();
        let (mut header, mut body) = (0, 0u64);
        for value in values {
            let serial = value.serial();
            self.serials.push(serial);
            header += varint::length(serial);
            body += length(serial) as u64;
        }
        // The header's length counts itself.
        header += if header < 0x7f { 1 } else { varint::length(header as u64 + 2) };
        self.header = header;
        header as u64 + body
    }

    /// Writes the record of the values that were just measured, to as many bytes as that said.
    #[inline]
    fn put<'v>(&self, values: impl Iterator<Item = Value<'v>>, out: &mut [u8]) {
        let mut at = varint::put(out, self.header as u64);
        for &serial in &self.serials {
            at += varint::put(&mut out[at..], serial);
        }
        for (value, &serial) in values.zip(&self.serials) {
            at += value.put(serial, &mut out[at..]);
        }
        debug_assert_eq!(at, out.len());
    }
}

/// The values of a record that an [`Encoder`] made.
pub struct Values<'a> {
    types: &'a [u8],
    body: &'a [u8],
}

impl<'a> Values<'a> {
    /// All of them, in order.
    pub fn of(record: &'a [u8]) -> Values<'a> {
        let (header, length) = varint::get(record);
        Values { types: &record[length..header as usize], body: &record[header as usize..] }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.types.is_empty() {
            return None;
        }
        let (serial, read) = varint::get(self.types);
        self.types = &self.types[read..];
        let (bytes, rest) = self.body.split_at(length(serial));
        self.body = rest;
        Some(match serial {
            0 => Value::Null,
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            7 => Value::Real(f64::from_be_bytes(bytes.try_into().unwrap_or_default())),
            1..=6 => {
                let negative = bytes[0] >= 0x80;
                let mut whole = [if negative { 0xff } else { 0 }; 8];
                whole[8 - bytes.len()..].copy_from_slice(bytes);
                Value::Integer(i64::from_be_bytes(whole))
            }
            serial if serial % 2 == 0 => Value::Blob(bytes),
            _ => Value::Text(bytes),
        })
    }
}

/// SQLite's order of two values under the collation BINARY: NULL, numbers, texts, blobs.
pub fn compare(one: &Value, other: &Value) -> Ordering {
    let class = |value: &Value| match value {
        Value::Null => 0,
        Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    };
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(other),
        (Value::Real(one), Value::Real(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
        (Value::Integer(one), Value::Real(other)) => mixed(*one, *other),
        (Value::Real(one), Value::Integer(other)) => mixed(*other, *one).reverse(),
        (Value::Text(one), Value::Text(other)) | (Value::Blob(one), Value::Blob(other)) => one.cmp(other),
        _ => class(one).cmp(&class(other)),
    }
}

/// An integer against a number, neither of them rounded.
fn mixed(integer: i64, number: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number >= LIMIT {
        return Ordering::Less;
    }
    if number < -LIMIT {
        return Ordering::Greater;
    }
    let whole = number as i64;
    integer.cmp(&whole).then_with(|| 0f64.partial_cmp(&(number - whole as f64)).unwrap_or(Ordering::Equal))
}
