//! Pairs of a key and the number of its row, and runs of them that are in order. All pairs have the same length in a
//! temporary file, so that a part of a run is found by halving.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::Error;

/// A key and the number of its row, both such that their order is that of whole numbers without a sign.
pub type Pair = (u64, u64);

/// Bytes of a pair in a temporary file.
pub const BYTES: usize = 16;

/// The bit that moves whole numbers to the order of those without a sign.
const SIGN: u64 = 1 << 63;

/// A whole number as one without a sign that has the same order.
#[inline(always)]
pub fn unsigned(number: i64) -> u64 {
    number as u64 ^ SIGN
}

/// The inverse of [`unsigned`].
#[inline(always)]
pub fn signed(number: u64) -> i64 {
    (number ^ SIGN) as i64
}

/// Pairs that are in order.
#[derive(Clone)]
pub enum PairRun {
    /// In memory.
    Held(Arc<Vec<Pair>>),
    /// In a temporary file: where the first one begins, and how many there are.
    Spilled(Arc<File>, u64, u64),
}

impl PairRun {
    /// The number of pairs.
    pub fn count(&self) -> u64 {
        match self {
            PairRun::Held(pairs) => pairs.len() as u64,
            PairRun::Spilled(_, _, count) => *count,
        }
    }

    /// One of them.
    pub fn get(&self, place: u64) -> Result<Pair, Error> {
        match self {
            PairRun::Held(pairs) => Ok(pairs[place as usize]),
            PairRun::Spilled(file, start, _) => {
                let mut bytes = [0; BYTES];
                file.read_exact_at(&mut bytes, start + place * BYTES as u64)?;
                Ok(pair(&bytes))
            }
        }
    }

    /// The number of pairs with a key below this one.
    pub fn below(&self, key: u64) -> Result<u64, Error> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = (low + high) / 2;
            if self.get(middle)?.0 < key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

/// A pair of a temporary file.
#[inline]
pub fn pair(bytes: &[u8; BYTES]) -> Pair {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}
