//! The comparison of two runs as CSV.

use anyhow::{Context, Result};
use dyno_verdict::statistics::{Difference, Ratio};
use dyno_verdict::{
    CellComparison, ComparedFunctions, Comparison, CountedCell, FunctionChange, TestComparison,
};

use crate::without_formula;

/// The columns of each row.
const COLUMNS: [&str; 14] = [
    "test",
    "title",
    "contender",
    "old_ns",
    "new_ns",
    "old_per_second",
    "new_per_second",
    "ratio",
    "low",
    "high",
    "difference",
    "why_not",
    "old_file",
    "new_file",
];

/// Those that follow where both runs counted events.
const COUNTED: [&str; 7] = [
    "event",
    "old_count",
    "new_count",
    "functions_difference",
    "function",
    "function_file",
    "function_difference",
];

/// A row for each contender in each test, and after it one for each event that both runs counted.
pub fn csv(comparison: &Comparison) -> Result<String> {
    let has_counts = comparison.tests.iter().any(|test| !test.counts.is_empty());
    let counted = if has_counts { &COUNTED[..] } else { &[] };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS.iter().chain(counted)).context("cannot write CSV")?;
    let files = [0, 1].map(|place| text(comparison.run_files.get(place).map_or("", String::as_str)));
    for test in &comparison.tests {
        for (place, label) in comparison.contenders.iter().enumerate() {
            let found = comparison.functions.iter().find(|found| found.contender == place);
            for row in rows(test, place, found.and_then(|found| found.test(&test.id))) {
                let begin = [text(&test.id), text(&test.title), text(label)];
                let (own, end) = row.split_at(COLUMNS.len() - begin.len() - files.len());
                let row = begin.iter().chain(own).chain(&files).chain(&end[..counted.len()]);
                writer.write_record(row).context("cannot write CSV")?;
            }
        }
    }
    String::from_utf8(writer.into_inner().context("cannot write CSV")?).context("cannot write CSV")
}

/// The rows of a contender in a test: what stands between its name and the files, then the columns of counts.
fn rows(test: &TestComparison, contender: usize, functions: Option<&ComparedFunctions>) -> Vec<Vec<String>> {
    let counts = test.counts.iter().map(|count| of_count(&count.event, &count.cells[contender]));
    let mut time = of_time(&test.cells[contender]);
    time.extend(of_functions(functions));
    std::iter::once(time).chain(counts).collect()
}

/// The function that differs the most.
fn of_functions(compared: Option<&ComparedFunctions>) -> [String; 4] {
    let largest = compared.and_then(|compared| compared.largest().next());
    [
        number(compared.map(ComparedFunctions::difference)),
        text(largest.map_or("", |change| change.function.as_str())),
        text(largest.map_or("", |change| change.file.as_str())),
        number(largest.map(FunctionChange::difference)),
    ]
}

fn of_time(cell: &CellComparison) -> Vec<String> {
    let mut row = vec![
        number(cell.old_ns),
        number(cell.new_ns),
        number(cell.old_sustained.and_then(|outcome| outcome.per_second())),
        number(cell.new_sustained.and_then(|outcome| outcome.per_second())),
    ];
    row.extend(compared(cell.ratio, cell.difference));
    row.extend([
        text(cell.why_not.as_deref().unwrap_or_default()),
        String::new(),
        String::new(),
        String::new(),
    ]);
    row
}

fn of_count(event: &str, cell: &CountedCell) -> Vec<String> {
    let mut row = vec![String::new(); 4];
    row.extend(compared(cell.ratio, cell.difference));
    row.extend([String::new(), text(event), number(cell.old), number(cell.new)]);
    row.extend([const { String::new() }; 4]);
    row
}

fn compared(ratio: Option<Ratio>, difference: Option<Difference>) -> [String; 4] {
    let interval = ratio.and_then(|ratio| ratio.interval);
    let difference = match difference {
        Some(Difference::Faster) => "faster",
        Some(Difference::Slower) => "slower",
        Some(Difference::None(_)) => "none",
        None => "",
    };
    [
        number(ratio.map(|ratio| ratio.ratio)),
        number(interval.map(|interval| interval.low)),
        number(interval.map(|interval| interval.high)),
        difference.to_owned(),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn text(text: &str) -> String {
    without_formula(text).into_owned()
}
