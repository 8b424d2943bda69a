//! The bytes of keys and values, from random numbers.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// The number of bytes of a value that are random, of which the others are copies; at least one.
pub(super) fn random_bytes(value_bytes: u64, compressibility: f64) -> usize {
    // A value has at most a megabyte, so the numbers are exact.
    ((value_bytes as f64 * (1.0 - compressibility)).round() as usize).max(1)
}

/// Fills a value: its first bytes are random, and the others repeat them until it is full. So does RocksDB's `db_bench`
/// (`CompressibleString` in test_util/testutil.cc), after LevelDB's.
pub(super) fn fill_value(rng: &mut ChaCha8Rng, cell: &mut [u8], random: usize) {
    let random = random.min(cell.len());
    let (first, copies) = cell.split_at_mut(random);
    rng.fill_bytes(first);
    for copy in copies.chunks_mut(random.max(1)) {
        copy.copy_from_slice(&first[..copy.len()]);
    }
}

/// A permutation of the numbers below 2⁶³: steps that can each be inverted, as in the finaliser of SplitMix64 (Steele,
/// Lea and Flood, 2014), on 63 bits.
pub(super) fn permuted(number: u64, seed: u64) -> u64 {
    const MASK: u64 = (1 << 63) - 1;
    let mut mixed = number.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & MASK;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) & MASK;
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) & MASK;
    mixed ^ (mixed >> 31)
}

/// The random numbers of a seed for a file of this name.
pub(super) fn stream(seed: u64, name: &str) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream_of(name));
    rng
}

/// A stream of random numbers for each file.
fn stream_of(name: &str) -> u64 {
    name.bytes().fold(0, |stream, byte| stream * 31 % (1 << 50) + u64::from(byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_share_of_each_value_repeats_the_rest() {
        let mut rng = stream(1, "values");
        let mut value = |bytes: u64, compressibility: f64| {
            let mut cell = vec![0; bytes as usize];
            fill_value(&mut rng, &mut cell, random_bytes(bytes, compressibility));
            cell
        };
        let half = value(100, 0.5);
        assert_eq!(half[..50], half[50..]);
        assert_ne!(half[..25], half[25..50]);
        let much = value(10, 0.75);
        assert!(much.chunks(3).all(|copy| much.starts_with(copy)), "{much:?}");
        assert!(value(8, 1.0).windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(value(1, 0.5).len(), 1);
        // Without a share the bytes are those that they always were.
        let mut plain = [0; 32];
        stream(1, "values").fill_bytes(&mut plain);
        let mut cell = [0; 32];
        fill_value(&mut stream(1, "values"), &mut cell, random_bytes(32, 0.0));
        assert_eq!(cell, plain);
    }

    #[test]
    fn keys_never_repeat_and_fit_a_signed_number() {
        let keys: BTreeSet<u64> = (0..100_000).map(|number| permuted(number, 7)).collect();
        assert_eq!(keys.len(), 100_000);
        assert!(keys.iter().all(|&key| i64::try_from(key).is_ok()));
        assert!((0..100_000).any(|number| permuted(number, 7) > 1 << 62));
    }
}
