//! Contenders that are alike but for one thing, such as the driver or the settings: what that one thing costs.

use dyno_record::{ContenderRecord, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::TestVerdict;
use crate::pairs::{mean_over, ratio_in};
use crate::statistics::Ratio;

/// How much more time a contender takes than another that is alike but for one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Against {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The one over which it is counted, by its position in the run.
    pub over: usize,
    /// Whether the two survive the same and commit as much at a time, so that this ranks them; otherwise it is a price.
    pub same_level: bool,
    /// For each test shown, in order: its time over the other's, from samples of the same blocks; absent where one
    /// of the two has no figure that counts.
    pub tests: Vec<Option<Ratio>>,
    /// The geometric mean over the tests that both passed, of encryption without opening; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<Ratio>,
}

impl Against {
    /// Sets a contender beside another; `is_meant` tells the tests of the geometric mean.
    pub(super) fn new(
        run: &Run,
        tests: &[TestVerdict],
        contender: usize,
        over: usize,
        is_meant: impl Fn(&TestVerdict) -> bool,
    ) -> Against {
        let both = |test: &TestVerdict| test.counts(contender) && test.counts(over);
        let ratio = |test| both(test).then(|| ratio_in(test, contender, over)).flatten();
        let meant: Vec<&TestVerdict> = tests.iter().filter(|test| both(test) && is_meant(test)).collect();
        Against {
            contender,
            over,
            same_level: run.class(contender) == run.class(over),
            tests: tests.iter().map(ratio).collect(),
            geometric_mean: mean_over(run, &meant, contender, over),
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
    let mut found = Vec::new();
    for group in groups {
        let Some(over) = reference(&group) else { continue };
        let others = group.into_iter().filter(|&index| index != over);
        found.extend(others.map(|contender| Against::new(run, tests, contender, over, |_| true)));
    }
    found
}
