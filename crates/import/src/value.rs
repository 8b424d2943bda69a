//! One field: whether it fits a column, and the value that it then is. Nothing is rounded or cut.

use crate::digits;

/// The kind of values that a column takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Whole numbers within bounds.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Numbers that a double holds exactly enough to print them again.
    Real,
    /// The same of a float of four bytes.
    Real32,
    /// Decimal numbers with a limited number of digits, before and after the point.
    Decimal {
        /// Digits in all.
        precision: u32,
        /// Digits after the point.
        scale: u32,
    },
    /// SQLite's NUMERIC: whatever looks like a number becomes one, all else stays text.
    Numeric,
    /// Any text, up to a number of characters.
    Text {
        /// The most characters.
        longest: Option<u32>,
    },
    /// A type that only the database can read: the text goes there as it is.
    AsIs,
    /// Nothing but empty fields was seen: the first value decides the type.
    Empty,
}

impl Kind {
    /// Every integer of 64 bits.
    pub const INTEGER: Kind = Kind::Integer { min: i64::MIN, max: i64::MAX };
    /// Any text.
    pub const TEXT: Kind = Kind::Text { longest: None };

    /// True if an empty field means NULL, since it cannot be a value.
    pub fn empty_is_null(self) -> bool {
        !matches!(self, Kind::Text { .. } | Kind::Empty)
    }

    /// The requirement on a value, for people.
    pub fn wants(self) -> String {
        match self {
            Kind::INTEGER => "is no INTEGER that is printed as it stands here".into(),
            Kind::Integer { min, max } => format!("is no integer from {min} to {max}"),
            Kind::Real => "is no REAL that is the same number when printed".into(),
            Kind::Real32 => "is no number that four bytes hold without rounding".into(),
            Kind::Decimal { precision, scale } => {
                format!("is no number of {precision} digits, {scale} of them after the point")
            }
            Kind::Numeric => "is a number that SQLite would round".into(),
            Kind::Text { longest } => format!("is longer than {} characters", longest.unwrap_or(u32::MAX)),
            Kind::AsIs => "cannot be stored".into(),
            Kind::Empty => "is the first value of a column that was empty until here".into(),
        }
    }
}

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

/// The value that SQLite's NUMERIC makes of a text. SQLite would silently round a number of more than 15 digits.
fn numeric(field: &[u8]) -> Option<Value> {
    if let Some(number) = integer(field) {
        return Some(Value::Integer(number));
    }
    let text = field.trim_ascii();
    match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(number) if number.is_finite() => real(field).map(Value::Real),
        _ => Some(Value::Text),
    }
}

fn fits(field: &[u8], longest: Option<u32>) -> bool {
    // The first byte of a character is any but 0b10xxxxxx.
    longest
        .is_none_or(|longest| field.iter().filter(|byte| (**byte as i8) >= -64).count() <= longest as usize)
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
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (digits, power) = shape(body)?;
        if digits == 0 && body.len() < field.len() {
            return None;
        }
        Some(Number { text, value, digits, power })
    }

    fn fits_f64(&self) -> bool {
        // Any 15 digits survive a double.
        self.digits <= 15 && self.power.abs() < 300 || self.is_printed_as(&format!("{:e}", self.value.abs()))
    }

    fn fits_f32(&self) -> bool {
        self.is_printed_as(&format!("{:e}", (self.value as f32).abs()))
    }

    fn fits(&self, precision: u32, scale: u32) -> bool {
        let after = self.digits as i64 - self.power;
        self.digits == 0 || after <= i64::from(scale) && self.power <= i64::from(precision) - i64::from(scale)
    }

    fn is_printed_as(&self, printed: &str) -> bool {
        let digits = |text: &str| -> String {
            let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
            let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
            digits.trim_matches('0').to_owned()
        };
        shape(printed.as_bytes()) == Some((self.digits, self.power)) && digits(printed) == digits(self.text)
    }
}

/// The number of significant digits, and the power of ten before them; `(0, 0)` for zero.
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
    Some((total - first - trailing, point as i64 - first as i64 + exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_what_prints_as_it_stands() {
        for (text, number) in [("0", 0), ("-7", -7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text.as_bytes()), Some(number));
        }
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        for text in ["", "-", "007", "-0", "+1", "1.0", " 1", "9223372036854775808", "1e3", "0x10"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_real_is_the_same_number_when_printed() {
        for text in
            ["0.1", "0.10", "-2.5e-3", "1e300", "12345678901234568", "9007199254740993e0", "0", "5e-324"]
        {
            let exact = text != "9007199254740993e0";
            assert_eq!(real(text.as_bytes()).is_some(), exact, "{text}");
        }
        for text in
            ["1e999", "nan", "inf", "-0", "-0.0", "00.5", "+1.5", "0.1234567890123456789", "1,5", "e5", "."]
        {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
        assert!(read(Kind::Real32, b"0.1").is_ok());
        assert!(read(Kind::Real32, b"16777217").is_err());
    }

    #[test]
    fn decimals_are_not_rounded_to_their_scale() {
        let kind = Kind::Decimal { precision: 5, scale: 2 };
        for text in ["1.25", "999.99", "0", "1.250", "-12e1"] {
            assert_eq!(read(kind, text.as_bytes()), Ok(Value::Text), "{text}");
        }
        for text in ["1.255", "1000", "abc"] {
            assert!(read(kind, text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn sqlites_numeric_would_round_and_is_not_let() {
        assert_eq!(read(Kind::Numeric, b"2014-01-01"), Ok(Value::Text));
        assert_eq!(read(Kind::Numeric, b"12"), Ok(Value::Integer(12)));
        assert_eq!(read(Kind::Numeric, b"1.5"), Ok(Value::Real(1.5)));
        assert!(read(Kind::Numeric, b"0.1234567890123456789").is_err());
        assert!(read(Kind::Text { longest: Some(2) }, "äö".as_bytes()).is_ok());
        assert!(read(Kind::Text { longest: Some(2) }, b"abc").is_err());
    }
}
