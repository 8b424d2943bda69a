//! The functions in which builds of one engine differ, in runs that counted their instructions.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{FunctionCounts, Run, SampleRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_verdict::TestVerdict;

/// The event that functions are compared by.
const INSTRUCTIONS: &str = "instructions";
/// The most functions of a table.
const LISTED: usize = 10;
/// The most functions that are kept for their cost, whether they differ or not.
const COSTLY: usize = 40;
/// The share of a build's own instructions that may have been executed by functions whose names are not known.
const NAMELESS: f64 = 0.01;

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

/// The functions of one side or of both, by file and name.
type Functions<T> = BTreeMap<(String, String), T>;

/// One side of a test.
struct CountedTest {
    functions: Functions<f64>,
    instructions: f64,
    scatters: bool,
    left_out_at_most: f64,
}

/// The comparisons of a run.
pub(super) fn functions(run: &Run, tests: &[TestVerdict]) -> Vec<FunctionComparison> {
    pairs(run).into_iter().filter_map(|(over, contender)| compared(run, tests, over, contender)).collect()
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

fn compared(run: &Run, tests: &[TestVerdict], over: usize, contender: usize) -> Option<FunctionComparison> {
    let sides = tests.iter().filter_map(|test| {
        let (before, now) = settled(counted(run, over, &test.id)?, counted(run, contender, &test.id)?);
        Some((&test.id, before, now))
    });
    let sides: Vec<(&String, CountedTest, CountedTest)> = sides.collect();
    let each = sides.iter().map(|(test, before, now)| compare(Some((*test).clone()), before, now));
    let together = (sides.len() > 1).then(|| {
        let before = sum(sides.iter().map(|(_, before, _)| before));
        compare(None, &before, &sum(sides.iter().map(|(_, _, now)| now)))
    });
    let nameless = [
        (over, nameless(sides.iter().map(|(_, before, _)| before))),
        (contender, nameless(sides.iter().map(|(_, _, now)| now))),
    ];
    let nameless = nameless
        .into_iter()
        .filter(|(_, share)| *share > NAMELESS)
        .map(|(contender, share)| NamelessBuild { contender, share });
    (!sides.is_empty()).then(|| FunctionComparison {
        contender,
        over,
        nameless: nameless.collect(),
        tests: together.into_iter().chain(each).collect(),
    })
}

/// The functions of a contender in a test, by the trial that has them.
fn counted(run: &Run, contender: usize, test: &str) -> Option<CountedTest> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.may_count());
    let samples: Vec<&SampleRecord> =
        trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test).collect();
    let (sample, counts) = samples.iter().find_map(|sample| Some((sample, sample.functions.as_ref()?)))?;
    let instructions = sample.count(INSTRUCTIONS)?;
    let mut functions = Functions::new();
    for (file, name, count) in counts.functions() {
        *functions.entry((file.to_owned(), name.to_owned())).or_default() += sample.extrapolated(count);
    }
    Some(CountedTest {
        functions,
        instructions,
        scatters: samples
            .iter()
            .filter_map(|sample| sample.count(INSTRUCTIONS))
            .any(|count| count != instructions),
        left_out_at_most: sample.extrapolated(counts.left_out_at_most),
    })
}

/// Both sides without functions that are known of one side alone and may have as many instructions on the other, where
/// they were left out: their difference is not known, and they count among all others.
fn settled(mut before: CountedTest, mut now: CountedTest) -> (CountedTest, CountedTest) {
    let unknown = |side: &CountedTest, other: &CountedTest| -> Vec<(String, String)> {
        let is_unknown = |function: &(String, String), count: f64| {
            count <= other.left_out_at_most && !other.functions.contains_key(function)
        };
        let found = side.functions.iter().filter(|(function, count)| is_unknown(function, **count));
        found.map(|(function, _)| function.clone()).collect()
    };
    for function in unknown(&before, &now) {
        before.functions.remove(&function);
    }
    for function in unknown(&now, &before) {
        now.functions.remove(&function);
    }
    (before, now)
}

/// Several tests as one.
fn sum<'a>(tests: impl Iterator<Item = &'a CountedTest>) -> CountedTest {
    let nothing = CountedTest {
        functions: Functions::new(),
        instructions: 0.0,
        scatters: false,
        left_out_at_most: 0.0,
    };
    tests.fold(nothing, |mut sum, test| {
        for (function, count) in &test.functions {
            *sum.functions.entry(function.clone()).or_default() += count;
        }
        sum.instructions += test.instructions;
        sum.scatters |= test.scatters;
        sum.left_out_at_most = sum.left_out_at_most.max(test.left_out_at_most);
        sum
    })
}

/// The share of a build's own instructions that functions without a name executed.
fn nameless<'a>(tests: impl Iterator<Item = &'a CountedTest>) -> f64 {
    let (mut named, mut nameless) = (0.0, 0.0);
    for ((file, name), count) in tests.flat_map(|test| &test.functions) {
        if FunctionCounts::is_of_build(file) {
            *if name.is_empty() { &mut nameless } else { &mut named } += count;
        }
    }
    if nameless > 0.0 { nameless / (named + nameless) } else { 0.0 }
}

fn compare(test: Option<String>, before: &CountedTest, now: &CountedTest) -> ComparedFunctions {
    let mut functions = changes(before, now);
    functions.sort_by(|one, other| other.difference().abs().total_cmp(&one.difference().abs()));
    let mut costs: Vec<(f64, usize)> =
        functions.iter().enumerate().map(|(place, change)| (change.before.max(change.now), place)).collect();
    costs.sort_by(|one, other| other.0.total_cmp(&one.0));
    let costly: BTreeSet<usize> = costs.into_iter().take(COSTLY).map(|(_, place)| place).collect();
    let kept = functions.into_iter().enumerate();
    let kept = kept.filter(|(place, _)| *place < LISTED || costly.contains(place)).map(|(_, change)| change);
    ComparedFunctions {
        test,
        before: before.instructions,
        now: now.instructions,
        scatters: before.scatters || now.scatters,
        left_out_at_most: before.left_out_at_most.max(now.left_out_at_most),
        functions: kept.collect(),
    }
}

/// Each function with what it executed on both sides.
fn changes(before: &CountedTest, now: &CountedTest) -> Vec<FunctionChange> {
    let mut both: Functions<(f64, f64)> =
        before.functions.iter().map(|(function, count)| (function.clone(), (*count, 0.0))).collect();
    for (function, count) in &now.functions {
        let place = moved(function, before, now).unwrap_or_else(|| function.clone());
        both.entry(place).or_default().1 += count;
    }
    let change = |((file, function), (before, now))| FunctionChange { function, file, before, now };
    both.into_iter().map(change).collect()
}

/// Where the build before has a function that moved from its library to the runner, or from there to the library.
fn moved(
    (file, name): &(String, String),
    before: &CountedTest,
    now: &CountedTest,
) -> Option<(String, String)> {
    let other = match file.as_str() {
        FunctionCounts::LIBRARY => FunctionCounts::RUNNER,
        FunctionCounts::RUNNER => FunctionCounts::LIBRARY,
        _ => return None,
    };
    let [here, there] = [file.as_str(), other].map(|file| (file.to_owned(), name.clone()));
    let has = |side: &CountedTest, place: &(String, String)| side.functions.contains_key(place);
    let is_moved = has(before, &there) && !has(before, &here) && !has(now, &there);
    (is_moved && !name.is_empty()).then_some(there)
}
