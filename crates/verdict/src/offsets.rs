//! The differences between copies of one library under other names: what a run shares among all its blocks.
//!
//! The place of a file in memory depends on its name and on its pages in the kernel's cache, which all trials of a run
//! share. The interval of a ratio leaves this out, because it comes from how blocks differ. Several copies of one file
//! in one run show it: they differ by more than their noise explains. The estimate is that of the analysis of variance
//! with blocks and a random effect of copies (H. Scheffé, *The Analysis of Variance*, 1959, section 7.4).

use dyno_record::{ContenderRecord, Quantity, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::disturbance::Disturbances;
use crate::figures::figures;
use crate::pairs::logs_by_block;
use crate::statistics::{CONFIDENCE, MIN_BLOCKS};

/// The fewest copies, the original among them, for which a spread is reported.
const MIN_COPIES: usize = 3;

/// The spread of copies of one library under other names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyOffsets {
    /// The number of copies, the original among them.
    pub copies: usize,
    /// The spread of their means over all tests.
    pub by_mean: OffsetSpread,
    /// The spread in a test, as the root of the mean square over all tests.
    pub by_test: OffsetSpread,
}

/// Standard deviations between copies, as shares of a time: 0.01 is 1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OffsetSpread {
    /// The part of their spread that noise does not explain; 0 if noise explains all of it.
    pub between: f64,
    /// The spread of their means that noise alone causes in this run.
    pub noise: f64,
    /// True if noise does not explain their spread, at 5 %: an F test by the mean, and in a test the least of the
    /// tests' probabilities times their number.
    #[serde(default)]
    pub shown: bool,
}

/// The spread of a contender (by position) and its copies under other names; none if there are too few of them, or too
/// few blocks.
pub(crate) fn offsets(run: &Run, tests: &[&str], original: usize) -> Option<CopyOffsets> {
    let is_copy = |index: &usize| is_copy(&run.contenders[original], &run.contenders[*index]);
    let copies: Vec<usize> = (0..run.contenders.len()).filter(is_copy).collect();
    if copies.len() < MIN_COPIES {
        return None;
    }
    let disturbances = Disturbances::new(run);
    let logs = |test: &&str| -> Vec<Vec<Option<f64>>> {
        let of =
            |&copy: &usize| logs_by_block(run, &figures(run, &disturbances, copy, test, &Quantity::Time).1);
        copies.iter().map(of).collect()
    };
    let by_test: Vec<Vec<Vec<Option<f64>>>> = tests.iter().map(logs).collect();
    let blocks = by_test.first()?.first()?.len();
    // By block, by test, by copy.
    let block = |block: usize| -> Option<Vec<Vec<f64>>> {
        by_test.iter().map(|copies| copies.iter().map(|copy| copy[block]).collect()).collect()
    };
    let blocks: Vec<Vec<Vec<f64>>> = (0..blocks).filter_map(block).collect();
    if blocks.len() < MIN_BLOCKS {
        return None;
    }
    let in_test =
        |test: usize| Variances::of(&blocks.iter().map(|block| block[test].clone()).collect::<Vec<_>>());
    let means = |block: &Vec<Vec<f64>>| -> Vec<f64> {
        let mean = |copy| block.iter().map(|test| test[copy]).sum::<f64>() / block.len() as f64;
        (0..copies.len()).map(mean).collect()
    };
    let means: Vec<Vec<f64>> = blocks.iter().map(means).collect();
    Some(CopyOffsets {
        copies: copies.len(),
        by_mean: Variances::of(&means).spread(),
        by_test: Variances::mean(&(0..tests.len()).map(in_test).collect::<Vec<_>>()).spread(),
    })
}

/// True if a contender runs the same file as the original with the same settings, under this name or another.
fn is_copy(original: &ContenderRecord, other: &ContenderRecord) -> bool {
    let sha256 = |contender: &ContenderRecord| {
        contender.executed.engine.as_ref().map(|content| content.sha256.clone())
    };
    let key = |contender: &ContenderRecord| {
        (
            contender.engine.clone(),
            contender.driver.clone(),
            contender.profile.clone(),
            contender.asked.clone(),
        )
    };
    sha256(original).is_some()
        && sha256(original) == sha256(other)
        && key(original) == key(other)
        && original.slowdown.is_none()
        && other.slowdown.is_none()
        && original.apart == other.apart
}

