//! The functions of two sides of a test, each counted in one trial.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{FunctionCounts, Run, SampleRecord};

use super::{ComparedFunctions, FunctionChange, INSTRUCTIONS, LISTED};

/// The most functions that are kept for their cost, whether they differ or not.
const COSTLY: usize = 40;
/// The share of a build's own instructions that may have been executed by functions whose names are not known.
const NAMELESS: f64 = 0.01;

/// The functions of one side or of both, by file and name.
pub(super) type Functions<T> = BTreeMap<(String, String), T>;

/// The functions of a contender, by test.
pub(crate) type CountedFunctions = BTreeMap<String, CountedTest>;

/// One side of a test.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CountedTest {
    pub(super) functions: Functions<f64>,
    pub(super) instructions: f64,
    pub(super) scatters: bool,
    pub(super) left_out_at_most: f64,
}

/// The functions of each contender, by its position, in the tests of which a trial has them.
pub(crate) fn counted_functions(run: &Run) -> Vec<CountedFunctions> {
    let has_functions = |sample: &SampleRecord| sample.functions.is_some();
    let of_contender = |contender: usize| {
        let mut own = run.trials.iter().filter(|trial| trial.contender == contender);
        if !own.any(|trial| trial.samples.iter().any(has_functions)) {
            return CountedFunctions::new();
        }
        let tests = run.shown_tests();
        tests.filter_map(|test| Some((test.id.clone(), counted(run, contender, &test.id)?))).collect()
    };
    (0..run.contenders.len()).map(of_contender).collect()
}

/// Compares two sides in those of the tests (by id) that both have: all tests together, if there are several, and then
/// each; and for both sides the share of instructions of functions without names, where they have none. `None` if they
/// have no test in common.
pub(crate) fn compare_sides<'a>(
    tests: impl Iterator<Item = &'a str>,
    before: &CountedFunctions,
    now: &CountedFunctions,
) -> Option<(Vec<ComparedFunctions>, [Option<f64>; 2])> {
    let sides = tests.filter_map(|test| {
        let (before, now) = settled(before.get(test)?.clone(), now.get(test)?.clone());
        Some((test, before, now))
    });
    let sides: Vec<(&str, CountedTest, CountedTest)> = sides.collect();
    let each = sides.iter().map(|(test, before, now)| compare(Some((*test).to_owned()), before, now));
    let together = (sides.len() > 1).then(|| {
        let before = sum(sides.iter().map(|(_, before, _)| before));
        compare(None, &before, &sum(sides.iter().map(|(_, _, now)| now)))
    });
    let nameless =
        [nameless(sides.iter().map(|(_, before, _)| before)), nameless(sides.iter().map(|(_, _, now)| now))];
    let nameless = nameless.map(|share| (share > NAMELESS).then_some(share));
    (!sides.is_empty()).then(|| (together.into_iter().chain(each).collect(), nameless))
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
pub(super) fn settled(mut before: CountedTest, mut now: CountedTest) -> (CountedTest, CountedTest) {
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
pub(super) fn sum<'a>(tests: impl Iterator<Item = &'a CountedTest>) -> CountedTest {
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
pub(super) fn nameless<'a>(tests: impl Iterator<Item = &'a CountedTest>) -> f64 {
    let (mut named, mut nameless) = (0.0, 0.0);
    for ((file, name), count) in tests.flat_map(|test| &test.functions) {
        if FunctionCounts::is_of_build(file) {
            *if name.is_empty() { &mut nameless } else { &mut named } += count;
        }
    }
    if nameless > 0.0 { nameless / (named + nameless) } else { 0.0 }
}

pub(super) fn compare(test: Option<String>, before: &CountedTest, now: &CountedTest) -> ComparedFunctions {
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
