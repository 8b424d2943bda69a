//! Runs of several sizes as text, and as data for a plot.

use anyhow::Result;

use super::grid::Grid;
use super::{json, markdown, notes, table, units};
use crate::cli::Format;
use crate::verdict::{Scaling, ScalingTest};

/// The scaling view in a format.
pub fn render(scaling: &Scaling, format: Format) -> Result<String> {
    let grids: Vec<Grid> = scaling.tests.iter().map(|test| grid(scaling, test)).collect();
    let legend = [format!(
        "{}: the median at each {}. Tests that count what they do show rows or operations a second, the others \
         durations.",
        scaling.suite, scaling.parameter
    )];
    match format {
        Format::Table => {
            let mut parts: Vec<String> = grids.iter().map(table::plain).collect();
            parts.push(notes::paragraph(&legend));
            Ok(parts.join("\n\n") + "\n")
        }
        Format::Markdown => Ok(markdown::comparison(&grids, &legend)),
        Format::Json => json::pretty(scaling),
        Format::Csv => lines(scaling),
    }
}

fn grid(scaling: &Scaling, test: &ScalingTest) -> Grid {
    let mut header = vec![String::new(), test.id.clone()];
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

/// A line for each point.
fn lines(scaling: &Scaling) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "test",
        "contender",
        scaling.parameter.as_str(),
        "per_second",
        "median_ns",
        "low_ns",
        "high_ns",
    ])?;
    for test in &scaling.tests {
        for line in &test.lines {
            for (size, point) in scaling.sizes.iter().zip(&line.points) {
                let Some(point) = point else { continue };
                let number =
                    |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
                writer.write_record([
                    test.id.clone(),
                    line.contender.clone(),
                    size.to_string(),
                    number(point.per_second),
                    point.time.median.to_string(),
                    number(point.time.interval.map(|interval| interval.low)),
                    number(point.time.interval.map(|interval| interval.high)),
                ])?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