/// Variances of the means of copies.
#[derive(Clone, Copy)]
struct Variances {
    /// Without noise; below 0 where chance made the copies more alike than noise does.
    between: f64,
    noise: f64,
    /// The probability of such a spread if the copies are equal.
    chance: f64,
}

impl Variances {
    /// Those of logarithms of times, by block and by copy.
    fn of(blocks: &[Vec<f64>]) -> Variances {
        let (count, copies) = (blocks.len() as f64, blocks[0].len() as f64);
        let centred: Vec<Vec<f64>> = blocks
            .iter()
            .map(|block| {
                let mean = block.iter().sum::<f64>() / copies;
                block.iter().map(|log| log - mean).collect()
            })
            .collect();
        let means: Vec<f64> = (0..blocks[0].len())
            .map(|copy| centred.iter().map(|block| block[copy]).sum::<f64>() / count)
            .collect();
        let of_copies = count * means.iter().map(|mean| mean * mean).sum::<f64>() / (copies - 1.0);
        let rest =
            centred.iter().flat_map(|block| block.iter().zip(&means)).map(|(log, mean)| (log - mean).powi(2));
        let of_noise = rest.sum::<f64>() / ((copies - 1.0) * (count - 1.0));
        let freedom = (copies - 1.0, (copies - 1.0) * (count - 1.0));
        let chance = FisherSnedecor::new(freedom.0, freedom.1).map_or(1.0, |f| f.sf(of_copies / of_noise));
        Variances { between: (of_copies - of_noise) / count, noise: of_noise / count, chance }
    }

    fn mean(all: &[Variances]) -> Variances {
        let mean = |of: fn(&Variances) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        let least = all.iter().map(|one| one.chance).fold(1.0, f64::min);
        let chance = (least * all.len() as f64).min(1.0);
        Variances { between: mean(|one| one.between), noise: mean(|one| one.noise), chance }
    }

    fn spread(self) -> OffsetSpread {
        let shown = self.chance <= 1.0 - CONFIDENCE;
        OffsetSpread { between: self.between.max(0.0).sqrt(), noise: self.noise.sqrt(), shown }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Blocks of copies with offsets, whose samples scatter by 2 % and whose blocks differ.
    fn blocks(offsets: &[f64], count: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut normal = |sd: f64| sd * ((0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0);
        let block = |_| {
            let shared = normal(0.2);
            offsets.iter().map(|offset| shared + offset + normal(0.02)).collect()
        };
        (0..count).map(block).collect()
    }

    #[test]
    fn what_copies_differ_by_is_found_and_noise_is_taken_out() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let apart = Variances::of(&blocks(&[0.0, 0.03, -0.03, 0.01], 30, &mut random)).spread();
        // The offsets' standard deviation is 2.5 %, and noise is 2 % by the root of 30.
        assert!((0.02..0.03).contains(&apart.between) && (0.002..0.006).contains(&apart.noise), "{apart:?}");
        let equal: Vec<Variances> =
            (0..15).map(|_| Variances::of(&blocks(&[0.0; 4], 30, &mut random))).collect();
        let equal = Variances::mean(&equal).spread();
        assert!(equal.between < 0.004, "{equal:?}");
        assert!(apart.shown, "{apart:?}");
        let shown = |copies: &[f64], random: &mut ChaCha8Rng| {
            let one = |_: u32| {
                Variances::mean(&[(); 15].map(|()| Variances::of(&blocks(copies, 13, random)))).spread().shown
            };
            (0..200).map(one).filter(|shown| *shown).count()
        };
        let equals = shown(&[0.0; 4], &mut random);
        assert!(equals <= 16, "{equals} of 200 tables of equal copies show a difference");
        assert_eq!(shown(&[0.0, 0.03, -0.03, 0.01], &mut random), 200);
    }
}
