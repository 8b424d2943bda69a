//! Compares two runs.

use anyhow::{Context, Result};
use dyno_verdict::statistics::{Difference, NoDifference};
use dyno_verdict::{CellComparison, Comparison, Gate, Outcome};

use super::grid::Grid;
use super::views::sustained::words;
use super::{figure, notes, plain, units, without_formula};

/// Tables for the terminal.
pub fn text(comparison: &Comparison) -> String {
    let mut parts: Vec<String> = grids(comparison).iter().map(plain).collect();
    parts.push(notes::paragraph(&legend(comparison)));
    parts.join("\n\n") + "\n"
}

/// The same tables as Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    super::markdown::comparison(&grids(comparison), &legend(comparison))
}

/// A table for each contender.
fn grids(comparison: &Comparison) -> Vec<Grid> {
    let contenders = comparison.contenders.iter().enumerate();
    contenders
        .map(|(place, label)| Grid {
            header: ["", label, "old", "new", "new / old"].map(String::from).to_vec(),
            rows: comparison
                .tests
                .iter()
                .map(|test| {
                    let cell = &test.cells[place];
                    let figure = |median: Option<f64>, sustained: Option<Outcome>| match sustained {
                        Some(outcome) => words::outcome(&outcome),
                        None => median.map_or("–".into(), units::duration),
                    };
                    vec![
                        test.id.clone(),
                        test.title.clone(),
                        figure(cell.old_ns, cell.old_sustained),
                        figure(cell.new_ns, cell.new_sustained),
                        change(cell),
                    ]
                })
                .collect(),
        })
        .collect()
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
        "{label}: {}, {}; no difference shown in {}, too few samples to tell in {}.",
        named("slower", Difference::Slower),
        named("faster", Difference::Faster),
        close.len(),
        few.len()
    )
}

/// The meaning of the columns in tests whose rate was searched for.
pub(crate) const SOUGHT: &str = "Where a rate was sought, the rates sustained stand here, and the ratio is the old rate over the new one: above 1 the new \
     run sustains less.";

fn legend(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![
        "The new median over the old one: above 1 is slower. The intervals hold for all comparisons together with \
         95 % confidence. ≈ no difference, and none beyond the margin can be: the interval excludes it. ? the trials do not show which is \
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
    lines.extend(
        comparison.contenders.iter().enumerate().map(|(place, label)| changed(comparison, place, label)),
    );
    lines.extend(comparison.changes.iter().map(|change| format!("Changed: {change}")));
    lines
}

/// The result of the gate, in a line: `gate: 0 of 30 slower than 5%, 30 undecided (2 trials; take 7)`.
pub fn gate(gate: &Gate, share: f64) -> String {
    let Gate { judged, slower, broken, undecided, fewest, enough } = *gate;
    if judged == 0 {
        return "gate: no test has figures in both runs, so nothing is decided".to_owned();
    }
    let mut line = format!("gate: {slower} of {judged} slower than {}", units::percent(share));
    if broken > 0 {
        line += &format!(", {broken} without figures in the new run");
    }
    let trials = |count: usize| format!("{count} trial{}", if count == 1 { "" } else { "s" });
    match fewest {
        _ if undecided == 0 => {}
        Some(fewest) if fewest < enough => {
            line += &format!(", {undecided} undecided ({}; take {enough})", trials(fewest));
        }
        _ => {
            line +=
                &format!(", {undecided} undecided (their intervals reach beyond it; more trials narrow them)")
        }
    }
    line
}

/// A line for each cell, as CSV.
pub fn csv(comparison: &Comparison) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
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
    writer.write_record(header).context("cannot write CSV")?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let text = |text: &str| without_formula(text).into_owned();
    let file = |place: usize| text(comparison.run_files.get(place).map_or("", String::as_str));
    for test in &comparison.tests {
        for (cell, label) in test.cells.iter().zip(&comparison.contenders) {
            let interval = cell.ratio.and_then(|ratio| ratio.interval);
            let difference = match cell.difference {
                Some(Difference::Faster) => "faster",
                Some(Difference::Slower) => "slower",
                Some(Difference::None(_)) => "none",
                None => "",
            };
            let record = [
                text(&test.id),
                text(&test.title),
                text(label),
                number(cell.old_ns),
                number(cell.new_ns),
                number(cell.old_sustained.and_then(|outcome| outcome.per_second())),
                number(cell.new_sustained.and_then(|outcome| outcome.per_second())),
                number(cell.ratio.map(|ratio| ratio.ratio)),
                number(interval.map(|interval| interval.low)),
                number(interval.map(|interval| interval.high)),
                difference.to_owned(),
                text(cell.why_not.as_deref().unwrap_or_default()),
                file(0),
                file(1),
            ];
            writer.write_record(record).context("cannot write CSV")?;
        }
    }
    String::from_utf8(writer.into_inner().context("cannot write CSV")?).context("cannot write CSV")
}
