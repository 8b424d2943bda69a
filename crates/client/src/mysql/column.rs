//! Converts the values of a column by the type and the collation that the protocol reports for it.

use std::ffi::c_uint;

use dyno_protocol::Sink;

use super::api::{DOUBLE, Field, LONG, LONGLONG, STRING};
use crate::number::{number, real};

/// The collation's number of what is no text.
const BYTES: c_uint = 63;

/// Numbers of the types, as in `enum_field_types`.
const DECIMAL: c_uint = 0;
const TINY: c_uint = 1;
const SHORT: c_uint = 2;
const FLOAT: c_uint = 4;
const INT24: c_uint = 9;
const YEAR: c_uint = 13;
const VARCHAR: c_uint = 15;
const BIT: c_uint = 16;
const NEWDECIMAL: c_uint = 246;
const TINY_BLOB: c_uint = 249;
const GEOMETRY: c_uint = 255;

/// Flag of a column: its numbers have no sign.
const UNSIGNED: c_uint = 32;

/// Adds a value of a column by its text. A column of bytes has the type of a text and another collation,
/// as have dates and times, which are text all the same.
#[inline]
pub(super) fn put<S: Sink>(value: &[u8], field: &Field, sink: &mut S) {
    match field.kind {
        LONG | LONGLONG | NEWDECIMAL | TINY | SHORT | INT24 | YEAR | DECIMAL => number(value, sink),
        DOUBLE | FLOAT => real(value, sink),
        TINY_BLOB..=GEOMETRY | BIT if field.charset == BYTES => sink.blob(value),
        _ => sink.text(value),
    }
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whole numbers of up to 64 bits.
    Integer,
    /// Numbers of floating point.
    Real,
    /// Decimal numbers, which come as text.
    Decimal,
    /// Text, dates and times.
    Text,
    /// Bytes.
    Bytes,
}

impl Field {
    /// The type of its values. An unsigned integer may not fit into a signed one of 64 bits, and comes as text.
    pub(super) fn values(&self) -> Kind {
        match self.kind {
            LONGLONG if self.flags & UNSIGNED != 0 => Kind::Decimal,
            LONG | LONGLONG | TINY | SHORT | INT24 | YEAR => Kind::Integer,
            NEWDECIMAL | DECIMAL => Kind::Decimal,
            DOUBLE | FLOAT => Kind::Real,
            TINY_BLOB..=GEOMETRY | BIT if self.charset == BYTES => Kind::Bytes,
            _ => Kind::Text,
        }
    }

    /// True if its values are stored as text.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, VARCHAR | TINY_BLOB..=STRING) && self.charset != BYTES
    }

    /// True if its values are whole numbers.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, TINY | SHORT | INT24 | LONG | LONGLONG)
    }
}
