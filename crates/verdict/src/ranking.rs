//! The ranking of the contenders of one class.

use dyno_record::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Ratio;

/// The contenders of one class, the fastest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRanking {
    /// The safety level and commit size that all of them share.
    #[serde(flatten)]
    pub class: Class,
    /// The number of tests that all of them passed; the means are over these.
    pub tests: usize,
    /// The contenders: the one with the least mean, then the others by their ratio to it, those last of which a trial
    /// failed. Where no test was passed by all, they stand in the order of the run without ratios.
    pub ranks: Vec<Rank>,
    /// Durations of operations that are shown to differ between the fastest and the next; absent where none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitsApart>,
}

/// A contender's place within its class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its times over those of the first; absent for the first itself, for one of which a trial
    /// failed, and where there is no test to rank by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// True if it is shown to be slower than the first by more than the run's margin, with all comparisons of the table
    /// counted.
    pub slower: bool,
    /// True if it is shown to be slower than another of the class by more than the margin, the first or not: then it is not
    /// the fastest.
    pub behind: bool,
    /// True if all others are behind; at most one is.
    pub fastest: bool,
    /// True if one of its trials failed in one of the tests, so that it is not compared: only the trials that did not
    /// fail have figures, and those may be its quick ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl LevelRanking {
    /// Those that no comparison shows to be slower than another, by position in the run: any of them may be the fastest.
    /// The first is one of them.
    pub fn undecided(&self) -> impl Iterator<Item = usize> {
        self.ranks.iter().filter(|rank| !rank.behind && !rank.failed).map(|rank| rank.contender)
    }
}

/// Durations of one class of operations that are shown to differ between the fastest contender and the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitsApart {
    /// The test.
    pub test: String,
    /// The class's name, as the suite gives it or else the test's.
    pub class: String,
    /// The share of the operations of a trial that took no longer; 1 is the longest of them.
    pub share: f64,
    /// The fastest contender's duration in nanoseconds, the median of its trials.
    pub fastest_ns: f64,
    /// That of the next contender.
    pub next_ns: f64,
}
