//! Who is the fastest over all tests, within each class of contenders and never across: of one safety level, and with one
//! commit size where contenders choose it.
//!
//! A class's contenders are compared with its fastest by the geometric mean of their ratios, over the tests that all of
//! the class passed. A mean of unlike things: whoever prints it says so.

use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::TestVerdict;
use crate::pairs::{mean_logs_by_block, mean_over};
use crate::peers::{Class, classes};
use crate::statistics::{Ratio, best};

/// The contenders of one class, the fastest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRanking {
    /// What they have in common: safety level and commit size.
    #[serde(flatten)]
    pub class: Class,
    /// How many tests all of them passed; the means are over these.
    pub tests: usize,
    /// The contenders: the fastest, then the others by their ratio to it. Where no test was passed by all, they
    /// stand in the order of the run and nobody is ranked.
    pub ranks: Vec<Rank>,
}

/// A contender's place within its class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its times over those of the fastest; absent for the fastest itself and where there
    /// is no test to rank by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// Whether it is not shown slower than the best, and within the run's margin of it.
    pub fastest: bool,
}

/// The rankings, the safest first. Contenders whose level is unknown, and the harness, are in none.
pub(crate) fn rank_levels(run: &Run, tests: &[TestVerdict]) -> Vec<LevelRanking> {
    classes(run).into_iter().map(|(class, rivals)| rank(run, tests, class, &rivals)).collect()
}

fn rank(run: &Run, tests: &[TestVerdict], class: Class, rivals: &[usize]) -> LevelRanking {
    let passed = |test: &&TestVerdict| rivals.iter().all(|&rival| test.counts(rival));
    let tests: Vec<&TestVerdict> = tests.iter().filter(passed).collect();
    let logs: Vec<_> = rivals.iter().map(|&rival| mean_logs_by_block(run, &tests, rival)).collect();
    let found = best(&logs, run.schedule.margin).filter(|_| rivals.len() > 1);
    let best = match &found {
        Some(found) => Some(rivals[found.best]),
        None => least(run, &tests, rivals),
    };
    let rank = |(place, &contender): (usize, &usize)| Rank {
        contender,
        ratio: best
            .filter(|best| *best != contender)
            .and_then(|best| mean_over(run, &tests, contender, best)),
        // Where the samples are too few to tell anyone apart, nobody is called the fastest.
        fastest: found.as_ref().is_some_and(|found| found.fastest[place]),
    };
    let mut ranks: Vec<Rank> = rivals.iter().enumerate().map(rank).collect();
    if let Some(best) = best {
        let key = |rank: &Rank| rank.ratio.map_or(f64::INFINITY, |ratio| ratio.ratio);
        ranks.sort_by(|a, b| {
            (a.contender != best).cmp(&(b.contender != best)).then(key(a).total_cmp(&key(b)))
        });
    }
    LevelRanking { class, tests: tests.len(), ranks }
}

/// The contender with the smallest geometric mean, however few its samples; none where there is no test to rank by.
fn least(run: &Run, tests: &[&TestVerdict], rivals: &[usize]) -> Option<usize> {
    let first = *rivals.first()?;
    let means = rivals.iter().filter_map(|&rival| Some((rival, mean_over(run, tests, rival, first)?.ratio)));
    means.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(rival, _)| rival)
}
