//! Who is the fastest over all tests, within each safety level and never across.
//!
//! A level's contenders are compared with its fastest by the geometric mean of the ratios of medians, over
//! the tests that all of the level passed. A mean of unlike things: whoever prints it says so.

use dyno_record::{Level, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::TestVerdict;
use crate::pairs::mean_over;
use crate::statistics::Ratio;

/// The contenders of one safety level, the fastest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRanking {
    /// The level.
    pub level: Level,
    /// How many tests all of them passed; the means are over these.
    pub tests: usize,
    /// The contenders: the fastest, then the others by their ratio to it. Where no test was passed by all, they
    /// stand in the order of the run and nobody is ranked.
    pub ranks: Vec<Rank>,
}

/// A contender's place within its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its times over those of the fastest; absent for the fastest itself and where there
    /// is no test to rank by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Whether nobody of the level is faster, so far as the samples can tell.
    pub fastest: bool,
}

/// The rankings, the safest level first. Contenders whose level is unknown, and the harness, are in none.
pub(crate) fn rank_levels(run: &Run, tests: &[TestVerdict]) -> Vec<LevelRanking> {
    let levels = [Level::PowerLoss, Level::ProcessCrash, Level::None];
    levels.into_iter().filter_map(|level| rank(run, tests, level)).collect()
}

fn rank(run: &Run, tests: &[TestVerdict], level: Level) -> Option<LevelRanking> {
    let is_of_level = |index: usize| {
        let contender = &run.contenders[index];
        !contender.harness && contender.safety.as_ref().map(|safety| safety.level) == Some(level)
    };
    let rivals: Vec<usize> =
        run.shown_contenders().map(|(index, _)| index).filter(|&index| is_of_level(index)).collect();
    let first = *rivals.first()?;
    let passed = |test: &&TestVerdict| rivals.iter().all(|&rival| test.counts(rival));
    let tests: Vec<&str> = tests.iter().filter(passed).map(|test| test.id.as_str()).collect();
    let best = rivals
        .iter()
        .filter_map(|&rival| Some((rival, mean_over(run, &tests, rival, first)?.ratio)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks: Vec<Rank> = rivals
        .iter()
        .map(|&contender| {
            let ratio = best
                .filter(|(best, _)| *best != contender)
                .and_then(|(best, _)| mean_over(run, &tests, contender, best));
            let is_best = best.is_some_and(|(best, _)| best == contender);
            let alike = ratio.is_some_and(|ratio| ratio.interval.is_some() && !ratio.is_difference());
            Rank { contender, ratio, fastest: rivals.len() > 1 && (is_best || alike) }
        })
        .collect();
    // Where the samples are too few to tell anyone apart, nobody is called the fastest.
    if ranks.iter().any(|rank| rank.ratio.is_some_and(|ratio| ratio.interval.is_none())) {
        ranks.iter_mut().for_each(|rank| rank.fastest = false);
    }
    if let Some((best, _)) = best {
        let key = |rank: &Rank| rank.ratio.map_or(f64::INFINITY, |ratio| ratio.ratio);
        ranks.sort_by(|a, b| {
            (a.contender != best).cmp(&(b.contender != best)).then(key(a).total_cmp(&key(b)))
        });
    }
    Some(LevelRanking { level, tests: tests.len(), ranks })
}
