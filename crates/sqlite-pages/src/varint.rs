//! SQLite's integers of variable length: seven bits a byte, the highest first; a ninth byte has eight.

/// The most bytes of one.
pub const LONGEST: usize = 9;

/// The length of a number, in bytes.
#[inline]
pub fn length(number: u64) -> usize {
    match number {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        _ if number >> 56 != 0 => 9,
        _ => (64 - number.leading_zeros() as usize).div_ceil(7),
    }
}

/// Writes a number at the beginning of `out` and says how many bytes it took.
#[inline(always)]
pub fn put(out: &mut [u8], number: u64) -> usize {
    if number <= 0x7f {
        out[0] = number as u8;
        return 1;
    }
    if number <= 0x3fff {
        out[0] = (number >> 7) as u8 | 0x80;
        out[1] = number as u8 & 0x7f;
        return 2;
    }
    if number <= 0x1f_ffff {
        out[..3].copy_from_slice(&[
            (number >> 14) as u8 | 0x80,
            (number >> 7) as u8 | 0x80,
            number as u8 & 0x7f,
        ]);
        return 3;
    }
    if number <= 0xfff_ffff {
        let high = [(number >> 21) as u8 | 0x80, (number >> 14) as u8 | 0x80];
        out[..2].copy_from_slice(&high);
        out[2..4].copy_from_slice(&[(number >> 7) as u8 | 0x80, number as u8 & 0x7f]);
        return 4;
    }
    put_long(out, number)
}

/// Writes a number that takes five bytes at least.
fn put_long(out: &mut [u8], number: u64) -> usize {
    let length = length(number);
    let mut rest = number;
    let mut last = length - 1;
    if length == LONGEST {
        out[8] = rest as u8;
        rest >>= 8;
        last = 7;
        for place in (0..=last).rev() {
            out[place] = (rest & 0x7f) as u8 | 0x80;
            rest >>= 7;
        }
        return LONGEST;
    }
    for place in (0..=last).rev() {
        out[place] = (rest & 0x7f) as u8 | if place == last { 0 } else { 0x80 };
        rest >>= 7;
    }
    length
}

/// Reads a number and says how many bytes it took.
#[inline]
pub fn get(bytes: &[u8]) -> (u64, usize) {
    let mut number = 0u64;
    for (place, &byte) in bytes.iter().enumerate().take(8) {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return (number, place + 1);
        }
    }
    (number << 8 | u64::from(bytes[8]), 9)
}

/// The same, where the bytes may end before the number does.
#[inline]
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let is_whole = bytes.len() >= LONGEST || bytes.iter().any(|&byte| byte < 0x80);
    is_whole.then(|| get(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_written_as_it_is_read() {
        let mut bytes = [0; LONGEST];
        for shift in 0..64 {
            for number in [(1u64 << shift) - 1, 1 << shift, u64::MAX >> shift, (1 << shift) | 5] {
                let written = put(&mut bytes, number);
                assert_eq!((number, written), get(&bytes), "{number:#x}");
                assert_eq!(written, length(number), "{number:#x}");
                assert_eq!(read(&bytes[..written]), Some((number, written)), "{number:#x}");
                assert_eq!(read(&bytes[..written - 1]), None, "{number:#x}");
            }
        }
        assert_eq!(put(&mut bytes, u64::MAX), 9);
        assert_eq!(bytes, [0xff; 9]);
    }
}
