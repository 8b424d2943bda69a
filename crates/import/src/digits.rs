//! Numbers from their digits, eight at once.

/// A zero, eight times.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The whole number whose text lies from `from` to `to`, if printing it gives the very same text.
#[inline(always)]
pub fn integer(text: &[u8], from: usize, to: usize) -> Option<i64> {
    // Most numbers have a few digits and no sign. An empty field may lie before a digit, if that is what ends fields.
    match text.get(from..from + 8).and_then(<[u8]>::first_chunk) {
        Some(first) if first[0].wrapping_sub(b'1') < 9 && (to - from).wrapping_sub(1) < 8 => {
            eight(*first, to - from).map(|number| number as i64)
        }
        _ => any_integer(text, from, to),
    }
}

/// The same of a number without a sign that has a few digits, as most numbers do. None for others, and where the text
/// ends soon.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub fn small(text: &[u8], from: usize, to: usize) -> Option<u32> {
    small_by(text, from, to, |digits| has_digits(digits).then(|| joined(digits) as u32))
}

/// The same for processors since 2013.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub fn small_wide(text: &[u8], from: usize, to: usize) -> Option<u32> {
    use std::arch::x86_64::{
        _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_madd_epi16, _mm_maddubs_epi16, _mm_packus_epi32,
        _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_subs_epu8, _mm_testz_si128,
    };
    small_by(text, from, to, |digits| {
        let digits = _mm_cvtsi64_si128(digits as i64);
        let above = _mm_subs_epu8(digits, _mm_set1_epi8(9));
        if _mm_testz_si128(above, above) == 0 {
            return None;
        }
        // Neighbours are put together, of which the first has the lower place: pairs, then fours, then all eight.
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let fours = _mm_packus_epi32(fours, fours);
        Some(_mm_cvtsi128_si32(_mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710))) as u32)
    })
}

/// A small number by a function that makes it of eight digits of a byte each, the first in the lowest place, if they are
/// digits.
#[inline(always)]
fn small_by(text: &[u8], from: usize, to: usize, number: impl Fn(u64) -> Option<u32>) -> Option<u32> {
    /// By the number of digits: the smallest number that has them (0 for none and one), and the bits of a word that they do
    /// not fill.
    const LENGTHS: [(u32, u32); 9] = [
        (0, 0),
        (0, 56),
        (10, 48),
        (100, 40),
        (1_000, 32),
        (10_000, 24),
        (100_000, 16),
        (1_000_000, 8),
        (10_000_000, 0),
    ];
    let first = text.get(from..from + 8)?.first_chunk()?;
    let count = to.wrapping_sub(from);
    if count.wrapping_sub(1) >= 8 {
        return None;
    }
    let (least, free) = LENGTHS[count];
    let number = number((u64::from_le_bytes(*first) ^ ZEROS) << (free & 63))?;
    if number < least { None } else { Some(number) }
}

/// The same of any field.
#[inline(always)]
fn any_integer(text: &[u8], from: usize, to: usize) -> Option<i64> {
    let is_negative = to > from && text[from] == b'-';
    let start = from + usize::from(is_negative);
    let count = to - start;
    // Any 19 digits fit 64 bits without a sign.
    if count.wrapping_sub(1) >= 19 || text[start] == b'0' && (count > 1 || is_negative) {
        return None;
    }
    // Without a branch, which would be taken at random: the complement and one more.
    let minus = i64::from(is_negative);
    let signed = |number: u64| (number as i64 ^ -minus).wrapping_add(minus);
    let number = match count {
        1..=8 => {
            let number = match text[start..].first_chunk() {
                Some(first) => eight(*first, count)?,
                None => few(&text[start..to])?,
            };
            return Some(signed(number));
        }
        9..=16 => eight(word(text, start), count - 8)? * 100_000_000 + eight(word(text, to - 8), 8)?,
        _ => {
            let first = eight(word(text, start), count - 16)?;
            let second = eight(word(text, to - 16), 8)?;
            (first * 100_000_000 + second) * 100_000_000 + eight(word(text, to - 8), 8)?
        }
    };
    (number <= i64::MAX as u64 + minus as u64).then(|| signed(number))
}

#[inline(always)]
fn word(text: &[u8], at: usize) -> [u8; 8] {
    let mut word = [0; 8];
    word.copy_from_slice(&text[at..at + 8]);
    word
}

