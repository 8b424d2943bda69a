//! Draws of blocks, each judged as a run of this many blocks would be.
//!
//! A run of pairs has blocks of two trials, so as many of them fit into a time as their trials take. That many blocks
//! are drawn from those measured, in stretches of neighbours, and judged as a run of them would be; the share of such
//! draws that are called different is the answer. Blocks that remember the one before stay together. Where a table of
//! all blocks calls the equal copy different, the draws of equals are left as they are. Elsewhere what sets the copy
//! apart is what chance left in so few blocks, and drawn again and again, for runs of more blocks than there are, it
//! would look like a bias: either of two equals could have been the slower one, so each stretch is drawn with one sign
//! or the other.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::FalseDifferences;
use crate::statistics::{Compared, MIN_BLOCKS, ratio_of_logs, significant};

/// The number of draws judged for each figure.
const DRAWS: u32 = 400;

/// The number of neighbours drawn together, so that a draw keeps what a block carries over from the one before.
const STRETCH: usize = 5;

/// The most blocks of a draw: with more, all is found that is worth finding.
const MOST_BLOCKS: usize = 200;

/// Logarithms of ratios of one pair of contenders: by block, by test.
pub(super) type Blocks = Vec<Vec<f64>>;

/// The differences that a table of these blocks claims.
pub(super) fn reported(pairs: &Blocks) -> FalseDifferences {
    if pairs.len() < MIN_BLOCKS {
        return FalseDifferences { by_mean: false, tests: 0, too_few: true };
    }
    let apart = significant(&table(pairs));
    let tests = apart[1..].iter().filter(|apart| **apart).count();
    FalseDifferences { by_mean: apart[0], tests, too_few: false }
}

/// Shares of draws that are called different.
pub(super) struct Shares {
    pub by_mean: f64,
    pub by_test: f64,
    pub in_table: f64,
}

/// The two contenders of a pair, the second of which is the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// Either may be the slower one in a stretch.
    Alike,
    /// The copy is set apart by something that is not planted.
    Apart,
    /// The copy is slower by as much as was asked for: a draw that shows it as faster does not find that.
    Planted,
}

/// Judges draws of a number of blocks.
pub(super) fn shares(pairs: &Blocks, blocks: usize, pair: Pair, random: &mut ChaCha8Rng) -> Shares {
    let (mut by_mean, mut by_test, mut in_table) = (0, 0.0, 0);
    if blocks >= MIN_BLOCKS && pairs.len() >= MIN_BLOCKS {
        for _ in 0..DRAWS {
            let drawn = drawn(pairs, blocks.min(MOST_BLOCKS), pair == Pair::Alike, random);
            let table = table(&drawn);
            let mut apart = significant(&table);
            if pair == Pair::Planted {
                let is_slower =
                    |one: &Compared| ratio_of_logs(&one.logs).is_some_and(|ratio| ratio.ratio > 1.0);
                apart.iter_mut().zip(&table).for_each(|(apart, one)| *apart &= is_slower(one));
            }
            let (mean, tests) = (apart[0], &apart[1..]);
            by_mean += u32::from(mean);
            by_test += tests.iter().filter(|apart| **apart).count() as f64 / tests.len() as f64;
            in_table += u32::from(apart.contains(&true));
        }
    }
    let share = |count: f64| count / f64::from(DRAWS);
    Shares { by_mean: share(by_mean.into()), by_test: share(by_test), in_table: share(in_table.into()) }
}

/// As many of the blocks as `blocks` says, in stretches of neighbours; after the last comes the first. (The circular block bootstrap of
/// D. N. Politis and J. P. Romano, 1992.) Of `alike` contenders each stretch has either sign.
fn drawn(pairs: &Blocks, blocks: usize, alike: bool, random: &mut ChaCha8Rng) -> Blocks {
    let stretch = STRETCH.min(pairs.len());
    let mut drawn = Blocks::with_capacity(blocks);
    while drawn.len() < blocks {
        let start = random.random_range(0..pairs.len());
        let sign = if alike && random.random::<bool>() { -1.0 } else { 1.0 };
        let block =
            |place: usize| pairs[(start + place) % pairs.len()].iter().map(|log| sign * log).collect();
        let stretch = (0..stretch).map(block);
        drawn.extend(stretch.take(blocks - drawn.len()));
    }
    drawn
}

/// The comparisons of a run of these blocks: the mean, then each test.
fn table(blocks: &Blocks) -> Vec<Compared> {
    let tests = blocks[0].len();
    let mean = Compared { logs: means(blocks), weight: tests as f64 };
    let test = |test| Compared { logs: blocks.iter().map(|block| block[test]).collect(), weight: 1.0 };
    std::iter::once(mean).chain((0..tests).map(test)).collect()
}

pub(super) fn means(blocks: &Blocks) -> Vec<f64> {
    blocks.iter().map(|tests| tests.iter().sum::<f64>() / tests.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn neighbours_are_drawn_together() {
        let pairs: Blocks = (0..12).map(|block| vec![f64::from(block)]).collect();
        let drawn = drawn(&pairs, 20, false, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(drawn.len(), 20);
        for stretch in drawn.chunks(STRETCH) {
            assert!(stretch.windows(2).all(|pair| (pair[0][0] + 1.0) % 12.0 == pair[1][0]), "{stretch:?}");
        }
    }
}
