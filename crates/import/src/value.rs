//! One field: whether it fits a column, and the value that it then is. Nothing is rounded or cut.

#[cfg(test)]
mod tests;

use crate::digits;
use crate::forms::{self, characters};
pub use crate::kind::Kind;

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// The field's own text.
    Text,
}

/// Reads a field as a value of a kind, or says what is wrong with it.
#[inline]
pub fn read(kind: Kind, field: &[u8]) -> Result<Value, String> {
    let found = match kind {
        Kind::Text { longest: None } => return Ok(Value::Text),
        _ if field.is_empty() && kind.empty_is_null() => return Ok(Value::Null),
        Kind::Integer { min, max } => {
            integer(field).filter(|number| (min..=max).contains(number)).map(Value::Integer)
        }
        Kind::Real => real(field).map(Value::Real),
        Kind::Real32 => Number::read(field).filter(Number::fits_f32).map(|number| Value::Real(number.value)),
        Kind::Decimal { precision, scale } => {
            Number::read(field).filter(|number| number.fits(precision, scale)).map(|_| Value::Text)
        }
        Kind::Numeric => numeric(field),
        Kind::Text { longest } => fits(field, longest).then_some(Value::Text),
        Kind::Form(form) => {
            forms::fits(form, field, |kind, part| read(kind, part).is_ok()).then_some(Value::Text)
        }
        Kind::AsIs => Some(Value::Text),
        Kind::Empty => field.is_empty().then_some(Value::Text),
    };
    found.ok_or_else(|| kind.wants())
}

/// A whole number, if printing it gives the very same text.
#[inline]
pub fn integer(field: &[u8]) -> Option<i64> {
    digits::integer(field, 0, field.len())
}

/// A number that a double holds exactly enough to print it again.
pub fn real(field: &[u8]) -> Option<f64> {
    let read = || Number::read(field).filter(Number::fits_f64).map(|number| number.value);
    digits::decimal(field).or_else(read)
}

/// A double below it prints as the integer that it is.
const EVERY_WHOLE: f64 = (1u64 << 53) as f64;
/// No double from here on is an integer of SQLite.
const BEYOND_WHOLE: f64 = (1u64 << 63) as f64;

/// The value that SQLite's NUMERIC makes of a text. SQLite would silently round a number of more than 15 digits, make
/// infinity of one that no double holds, and leave out spaces around one and what is behind a zero byte.
fn numeric(field: &[u8]) -> Option<Value> {
    if let Some(number) = integer(field) {
        return Some(Value::Integer(number));
    }
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let end = memchr::memchr(0, field).unwrap_or(field.len());
    let start = field[..end].iter().position(|byte| !is_space(byte)).unwrap_or(end);
    let text = std::str::from_utf8(&field[start..end])
        .unwrap_or_default()
        .trim_end_matches(|letter: char| letter.is_ascii() && is_space(&(letter as u8)));
    // The words that Rust reads, such as inf, are texts.
    let is_number = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && text.parse::<f64>().is_ok();
    if !is_number {
        return Some(Value::Text);
    }
    let value = real(field)?;
    // SQLite makes an integer of it where that is the same number, and prints all digits of an integer.
    let is_printed = |number: i64| {
        Number::read(field).is_some_and(|read| read.is_printed_as(&number.unsigned_abs().to_string()))
    };
    let is_kept = value.abs() < EVERY_WHOLE || value.abs() >= BEYOND_WHOLE || is_printed(value as i64);
    is_kept.then_some(Value::Real(value))
}

fn fits(field: &[u8], longest: Option<u32>) -> bool {
    longest.is_none_or(|longest| characters(field) <= longest as usize)
}

/// A decimal number as it is written: significant digits without zeros at either end, and the power of
/// ten before the first of them.
struct Number<'a> {
    text: &'a str,
    value: f64,
    digits: usize,
    /// Of 0.d₁d₂…, so 1 for 5 and 0 for 0.5.
    power: i64,
}

