//! Finds certain bytes in a text, 64 at a time: bit `i` of a mask is the text's byte `i`.

/// The number of bytes that a mask describes.
pub const BLOCK: usize = 64;

/// The places of a few bytes in a block.
#[inline(always)]
pub fn mask<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every processor of this architecture has SSE2.
        unsafe { sse2(block, wanted) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        in_words(block, wanted)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn sse2<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_setzero_si128,
    };
    let (parts, _) = block.as_chunks::<16>();
    let mut mask = 0;
    for (number, part) in parts.iter().enumerate() {
        let both = u128::from_le_bytes(*part);
        let part = _mm_set_epi64x((both >> 64) as i64, both as i64);
        let mut found = _mm_setzero_si128();
        for byte in wanted {
            found = _mm_or_si128(found, _mm_cmpeq_epi8(part, _mm_set1_epi8(byte as i8)));
        }
        mask |= u64::from(_mm_movemask_epi8(found) as u32) << (16 * number);
    }
    mask
}

/// The same in words of eight bytes, for any processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn in_words<const COUNT: usize>(block: &[u8; BLOCK], wanted: [u8; COUNT]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (words, _) = block.as_chunks::<8>();
    let mut mask = 0;
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = wanted.iter().fold(0, |found, byte| {
            // Of a byte that is wanted nothing is left, and only of such a one the highest bit is then set.
            let left = word ^ u64::from_ne_bytes([*byte; 8]);
            found | !(((left & LOW) + LOW) | left | LOW)
        });
        // Each of the eight highest bits, gathered in one byte.
        mask |= ((found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number);
    }
    mask
}

/// The block of a text that begins at `at`; what is behind the text's end is zeros.
#[inline(always)]
pub fn block(text: &[u8], at: usize) -> [u8; BLOCK] {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(block) => *block,
        None => {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block
        }
    }
}

/// For each bit whether the bits up to it, itself with them, are an odd number.
#[inline]
pub fn odd(bits: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(bits, |bits, step| bits ^ (bits << step))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mask_marks_where_the_bytes_are(
            text in prop::collection::vec(prop::sample::select(vec![0u8, 1, 9, 10, 13, 34, 44, 0x80, 0x8a, 0xff]), 1..200),
        ) {
            for start in (0..text.len()).step_by(BLOCK) {
                let block = block(&text, start);
                let expected = (0..BLOCK).filter(|&at| [10, 44, 0x8a].contains(&block[at]));
                let expected = expected.fold(0, |mask, at| mask | 1u64 << at);
                prop_assert_eq!(mask(&block, [10, 44, 0x8a]), expected);
                prop_assert_eq!(in_words(&block, [10, 44, 0x8a]), expected);
            }
        }

        #[test]
        fn odd_counts_the_bits_so_far(bits in any::<u64>()) {
            let expected = (0..64).filter(|&at| (bits << (63 - at)).count_ones() % 2 == 1);
            prop_assert_eq!(odd(bits), expected.fold(0, |mask, at| mask | 1u64 << at));
        }
    }
}
