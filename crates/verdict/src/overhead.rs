//! What encryption costs: each contender that encrypts over the same engine and driver unencrypted, test by
//! test and as a geometric mean.

use dyno_record::{ContenderRecord, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judge::{CellStanding, TestVerdict, by_block, contenders_ratio, is_of_means};
use crate::statistics::{Ratio, geometric_mean_ratio};

/// What encryption costs a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The one without encryption over which it is counted, by its position in the run.
    pub over: usize,
    /// For each test shown, in order: its time over the other's, from samples of the same blocks; absent where one
    /// of the two has no figure that counts.
    pub tests: Vec<Option<Ratio>>,
    /// The geometric mean of those but for opening; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<Ratio>,
}

/// The overheads of a run's encrypted contenders, in their order.
pub fn overheads(run: &Run, tests: &[TestVerdict]) -> Vec<Overhead> {
    let shown: Vec<(usize, &ContenderRecord)> = run.shown_contenders().collect();
    let encrypted = shown.iter().filter(|(_, contender)| encrypts(contender) == Some(true));
    let pairs = encrypted.filter_map(|&(index, contender)| {
        let is_plain = |other: &ContenderRecord| {
            encrypts(other) == Some(false)
                && (&other.engine, &other.driver, level(other))
                    == (&contender.engine, &contender.driver, level(contender))
        };
        // Where there are several, the first of those whose other settings are most like it.
        let plain = shown.iter().filter(|(_, other)| is_plain(other));
        Some((index, plain.min_by_key(|(_, other)| differing(other, contender))?.0))
    });
    pairs.map(|(contender, over)| overhead(run, tests, contender, over)).collect()
}

fn overhead(run: &Run, tests: &[TestVerdict], contender: usize, over: usize) -> Overhead {
    let counts = |test: &TestVerdict, contender: usize| {
        let mut cells = test.cells.iter().filter(|cell| cell.contender == contender);
        cells.all(|cell| cell.standing == CellStanding::Counts)
    };
    let both = |test: &&TestVerdict| counts(test, contender) && counts(test, over);
    let meant = |test: &&TestVerdict| both(test) && is_of_means(run, &test.id);
    let pairs: Vec<_> =
        tests.iter().filter(meant).map(|test| by_block(run, contender, over, &test.id)).collect();
    let ratio = |test| {
        Some(test)
            .filter(both)
            .and_then(|test: &TestVerdict| contenders_ratio(run, contender, over, &test.id))
    };
    Overhead {
        contender,
        over,
        tests: tests.iter().map(ratio).collect(),
        geometric_mean: geometric_mean_ratio(&pairs, run.schedule.seed),
    }
}

/// How many of the settings that each asks for the other does not.
fn differing(one: &ContenderRecord, other: &ContenderRecord) -> usize {
    let lacks = |one: &ContenderRecord, other: &ContenderRecord| {
        one.asked.iter().filter(|setting| !other.asked.contains(setting)).count()
    };
    lacks(one, other) + lacks(other, one)
}

fn encrypts(contender: &ContenderRecord) -> Option<bool> {
    contender.proof.as_ref().map(|proof| proof.encrypts)
}

fn level(contender: &ContenderRecord) -> Option<dyno_record::Level> {
    contender.safety.as_ref().map(|safety| safety.level)
}
