//! Numbers that a server sends as text.
//!
//! A client reads them in any case, so this belongs to the timed section: whole numbers cost a
//! multiplication and an addition a digit, the others what the standard library's parser takes.

use dyno_protocol::Sink;

/// Adds the number that a text is: a whole one where it has neither point nor exponent and fits into
/// 64 bits, else a real one. A text that is no number is added as it is.
#[inline]
pub fn number<S: Sink>(text: &[u8], sink: &mut S) {
    match whole(text) {
        Some(value) => sink.integer(value),
        None => real(text, sink),
    }
}

/// Adds the real number that a text is, whole or not: for columns of floating point, of which engines
/// print 1.0 as `1`. A text that is no number is added as it is.
#[inline]
pub fn real<S: Sink>(text: &[u8], sink: &mut S) {
    match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
        Some(value) => sink.real(value),
        None => sink.text(text),
    }
}

/// A whole number of decimal digits with or without a minus sign.
#[inline]
fn whole(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &letter in digits {
        let digit = letter.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Downwards for negative numbers, of which there is one more than of positive ones.
        let digit = i64::from(digit);
        let digit = if negative { -digit } else { digit };
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{RowCollector, Value};

    use super::*;

    fn read(add: fn(&[u8], &mut RowCollector), text: &str) -> Value {
        let mut kept = RowCollector::default();
        add(text.as_bytes(), &mut kept);
        kept.end_row();
        kept.first().unwrap()
    }

    #[test]
    fn whole_numbers_are_exact() {
        for value in [0, 7, -9_007_199_254_740_993, i64::MAX, i64::MIN] {
            assert_eq!(read(number, &value.to_string()), Value::Integer(value));
        }
    }

    #[test]
    fn other_numbers_are_real() {
        assert_eq!(read(number, "312.5000"), Value::Real(312.5));
        assert_eq!(read(number, "-0.5"), Value::Real(-0.5));
        assert_eq!(read(number, "1e3"), Value::Real(1000.0));
        assert_eq!(read(number, "9223372036854775808"), Value::Real(9_223_372_036_854_775_808.0));
        assert_eq!(read(real, "1"), Value::Real(1.0));
    }

    #[test]
    fn what_is_no_number_is_not_lost() {
        assert_eq!(read(number, "NaN"), Value::Text("NaN".into()));
        assert_eq!(read(number, "-Infinity"), Value::Text("-inf".into()));
        assert_eq!(read(number, ""), Value::Text(String::new()));
        assert_eq!(read(number, "-"), Value::Text("-".into()));
        assert_eq!(read(real, "12 apples"), Value::Text("12 apples".into()));
    }
}
