//! Contenders over all tests: the geometric means of their ratios to the baseline.

use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, CellStanding};
use crate::levels::failed_in_means;
use crate::pairs::mean_over;
use crate::statistics::{Difference, Ratio};
use crate::test_verdict::TestVerdict;
use crate::views::{is_disproved, is_unproved};

/// The summary of a contender over all tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryVerdict {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The geometric mean of its ratios to the baseline over the tests that all contenders passed, those aside of which a
    /// trial failed; absent for the baseline, for a contender of which a trial failed, and where there is no such test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<Ratio>,
    /// The judgement on that ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The number of tests that the mean is over.
    pub tests: usize,
    /// True if it is of the baseline's class, with the same safety level and commit size, so that the mean ranks the
    /// two.
    pub same_level: bool,
}

/// The tests of which the means over all contenders are, by position.
pub(crate) fn tests_of_means(run: &Run, tests: &[TestVerdict]) -> Vec<usize> {
    let passed = |test: &TestVerdict| {
        let ranked = test.cells.iter().filter(|cell| {
            let is_out = matches!(cell.standing, CellStanding::NotEncrypted | CellStanding::NotIsolated)
                || failed_in_means(tests, cell.contender);
            !run.contenders[cell.contender].harness && !is_out
        });
        test.is_of_means() && ranked.clone().count() > 0 && ranked.clone().all(Cell::counts)
    };
    (0..tests.len()).filter(|&place| passed(&tests[place])).collect()
}

/// The contenders shown, over these tests, by position.
pub(crate) fn summarize(
    run: &Run,
    tests: &[TestVerdict],
    meant: &[usize],
    shown: &[usize],
) -> Vec<SummaryVerdict> {
    let meant: Vec<&TestVerdict> = meant.iter().map(|&place| &tests[place]).collect();
    let failed = |contender| failed_in_means(tests, contender);
    let is_out = |contender| is_unproved(run, contender) || is_disproved(run, contender) || failed(contender);
    let baseline_is_out = failed(run.baseline_index());
    shown
        .iter()
        .map(|&contender| summary(run, &meant, contender, baseline_is_out || is_out(contender)))
        .collect()
}

fn summary(run: &Run, meant: &[&TestVerdict], contender: usize, is_out: bool) -> SummaryVerdict {
    let baseline = run.baseline_index();
    let geometric_mean =
        (contender != baseline && !is_out).then(|| mean_over(run, meant, contender, baseline)).flatten();
    SummaryVerdict {
        contender,
        geometric_mean,
        difference: geometric_mean.map(|mean| mean.difference()),
        tests: meant.len(),
        same_level: run.are_equals(contender, baseline),
    }
}
