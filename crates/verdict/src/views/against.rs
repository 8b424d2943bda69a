//! Contenders that are alike but for one thing, such as the driver or the settings: what that one thing costs. The
//! comparisons of a view share one chance of error, as those of the main table do.

use dyno_record::{ContenderRecord, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pairs::{log_ratios, mean_log_ratios, mean_over, ratio_in};
use crate::statistics::{Compared, Difference, NoDifference, Ratio, significant};
use crate::test_verdict::TestVerdict;

/// The ratio of a contender's times to those of another that differs in one respect only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The one over which it is counted, by its position in the run.
    pub over: usize,
    /// True if the two have equal safety and commit size, so that the ratio ranks them; otherwise it is a price.
    pub same_level: bool,
    /// For each test shown, in order: its time over the other's, from samples of the same blocks; absent where one
    /// of the two has no figure that counts.
    pub tests: Vec<Option<AddedTime>>,
    /// The geometric mean over the tests that both passed, for encryption without opening; absent if there are no such
    /// tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<AddedTime>,
}

/// A contender's time over another's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AddedTime {
    /// The ratio.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// True if it is a difference once all comparisons of the view are counted.
    pub is_difference: bool,
    /// True if no difference is found and the interval excludes differences beyond the run's margin.
    #[serde(default)]
    pub is_close: bool,
}

impl Against {
    /// Compares a contender with another; `is_meant` selects the tests of the geometric mean.
    pub(super) fn new(
        run: &Run,
        tests: &[TestVerdict],
        contender: usize,
        over: usize,
        is_meant: impl Fn(&TestVerdict) -> bool,
    ) -> Against {
        let both = |test: &TestVerdict| test.compares(contender) && test.compares(over);
        let added = |ratio| AddedTime { ratio, is_difference: false, is_close: false };
        let ratio = |test| both(test).then(|| ratio_in(test, contender, over)).flatten().map(added);
        let meant: Vec<&TestVerdict> = tests.iter().filter(|test| both(test) && is_meant(test)).collect();
        Against {
            contender,
            over,
            same_level: run.are_equals(contender, over),
            tests: tests.iter().map(ratio).collect(),
            geometric_mean: mean_over(run, &meant, contender, over).map(added),
        }
    }

    /// The logarithms of its ratio in a test, block by block.
    fn logs(&self, test: &TestVerdict) -> Vec<f64> {
        let points = |contender| test.cell(contender).map(|cell| &cell.points);
        points(self.contender)
            .zip(points(self.over))
            .map_or(Vec::new(), |(own, other)| log_ratios(own, other))
    }
}

/// Says what is a difference in a view once all of its comparisons are counted. Half of the chance of error is for the
/// means.
pub(super) fn mark_significant(
    run: &Run,
    tests: &[TestVerdict],
    view: &mut [Against],
    is_meant: impl Fn(&TestVerdict) -> bool,
) {
    let compared = |against: &Against| {
        let in_tests = tests.iter().zip(&against.tests).filter(|(_, added)| added.is_some());
        let meant: Vec<&TestVerdict> =
            in_tests.clone().map(|(test, _)| test).filter(|test| is_meant(test)).collect();
        let mean = against.geometric_mean.map(|_| Compared {
            logs: mean_log_ratios(run, &meant, against.contender, against.over),
            weight: against.tests.len() as f64,
        });
        let in_tests = in_tests.map(|(test, _)| Compared { logs: against.logs(test), weight: 1.0 });
        in_tests.chain(mean).collect::<Vec<_>>()
    };
    let mut apart = significant(&view.iter().flat_map(compared).collect::<Vec<_>>()).into_iter();
    let all = view
        .iter_mut()
        .flat_map(|against| against.tests.iter_mut().flatten().chain(against.geometric_mean.as_mut()));
    all.for_each(|added| {
        added.is_difference = apart.next().unwrap_or(false);
        added.is_close = !added.is_difference && added.ratio.is_within(run.schedule.margin);
    });
    for against in view {
        for (test, added) in tests.iter().zip(&mut against.tests) {
            let both = test.median(against.contender).zip(test.median(against.over));
            let (Some(added), Some((own, other)), Some(floor)) = (added, both, test.floor_ns) else {
                continue;
            };
            let found = added.ratio.difference_above(own, other, floor);
            // As in the table of the run: no difference is claimed that is smaller than what measuring costs.
            if added.is_difference && found == Difference::None(NoDifference::WithinHarnessCost) {
                (added.is_difference, added.is_close) = (false, true);
            }
        }
    }
}

/// Each contender shown against the one of its kind that `reference` picks, families one after another. A family
/// without a reference is left out, and so is the harness.
pub(super) fn families(
    run: &Run,
    tests: &[TestVerdict],
    is_alike: impl Fn(&ContenderRecord, &ContenderRecord) -> bool,
    reference: impl Fn(&[usize]) -> Option<usize>,
) -> Vec<Against> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, contender) in run.shown_contenders().filter(|(_, contender)| !contender.harness) {
        match groups.iter_mut().find(|group| is_alike(&run.contenders[group[0]], contender)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let is_meant = TestVerdict::is_of_means;
    let mut found = Vec::new();
    for group in groups {
        let Some(over) = reference(&group) else { continue };
        let others = group.into_iter().filter(|&index| index != over);
        found.extend(others.map(|contender| Against::new(run, tests, contender, over, is_meant)));
    }
    mark_significant(run, tests, &mut found, is_meant);
    found
}
