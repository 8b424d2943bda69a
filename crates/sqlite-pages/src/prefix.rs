//! The beginning of a value as a number: it decides the order of most values, so that sorting need not read the
//! records.

use crate::record::Value;

/// The beginning of a value; it is never above the prefix of a later value.
// Two halves and not one number of 128 bits, which would lie at multiples of 16 bytes and make entries longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    high: u64,
    low: u64,
}

/// Bytes of a text or a blob that a prefix holds.
const TAKEN: usize = 15;

/// The classes of values, each the two highest bits; NULL is the class 0.
const NUMBER: u128 = 1 << 126;
const TEXT: u128 = 2 << 126;
const BLOB: u128 = 3 << 126;

impl Prefix {
    /// The prefix of a value; a missing one counts as NULL.
    #[inline]
    pub fn of(value: Option<Value>) -> Prefix {
        match value {
            None | Some(Value::Null) => Prefix::default(),
            Some(Value::Integer(whole)) => Prefix::of_integer(whole),
            Some(Value::Real(real)) => Prefix::new(NUMBER | ordered(real) << 16 | 0x8000),
            Some(Value::Text(text)) => Prefix::of_bytes(TEXT, text),
            Some(Value::Blob(bytes)) => Prefix::of_bytes(BLOB, bytes),
        }
    }

    fn new(bits: u128) -> Prefix {
        Prefix { high: (bits >> 64) as u64, low: bits as u64 }
    }

    /// The number that it is.
    #[inline]
    pub fn bits(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// True if no other value has this prefix, except an equal number of the other type.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.bits() < TEXT || self.low as usize % 32 <= TAKEN
    }

    /// The double that is nearest, then what rounding took away: 512 at most.
    #[inline]
    fn of_integer(whole: i64) -> Prefix {
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        let near = whole as f64;
        let rest = if (-EXACT..=EXACT).contains(&whole) { 0 } else { i128::from(whole) - near as i128 };
        Prefix::new(NUMBER | ordered(near) << 16 | (rest + 0x8000) as u128)
    }

    /// The first bytes, then how many there are: of two with the same beginning the shorter one comes first.
    #[inline]
    fn of_bytes(class: u128, bytes: &[u8]) -> Prefix {
        let mut start = [0; 16];
        let count = bytes.len().min(TAKEN);
        start[..count].copy_from_slice(&bytes[..count]);
        let length = bytes.len().min(TAKEN + 1) as u128;
        // The last of the sixteen bytes is zero: below two bits for the class there is room for the length.
        Prefix::new(class | u128::from_be_bytes(start) >> 2 | length)
    }
}

/// The bits of a double such that they are in its order; 0 and -0 are equal.
#[inline]
fn ordered(number: f64) -> u128 {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    (if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::compare;

    fn value() -> impl Strategy<Value = (u8, i64, Vec<u8>)> {
        let near = (0..63u32, -2..3i64).prop_map(|(shift, more)| (1i64 << shift).wrapping_add(more));
        let number = prop_oneof![any::<i64>(), near.clone(), near.prop_map(|number| number.wrapping_neg())];
        (0..5u8, number, prop::collection::vec(0..2u8, 0..20))
    }

    fn as_value((kind, number, bytes): &(u8, i64, Vec<u8>)) -> Value<'_> {
        match kind {
            0 => Value::Null,
            1 => Value::Integer(*number),
            2 => Value::Real(*number as f64 / 2.0),
            3 => Value::Text(bytes),
            _ => Value::Blob(bytes),
        }
    }

    proptest! {
        #[test]
        fn prefixes_are_in_the_order_of_their_values(one in value(), other in value()) {
            let (one, other) = (as_value(&one), as_value(&other));
            let [left, right] = [one, other].map(|value| Prefix::of(Some(value)));
            let order = compare(&one, &other);
            prop_assert!(left.cmp(&right) == order || left == right && !left.is_whole(), "{one:?} {other:?}");
        }
    }
}
