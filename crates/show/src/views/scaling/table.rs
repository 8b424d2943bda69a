//! Runs of several sizes as text, and as data for a plot.

use anyhow::Result;
use dyno_verdict::{Scaling, ScalingTest};

use crate::grid::Grid;
use crate::{notes, plain, units, without_formula, wrapped};

/// Tables for the terminal.
pub fn text(scaling: &Scaling) -> String {
    let sentences = super::words::sentences(scaling);
    let mut parts: Vec<String> = sentences.iter().map(|said| wrapped(said, "", "  ")).collect();
    parts.extend(grids(scaling).iter().map(plain));
    parts.push(notes::paragraph(&notes(scaling)));
    parts.join("\n\n") + "\n"
}

/// The same tables as Markdown.
pub fn markdown(scaling: &Scaling) -> String {
    let notes: Vec<String> = super::words::sentences(scaling).into_iter().chain(notes(scaling)).collect();
    crate::markdown::comparison(&[], &grids(scaling), &notes)
}

/// A table for each test.
fn grids(scaling: &Scaling) -> Vec<Grid> {
    scaling.tests.iter().map(|test| grid(scaling, test)).collect()
}

/// Notes on the meaning of the figures, on missing ones, and on other differences between the runs.
fn notes(scaling: &Scaling) -> Vec<String> {
    std::iter::once(legend(scaling)).chain(super::words::notes(scaling)).collect()
}

fn legend(scaling: &Scaling) -> String {
    format!(
        "{}: the median at each value of {}. Tests that count what they do show rows or operations a second, the others \
         durations.",
        scaling.suite, scaling.parameter
    )
}

fn grid(scaling: &Scaling, test: &ScalingTest) -> Grid {
    let mut header = vec![String::new(), super::words::name(test)];
    header.extend(scaling.sizes.iter().map(|size| format!("{}={size}", scaling.parameter)));
    let rows = test.lines.iter().map(|line| {
        let mut row = vec![String::new(), line.contender.clone()];
        row.extend(line.points.iter().map(|point| match point {
            None => "–".to_owned(),
            Some(point) => point.per_second.map_or(units::duration(point.time.median), units::rate),
        }));
        row
    });
    Grid { header, rows: rows.collect() }
}

/// A line for each point, as CSV.
pub fn csv(scaling: &Scaling) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "test",
        "contender",
        &without_formula(&scaling.parameter),
        "per_second",
        "median_ns",
        "low_ns",
        "high_ns",
        "run_file",
    ])?;
    for test in &scaling.tests {
        for line in &test.lines {
            for (place, (size, point)) in scaling.sizes.iter().zip(&line.points).enumerate() {
                let Some(point) = point else { continue };
                let run_file = scaling.run_files.get(place).map(String::as_str).unwrap_or_default();
                let number =
                    |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
                writer.write_record([
                    without_formula(&super::words::name(test)).into_owned(),
                    without_formula(&line.contender).into_owned(),
                    size.to_string(),
                    number(point.per_second),
                    point.time.median.to_string(),
                    number(point.time.interval.map(|interval| interval.low)),
                    number(point.time.interval.map(|interval| interval.high)),
                    without_formula(run_file).into_owned(),
                ])?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
