//! Compares two runs.

mod conclusions;
mod csv_rows;
pub(crate) mod functions;

use dyno_record::Quantity;
use dyno_verdict::statistics::Difference;
use dyno_verdict::{CellComparison, Comparison, Outcome, TestComparison};

use super::grid::Grid;
use super::views::sustained::words;
use super::{figure, measure, notes, plain, units};
use conclusions::conclusions;

pub use csv_rows::csv;

/// Tables for the terminal.
pub fn text(comparison: &Comparison) -> String {
    let mut parts: Vec<String> = grids(comparison).iter().map(plain).collect();
    parts.push(notes::paragraph(&[legend(comparison), conclusions(comparison)].concat()));
    parts.join("\n\n") + "\n"
}

/// The same as Markdown, for a comment on a change: what is concluded comes first.
pub fn markdown(comparison: &Comparison) -> String {
    super::markdown::comparison(&conclusions(comparison), &grids(comparison), &legend(comparison))
}

/// A table for each contender, and then those of functions.
fn grids(comparison: &Comparison) -> Vec<Grid> {
    let contenders = comparison.contenders.iter().enumerate();
    let own = contenders.map(|(place, label)| Grid {
        header: ["", label, "old", "new", "new / old"].map(String::from).to_vec(),
        rows: comparison
            .tests
            .iter()
            .flat_map(|test| std::iter::once(time_row(test, place)).chain(count_rows(test, place)))
            .collect(),
    });
    own.chain(functions::grids(comparison)).collect()
}

/// The row of a contender's own figures in a test.
fn time_row(test: &TestComparison, contender: usize) -> Vec<String> {
    let cell = &test.cells[contender];
    let figure = |median: Option<f64>, sustained: Option<Outcome>| match sustained {
        Some(outcome) => words::outcome(&outcome),
        None => median.map_or("–".into(), units::duration),
    };
    let (old, new) = (figure(cell.old_ns, cell.old_sustained), figure(cell.new_ns, cell.new_sustained));
    vec![test.id.clone(), test.title.clone(), old, new, change(cell)]
}

/// The rows of its counts, of events that at least one of the runs counted.
fn count_rows(test: &TestComparison, contender: usize) -> impl Iterator<Item = Vec<String>> {
    let counted = test.counts.iter().map(move |count| (count, &count.cells[contender]));
    counted.filter(|(_, cell)| cell.old.is_some() || cell.new.is_some()).map(|(count, cell)| {
        let quantity = Quantity::Count { event: count.event.clone() };
        let figure = |count: Option<f64>| count.map_or("–".into(), |count| measure::text(&quantity, count));
        let change = figure::counts_ratio(cell.ratio.as_ref(), cell.difference);
        vec![String::new(), quantity.to_string(), figure(cell.old), figure(cell.new), change]
    })
}

fn change(cell: &CellComparison) -> String {
    let Some(ratio) = cell.ratio else { return "–".into() };
    let interval = ratio.interval.map_or(String::new(), |interval| {
        format!(" ({}–{})", units::significant(interval.low), units::significant(interval.high))
    });
    let word = match cell.difference {
        Some(Difference::Faster) => " faster",
        Some(Difference::Slower) => " slower",
        difference => figure::mark_of(difference),
    };
    format!("{}{interval}{word}", units::ratio(ratio.ratio))
}

/// The meaning of the columns in tests whose rate was searched for.
pub(crate) const SOUGHT: &str = "Where a rate was sought, the rates sustained stand here, and the ratio is the old rate over the new one: above 1 the new \
     run sustains less.";

fn legend(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![
        "The new median over the old one: above 1 is slower. The intervals hold for all comparisons together with \
         95% confidence. ≈ no difference is claimed: the interval excludes those beyond the margin, or it is smaller than what measuring costs. ? the trials do not show which is \
         faster: the interval includes 1.00, or there are too few trials."
            .to_owned(),
    ];
    let mut cells = comparison.tests.iter().flat_map(|test| &test.cells);
    if cells.any(|cell| cell.old_sustained.is_some() || cell.new_sustained.is_some()) {
        lines.push(SOUGHT.to_owned());
    }
    for test in &comparison.tests {
        for (cell, label) in test.cells.iter().zip(&comparison.contenders) {
            if let Some(why) = &cell.why_not {
                lines.push(format!("Not compared: {label} in test {}: {why}", test.id));
            }
        }
    }
    if comparison.tests.iter().any(|test| !test.counts.is_empty()) {
        lines.push(notes::COUNTS.to_owned() + ".");
    }
    lines.extend(functions::notes(comparison));
    lines
}
