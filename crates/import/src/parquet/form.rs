//! The meaning of a column's values, and their text. No digit is lost: a time keeps as many as are stored, and a time
//! that no calendar has stays the number that it is.

#[cfg(test)]
mod tests;

use std::io::{self, Write};

use anyhow::{Result, bail};
use chrono::DateTime;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, Decimal, Int96};
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::value::Kind;

/// The meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Whole numbers, or truth values as 0 and 1.
    Whole,
    /// Whole numbers without a sign.
    Unsigned,
    /// Numbers.
    Real,
    /// Bytes, which are text if they are UTF-8.
    Bytes,
    /// Days since 1970.
    Date,
    /// Ticks since midnight, this many a second: in UTC, or by a clock of no zone.
    Time {
        /// Ticks of a second.
        ticks: i64,
        /// True if it is a time in UTC.
        is_utc: bool,
    },
    /// Ticks since 1970, this many a second: in UTC, or by a calendar and clock of no zone.
    Timestamp {
        /// Ticks of a second.
        ticks: i64,
        /// True if it is a moment in UTC.
        is_utc: bool,
    },
    /// The same in the twelve bytes of older programs.
    Legacy,
    /// Whole numbers with a point before the last digits.
    Decimal {
        /// Digits in all.
        precision: i32,
        /// Digits after the point.
        scale: i32,
    },
    /// The 16 bytes of a UUID.
    Uuid,
    /// Numbers of two bytes.
    Half,
}

/// Seconds of a day.
const DAY: i64 = 86_400;

impl Form {
    /// Of a column that is not nested, in a file of the program `created_by`. Arrow's C++ library wrote that every time of
    /// day is in UTC, since its own type has no zone; so what it says of that means nothing.
    ///
    /// # Errors
    /// It is of a type that has no text.
    pub fn of(column: &Type, created_by: Option<&str>) -> Result<Form> {
        let knows_zone = created_by.is_none_or(|program| !program.starts_with("parquet-cpp"));
        let (about, physical) = (column.get_basic_info(), column.get_physical_type());
        let (logical, converted) = (about.logical_type_ref(), about.converted_type());
        let is_whole = matches!(physical, Physical::INT32 | Physical::INT64);
        let is_bytes = matches!(physical, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
        let decimal = Form::Decimal { precision: column.get_precision(), scale: column.get_scale() };
        Ok(match (logical, converted) {
            (Some(LogicalType::Decimal(_)), _) | (_, ConvertedType::DECIMAL) if is_whole || is_bytes => {
                decimal
            }
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) if is_whole => Form::Date,
            (Some(LogicalType::Time(time)), _) if is_whole => {
                Form::Time { ticks: ticks(time.unit), is_utc: time.is_adjusted_to_u_t_c && knows_zone }
            }
            (Some(LogicalType::Timestamp(time)), _) if is_whole => {
                Form::Timestamp { ticks: ticks(time.unit), is_utc: time.is_adjusted_to_u_t_c }
            }
            // Alone these mean UTC (LogicalTypes.md of the format, Deprecated time ConvertedType).
            (_, ConvertedType::TIME_MILLIS) if is_whole => Form::Time { ticks: 1_000, is_utc: knows_zone },
            (_, ConvertedType::TIME_MICROS) if is_whole => {
                Form::Time { ticks: 1_000_000, is_utc: knows_zone }
            }
            (_, ConvertedType::TIMESTAMP_MILLIS) if is_whole => {
                Form::Timestamp { ticks: 1_000, is_utc: true }
            }
            (_, ConvertedType::TIMESTAMP_MICROS) if is_whole => {
                Form::Timestamp { ticks: 1_000_000, is_utc: true }
            }
            (Some(LogicalType::Integer(integer)), _) if is_whole && !integer.is_signed => Form::Unsigned,
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) if is_whole => Form::Unsigned,
            (Some(LogicalType::Uuid), _) if is_bytes => Form::Uuid,
            (Some(LogicalType::Float16), _) if is_bytes => Form::Half,
            (_, ConvertedType::INTERVAL) => {
                bail!("the column '{}' is an INTERVAL, which dyno does not read", column.name())
            }
            _ => match physical {
                Physical::BOOLEAN | Physical::INT32 | Physical::INT64 => Form::Whole,
                Physical::FLOAT | Physical::DOUBLE => Form::Real,
                Physical::INT96 => Form::Legacy,
                Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => Form::Bytes,
            },
        })
    }

    /// The kind of a table's column that keeps these values.
    pub fn kind(self) -> Kind {
        match self {
            Form::Whole | Form::Unsigned => Kind::INTEGER,
            Form::Real | Form::Half => Kind::Real,
            _ => Kind::TEXT,
        }
    }

    /// Writes the text of a value that is stored as a whole number, of four bytes where it `is_short`.
    pub fn put_whole(self, number: i64, is_short: bool, to: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Form::Unsigned if is_short => write!(to, "{}", number as u32),
            Form::Unsigned => write!(to, "{}", number as u64),
            Form::Date if is_short => match DateTime::from_timestamp(number * DAY, 0) {
                Some(date) => write!(to, "{}", date.format("%Y-%m-%d")),
                None => write!(to, "{number}"),
            },
            Form::Time { ticks, is_utc } if (0..=DAY * ticks).contains(&number) => {
                let (second, digits) = (number / ticks, digits(ticks));
                let (hour, minute, zone) = (second / 3_600, second / 60 % 60, zone(is_utc));
                write!(to, "{hour:02}:{minute:02}:{:02}.{:0digits$}{zone}", second % 60, number % ticks)
            }
            Form::Timestamp { ticks, is_utc } => put_timestamp(number, ticks, is_utc, to),
            Form::Decimal { precision, scale } => {
                put_decimal(Decimal::from_i64(number, precision, scale), to)
            }
            _ => write!(to, "{number}"),
        }
    }

    /// Writes the text of a value that is stored as bytes.
    pub fn put_bytes(self, bytes: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
        match (self, bytes) {
            (Form::Decimal { precision, scale }, bytes) => {
                put_decimal(Decimal::from_bytes(ByteArray::from(bytes.to_vec()), precision, scale), to)
            }
            (Form::Half, &[low, high]) => write!(to, "{}", half(u16::from_le_bytes([low, high]))),
            (Form::Uuid, bytes) if bytes.len() == 16 => {
                for (place, byte) in bytes.iter().enumerate() {
                    write!(to, "{}{byte:02x}", if matches!(place, 4 | 6 | 8 | 10) { "-" } else { "" })?;
                }
                Ok(())
            }
            _ => to.write_all(bytes),
        }
    }
}

