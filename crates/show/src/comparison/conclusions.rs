//! The conclusions of the comparison of two runs, in sentences.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::Quantity;
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{CellComparison, CheckedAnswers, Comparison, TestComparison};

/// The conclusions, in sentences: on times, counts and answers, and on other changes.
pub(super) fn conclusions(comparison: &Comparison) -> Vec<String> {
    let contenders = || comparison.contenders.iter().enumerate();
    let mut lines: Vec<String> =
        contenders().map(|(place, label)| changed(comparison, place, label)).collect();
    lines.extend(contenders().flat_map(|(place, label)| changed_counts(comparison, place, label)));
    lines.push(answers(comparison));
    lines.extend(comparison.changes.iter().map(|change| format!("Changed: {change}")));
    lines
}

/// In which tests a contender became slower or faster, and in how many the samples do not show it.
fn changed(comparison: &Comparison, place: usize, label: &str) -> String {
    let of = |wanted: &dyn Fn(&CellComparison) -> bool| -> Vec<&str> {
        let tests = comparison.tests.iter().filter(|test| wanted(&test.cells[place]));
        tests.map(|test| test.id.as_str()).collect()
    };
    let named = |word: &str, difference: Difference| {
        let tests = of(&|cell| cell.difference == Some(difference));
        let list = if tests.is_empty() { String::new() } else { format!(" ({})", tests.join(", ")) };
        format!("{word} in {} of {} tests{list}", tests.len(), comparison.tests.len())
    };
    let too_few = Some(Difference::None(NoDifference::TooFewSamples));
    let few = of(&|cell| cell.difference == too_few);
    let close =
        of(&|cell| matches!(cell.difference, Some(Difference::None(_))) && cell.difference != too_few);
    format!(
        "{label}: {}, {}; no difference shown in {}, too few samples in {}.",
        named("slower", Difference::Slower),
        named("faster", Difference::Faster),
        close.len(),
        few.len()
    )
}

/// In which tests a contender's counts became more or fewer: a sentence for the events that did so in the same tests.
fn changed_counts(comparison: &Comparison, place: usize, label: &str) -> Vec<String> {
    let all = comparison.tests.iter().flat_map(|test| &test.counts);
    let events: BTreeSet<&str> = all.map(|count| count.event.as_str()).collect();
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let cells = comparison.tests.iter().filter_map(|test| {
            let count = test.counts.iter().find(|count| count.event == event)?;
            Some((test.id.as_str(), count.cells[place].difference?))
        });
        let cells: Vec<(&str, Difference)> = cells.collect();
        if !cells.is_empty() {
            let name = Quantity::Count { event: event.to_owned() }.to_string();
            alike.entry(outcome(&cells)).or_default().push(name);
        }
    }
    alike.iter().map(|(outcome, names)| format!("{label}, {}, in {outcome}.", names.join(", "))).collect()
}

/// In which of the tests an event occurred more or less often, and in how many it did not.
fn outcome(cells: &[(&str, Difference)]) -> String {
    let of = |wanted: Difference| -> Vec<&str> {
        cells.iter().filter(|(_, found)| *found == wanted).map(|(test, _)| *test).collect()
    };
    let equal = of(Difference::None(NoDifference::Close));
    let unsteady = of(Difference::None(NoDifference::TooFewSamples));
    let parts = [
        ("more", of(Difference::Slower), true),
        ("fewer", of(Difference::Faster), true),
        ("equal", equal, false),
        ("not repeated to the digit", unsteady, false),
    ];
    let parts = parts.iter().filter(|(_, tests, _)| !tests.is_empty());
    let parts: Vec<String> = parts
        .map(|(word, tests, is_named)| match is_named {
            true => in_tests(word, tests),
            false => format!("{word} in {}", tests.len()),
        })
        .collect();
    format!("{} tests: {}", cells.len(), parts.join(", "))
}

/// In how many tests the answers of all contenders are right in both runs.
fn answers(comparison: &Comparison) -> String {
    let of = |test: &TestComparison| test.cells.iter().map(|cell| cell.answers).max().unwrap_or_default();
    let named = |words: &str, wanted: CheckedAnswers| {
        let tests: Vec<&str> =
            comparison.tests.iter().filter(|test| of(test) == wanted).map(|test| test.id.as_str()).collect();
        (!tests.is_empty()).then(|| in_tests(words, &tests))
    };
    let found = [
        named("wrong or disputed", CheckedAnswers::Wrong),
        named("right in both runs", CheckedAnswers::Right),
        named("compared within each run alone", CheckedAnswers::Agreed),
        named("not checked", CheckedAnswers::Unchecked),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    format!("Answers, in {} tests: {}.", comparison.tests.len(), found.join(", "))
}

/// `more in 2 (3, 4)`.
fn in_tests(words: &str, tests: &[&str]) -> String {
    format!("{words} in {} ({})", tests.len(), tests.join(", "))
}
