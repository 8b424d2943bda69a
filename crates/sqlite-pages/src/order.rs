//! The order of records in an index: of most it is told by a few numbers that are kept beside them, so that sorting need not
//! read the records.

use std::cmp::Ordering;

use crate::record::{Value, Values, compare};

/// What tells most records apart without reading them: the beginnings of their first two values, and the number of their
/// row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order {
    first: Prefix,
    /// Of an index of two columns or more.
    second: Prefix,
    /// The last value, where the ones before it are all told.
    last: Option<i64>,
}

impl Order {
    /// Of a record that the order takes so many values of.
    #[inline]
    pub fn of<'v>(mut values: impl Iterator<Item = Value<'v>>, keys: usize) -> Order {
        let first = Prefix::of(values.next());
        let second = if keys > 2 { Prefix::of(values.next()) } else { Prefix::default() };
        let last = match values.next() {
            Some(Value::Integer(number)) if keys <= 3 => Some(number),
            _ => None,
        };
        Order { first, second, last }
    }

    /// The order of two records, as far as these tell it.
    #[inline]
    pub fn compare(&self, other: &Order) -> Option<Ordering> {
        for (one, other) in [(self.first, other.first), (self.second, other.second)] {
            match one.bits.cmp(&other.bits) {
                Ordering::Equal if one.is_whole => {}
                Ordering::Equal => return None,
                order => return Some(order),
            }
        }
        Some(self.last?.cmp(&other.last?))
    }
}

/// The beginning of a value as a number that never turns the order round.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    /// Two bits for what it is, the rest of what it says.
    bits: u128,
    /// Whether no other value has the same bits.
    is_whole: bool,
}

impl Default for Prefix {
    /// No value, which is as good as NULL.
    fn default() -> Prefix {
        Prefix { bits: 0, is_whole: true }
    }
}

impl Prefix {
    #[inline]
    fn of(value: Option<Value>) -> Prefix {
        match value {
            None | Some(Value::Null) => Prefix::default(),
            Some(Value::Integer(whole)) => {
                let near = whole as f64;
                // What rounding took away: 512 at most.
                let rest = i128::from(whole) - near as i128;
                Prefix { bits: 1 << 126 | number(near) << 16 | (rest + 0x8000) as u128, is_whole: true }
            }
            Some(Value::Real(real)) => {
                Prefix { bits: 1 << 126 | number(real) << 16 | 0x8000, is_whole: !real.is_nan() }
            }
            Some(Value::Text(text)) => Prefix::of_bytes(2, text),
            Some(Value::Blob(bytes)) => Prefix::of_bytes(3, bytes),
        }
    }

    /// Fifteen bytes, then how many there are: of two with the same beginning the shorter one comes first.
    #[inline]
    fn of_bytes(class: u128, bytes: &[u8]) -> Prefix {
        const TAKEN: usize = 15;
        let mut start = [0; 16];
        let count = bytes.len().min(TAKEN);
        start[..count].copy_from_slice(&bytes[..count]);
        let length = bytes.len().min(TAKEN + 1) as u128;
        // The last of the sixteen bytes is zero: below two bits for the class there is room for the length.
        let bits = class << 126 | u128::from_be_bytes(start) >> 2 | length;
        Prefix { bits, is_whole: bytes.len() <= TAKEN }
    }
}

/// The bits of a double such that they are in its order; 0 and -0 are equal.
#[inline]
fn number(number: f64) -> u128 {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).into()
}

/// The order of two records by their first values.
pub fn by_values(one: &[u8], other: &[u8], keys: usize) -> Ordering {
    let pairs = Values::of(one).zip(Values::of(other)).take(keys);
    pairs.map(|(one, other)| compare(&one, &other)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