impl Number<'_> {
    /// Reads `-12.50e3`. Leading zeros and a plus sign are not how a number is printed; a negative zero is not kept by
    /// every engine.
    fn read(field: &[u8]) -> Option<Number<'_>> {
        let body = field.strip_prefix(b"-").unwrap_or(field);
        let whole = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let plain = matches!(body.first(), Some(b'0'..=b'9' | b'.'))
            && !(whole > 1 && body[0] == b'0')
            && body.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
        if !plain {
            return None;
        }
        let text = std::str::from_utf8(field).ok()?;
        let value: f64 = text.parse().ok()?;
        let (digits, power) = shape(body)?;
        if digits == 0 && body.len() < field.len() {
            return None;
        }
        Some(Number { text, value, digits, power })
    }

    fn fits_f64(&self) -> bool {
        // Any 15 digits survive a double.
        self.digits <= 15 && self.power.unsigned_abs() < 300
            || self.value.is_finite() && self.is_shortest(&format!("{:e}", self.value.abs()), self.value)
    }

    fn fits_f32(&self) -> bool {
        let value: f32 = self.text.parse().unwrap_or(f32::INFINITY);
        let is_printed = value.is_finite() && self.is_shortest(&format!("{:e}", value.abs()), value.into());
        // A program that widens a float to a double prints the digits of the double, which is the same number.
        is_printed || f64::from(self.value as f32) == self.value && self.fits_f64()
    }

    /// True if this is a shortest spelling of the value, of which `printed` is one. Where the value lies in the middle
    /// between two of them, one program prints the one and another the other.
    fn is_shortest(&self, printed: &str, value: f64) -> bool {
        self.is_printed_as(printed)
            || shape(printed.as_bytes()) == Some((self.digits, self.power)) && self.is_as_near(value)
    }

    /// True if the value ends in a 5 behind the digits of this number, rounded up or down.
    #[cold]
    fn is_as_near(&self, value: f64) -> bool {
        let exact = significant(&format!("{:.*e}", EXACT, value.abs()));
        let (Ok(own), Ok(exact)) = (significant(self.text).parse::<u128>(), exact.parse::<u128>()) else {
            return false;
        };
        // The same power of ten: with one digit more, the value is ten times as large.
        let is_one_longer = exact.checked_ilog10() == own.checked_ilog10().map(|digits| digits + 1);
        is_one_longer && (own * 10).abs_diff(exact) == 5
    }

    fn fits(&self, precision: u32, scale: u32) -> bool {
        let after = (self.digits as i64).saturating_sub(self.power);
        self.digits == 0 || after <= i64::from(scale) && self.power <= i64::from(precision) - i64::from(scale)
    }

    fn is_printed_as(&self, printed: &str) -> bool {
        shape(printed.as_bytes()) == Some((self.digits, self.power))
            && significant(printed) == significant(self.text)
    }
}

/// Digits behind the point that every double has at most, written as d.ddd…e….
const EXACT: usize = 770;

/// The digits of a number without zeros at either end.
fn significant(text: &str) -> String {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// The number of significant digits, and the power of ten before them; `(0, 0)` for zero. A power that 64 bits do not hold
/// is the nearest that they hold: no type holds such a number.
fn shape(body: &[u8]) -> Option<(usize, i64)> {
    let end = body.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(body.len());
    let exponent: i64 = match body.get(end + 1..) {
        Some(text) => std::str::from_utf8(text).ok()?.parse().ok()?,
        None => 0,
    };
    let mantissa = &body[..end];
    let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
    let mut digits = mantissa.iter().filter(|byte| **byte != b'.');
    let Some(first) = digits.position(|byte| *byte != b'0') else { return Some((0, 0)) };
    let total = mantissa.len() - usize::from(point < mantissa.len());
    let trailing =
        mantissa.iter().rev().filter(|byte| **byte != b'.').take_while(|byte| **byte == b'0').count();
    Some((total - first - trailing, (point as i64 - first as i64).saturating_add(exponent)))
}
