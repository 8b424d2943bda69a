//! The functions in which builds of one engine differ, in runs that counted their instructions.

mod sides;
#[cfg(test)]
mod tests;

use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_verdict::TestVerdict;

pub(crate) use sides::{CountedFunctions, compare_sides, counted_functions};

/// The event that functions are compared by.
pub(crate) const INSTRUCTIONS: &str = "instructions";
/// The most functions of a table.
const LISTED: usize = 10;

/// Two builds of one engine by their functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionComparison {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The one with which it is compared, by its position: the baseline, or the first that works in the same way.
    pub over: usize,
    /// Those of the two whose functions have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nameless: Vec<NamelessBuild>,
    /// All tests together, if there are several, and then each test.
    pub tests: Vec<ComparedFunctions>,
}

/// A build without symbols.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamelessBuild {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The share of the instructions of its library and its runner that functions without a name executed.
    pub share: f64,
}

/// The functions of two builds in a test, or in all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFunctions {
    /// The test, by its id; absent for all tests together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// All instructions of the one with which it is compared.
    pub before: f64,
    /// All instructions of the contender.
    pub now: f64,
    /// True if several trials of one of them counted different numbers, so that differences may be chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scatters: bool,
    /// A function that is missing on one side executed nothing there, or at most this many instructions in a test. One
    /// with no more than this on the other side counts among all others.
    pub left_out_at_most: f64,
    /// The functions with the largest differences and those with the most instructions, the largest difference first.
    /// All others have the rest of `before` and of `now`.
    pub functions: Vec<FunctionChange>,
}

/// A function in two builds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    /// Its name; empty for all functions of the file whose names are not known.
    pub function: String,
    /// The file that it is in: `library` for the engine's library, `runner` for the runner's program, or the name of
    /// another.
    pub file: String,
    /// Its instructions in the build with which the other is compared, without those of functions that it called.
    pub before: f64,
    /// Its instructions in the other.
    pub now: f64,
}

impl FunctionChange {
    /// The instructions that it gained, or lost if they are below zero.
    pub fn difference(&self) -> f64 {
        self.now - self.before
    }
}

impl ComparedFunctions {
    /// The instructions that were gained, or lost if they are below zero.
    pub fn difference(&self) -> f64 {
        self.now - self.before
    }

    /// The functions that differ the most.
    pub fn largest(&self) -> impl Iterator<Item = &FunctionChange> {
        self.functions.iter().filter(|change| change.difference() != 0.0).take(LISTED)
    }

    /// The instructions of all functions but some, on both sides.
    pub fn besides<'a>(&self, some: impl Iterator<Item = &'a FunctionChange>) -> (f64, f64) {
        some.fold((self.before, self.now), |(before, now), change| (before - change.before, now - change.now))
    }
}

/// The comparisons of a run.
pub(super) fn functions(
    run: &Run,
    tests: &[TestVerdict],
    counted: &[CountedFunctions],
) -> Vec<FunctionComparison> {
    pairs(run).into_iter().filter_map(|pair| compared(counted, tests, pair)).collect()
}

/// The contenders that are other builds of one before them, with that one.
fn pairs(run: &Run) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = run.shown_contenders().map(|(place, _)| place).collect();
    order.sort_by_key(|&place| (place != run.baseline_index(), place));
    let over = |contender: usize| {
        let alike = |other: &usize| run.contenders[contender].works_like(&run.contenders[*other]);
        let first = order.iter().copied().find(alike)?;
        run.contenders[contender].is_other_build_of(&run.contenders[first]).then_some((first, contender))
    };
    order.iter().copied().filter_map(over).collect()
}

fn compared(
    counted: &[CountedFunctions],
    tests: &[TestVerdict],
    (over, contender): (usize, usize),
) -> Option<FunctionComparison> {
    let ids = tests.iter().map(|test| test.id.as_str());
    let (tests, shares) = compare_sides(ids, &counted[over], &counted[contender])?;
    let nameless = [over, contender].into_iter().zip(shares);
    let nameless =
        nameless.filter_map(|(contender, share)| Some(NamelessBuild { contender, share: share? })).collect();
    Some(FunctionComparison { contender, over, nameless, tests })
}