/// Writes the text of a decimal number. Where it has no digits behind the point, the point is left out, too.
fn put_decimal(number: Decimal, to: &mut Vec<u8>) -> io::Result<()> {
    write!(to, "{}", Field::Decimal(number))?;
    to.pop_if(|last| *last == b'.');
    Ok(())
}

/// Writes the text of a time in the form of older programs: nanoseconds of a day, and its number.
pub fn put_legacy(value: &Int96, to: &mut Vec<u8>) -> io::Result<()> {
    const OF_1970: i64 = 2_440_588;
    let &[low, high, day] = value.data() else { return Ok(()) };
    let nanos = (u64::from(high) << 32 | u64::from(low)) as i64;
    let seconds = (i64::from(day) - OF_1970) * DAY + nanos.div_euclid(1_000_000_000);
    match DateTime::from_timestamp(seconds, nanos.rem_euclid(1_000_000_000) as u32) {
        Some(time) => write!(to, "{}", time.format("%Y-%m-%d %H:%M:%S%.9f %:z")),
        None => write!(to, "{seconds} s {nanos} ns"),
    }
}

fn put_timestamp(number: i64, ticks: i64, is_utc: bool, to: &mut Vec<u8>) -> io::Result<()> {
    let (second, rest) = (number.div_euclid(ticks), number.rem_euclid(ticks));
    let format = match digits(ticks) {
        3 => "%Y-%m-%d %H:%M:%S%.3f",
        6 => "%Y-%m-%d %H:%M:%S%.6f",
        _ => "%Y-%m-%d %H:%M:%S%.9f",
    };
    let zone = zone(is_utc);
    match DateTime::from_timestamp(second, (rest * (1_000_000_000 / ticks)) as u32) {
        Some(time) => write!(to, "{}{zone}", time.format(format)),
        None => write!(to, "{number}"),
    }
}

/// The text behind a time: its zone, if it has one.
fn zone(is_utc: bool) -> &'static str {
    if is_utc { " +00:00" } else { "" }
}

/// Ticks of a second.
fn ticks(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

/// Digits after the point of a second that has `ticks` ticks.
fn digits(ticks: i64) -> usize {
    ticks.ilog10() as usize
}

/// A number of two bytes, which a double holds.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let size = match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}