/// The number of the first of eight bytes, one at least, if all of those are digits.
#[inline(always)]
fn eight(bytes: [u8; 8], count: usize) -> Option<u64> {
    // The first byte is the lowest. Zeros before the digits take the place of the bytes that do not count.
    let free = 64 - 8 * count as u32;
    let digits = (u64::from_le_bytes(bytes) ^ ZEROS) << free;
    has_digits(digits).then(|| joined(digits))
}

/// True if each of eight bytes is a digit's value.
#[inline(always)]
fn has_digits(digits: u64) -> bool {
    (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 == 0
}

/// The number of eight digits of a byte each, of which the lowest is the first.
#[inline(always)]
fn joined(digits: u64) -> u64 {
    // Neighbours are put together: pairs, then fours, then all eight.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// The number of some digits, nineteen at most.
fn few(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit <= 9).then_some(number * 10 + u64::from(digit))
    })
}

/// A number such as `-12.50`, of fifteen digits at most and without an exponent: a double holds the digits as a whole
/// number and the power of ten, so dividing them rounds once, as reading the text does. None for any other text.
#[inline]
pub fn decimal(field: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let is_negative = field.first() == Some(&b'-');
    let body = &field[usize::from(is_negative)..];
    if body.len() > 16 || matches!(body, [b'0', b'0'..=b'9', ..]) {
        return None;
    }
    let (mut number, mut point) = (0u64, None);
    for (place, byte) in body.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            number = number * 10 + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(place);
        } else {
            return None;
        }
    }
    let digits = body.len() - usize::from(point.is_some());
    // Not every engine keeps a negative zero.
    if digits == 0 || digits > 15 || number == 0 && is_negative {
        return None;
    }
    let after = point.map_or(0, |point| body.len() - point - 1);
    let value = number as f64 / POWERS[after];
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the definition has it.
    fn by_printing(text: &str) -> Option<i64> {
        text.parse().ok().filter(|number: &i64| number.to_string() == text)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_number_is_what_prints_as_it_stands(
            number in any::<i64>(), shift in 0..64u32, before in "[0-9]{0,9}", after in "[0-9a]{0,9}",
            wrong in prop::option::of((0..20usize, prop::sample::select(vec!["", "0", "/", ":", "-", "é"]))),
        ) {
            let mut field = (number >> shift).to_string();
            if let Some((place, letter)) = wrong {
                field.insert_str(place.min(field.len()), letter);
            }
            let text = format!("{before}{field}{after}");
            let (from, to) = (before.len(), before.len() + field.len());
            prop_assert_eq!(integer(text.as_bytes(), from, to), by_printing(&field), "{}", field);
            let small = small(text.as_bytes(), from, to);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: this processor has it.
                prop_assert_eq!(unsafe { small_wide(text.as_bytes(), from, to) }, small, "{}", field);
            }
            let is_small = text.len() >= from + 8 && field.len() <= 8;
            let expected = by_printing(&field).filter(|_| is_small).and_then(|number| u32::try_from(number).ok());
            prop_assert_eq!(small, expected, "{}", field);
        }

        #[test]
        fn a_decimal_is_the_double_nearest_to_it(text in "-?[0-9]{0,9}[.]?[0-9]{0,8}") {
            if let Some(number) = decimal(text.as_bytes()) {
                prop_assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
        }
    }

    #[test]
    fn numbers_at_their_limits() {
        let of = |text: &str| integer(text.as_bytes(), 0, text.len());
        for number in [0, 7, -7, 10, 99_999_999, 100_000_000, i64::MAX, i64::MIN, i64::MAX - 1, -100_000_000]
        {
            assert_eq!(of(&number.to_string()), Some(number));
        }
        assert_eq!(integer(b"1234567890", 1, 1), None);
        for text in
            ["", "-", "-0", "00", "9223372036854775808", "-9223372036854775809", "99999999999999999999"]
        {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(
            [decimal(b"-0.0"), decimal(b"."), decimal(b"00.5"), decimal(b"1e3"), decimal(b"")],
            [None; 5]
        );
        assert_eq!([decimal(b".5"), decimal(b"5."), decimal(b"0.10")], [Some(0.5), Some(5.0), Some(0.1)]);
    }
}
