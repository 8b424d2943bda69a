//! Runs of several sizes as text, and as data for a plot.

use anyhow::Result;
use dyno_verdict::{Scaling, ScalingLine, ScalingPoint, ScalingTest};

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
    let tests = scaling.tests.iter();
    tests.flat_map(|test| [grid(scaling, test)].into_iter().chain(predicted(scaling, test))).collect()
}

/// The times that round trips predict, with the difference of those measured, where there are any.
fn predicted(scaling: &Scaling, test: &ScalingTest) -> Option<Grid> {
    let mut header = vec![String::new(), format!("{}: predicted", super::words::name(test))];
    header.extend(scaling.sizes.iter().map(|size| format!("{}={size}", scaling.parameter)));
    let lines = test.lines.iter().filter(|line| !line.predicted.is_empty());
    let row = |line: &ScalingLine| {
        let cell = |(predicted, point): (&Option<f64>, &Option<ScalingPoint>)| match (predicted, point) {
            (Some(predicted), Some(point)) => {
                let off = point.time.median / predicted - 1.0;
                format!("{} ({:+.1} %)", in_unit(*predicted, point), off * 100.0)
            }
            _ => "–".to_owned(),
        };
        let cells = line.predicted.iter().zip(&line.points).map(cell);
        [String::new(), line.contender.clone()].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = lines.map(row).collect();
    (!rows.is_empty()).then_some(Grid { header, rows })
}

/// A time as its point is shown: as a rate or as a duration.
fn in_unit(time_ns: f64, point: &ScalingPoint) -> String {
    match point.per_second {
        Some(per_second) => units::rate(per_second * point.time.median / time_ns),
        None => units::duration(time_ns),
    }
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
            Some(point) => super::words::figure(point, true),
        }));
        row
    });
    Grid { header, rows: rows.collect() }
}

/// The word by which the CSV of a run marks a sustained rate as known or as a bound; empty for other figures.
fn sustained(test: &ScalingTest, point: &ScalingPoint) -> &'static str {
    match (&test.target, point.at_least) {
        (None, _) => "",
        (Some(_), true) => "at-least",
        (Some(_), false) => "sustains",
    }
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
        "predicted_ns",
        "sustained",
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
                    number(line.predicted.get(place).copied().flatten()),
                    sustained(test, point).to_owned(),
                ])?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use dyno_record::Target;
    use dyno_verdict::statistics::Summary;

    use super::*;

    fn point(per_second: f64, at_least: bool) -> Option<ScalingPoint> {
        let apart = 1e9 / per_second;
        let time =
            Summary { n: 3, median: apart, sd: None, spread: None, min: apart, max: apart, interval: None };
        Some(ScalingPoint { per_second: Some(per_second), time, at_least })
    }

    /// A test with closed clients, and with rates that are sustained, of which the second is a bound.
    fn scaling() -> Scaling {
        let test = |target, is_bound| ScalingTest {
            id: "transfer".to_owned(),
            target,
            response: None,
            unit: Some("transactions".to_owned()),
            lines: vec![ScalingLine {
                contender: "sqlite:wal".to_owned(),
                points: vec![point(1000.0, false), point(2000.0, is_bound)],
                predicted: Vec::new(),
            }],
        };
        let target = Target { share: 0.99, within_ns: 10_000_000 };
        Scaling {
            suite: "bank".to_owned(),
            parameter: "clients".to_owned(),
            sizes: vec![1.0, 2.0],
            tests: vec![test(None, false), test(Some(target), true)],
            changes: Vec::new(),
            run_files: Vec::new(),
            contenders: Vec::new(),
        }
    }

    #[test]
    fn a_bound_is_marked_in_csv() {
        let text = csv(&scaling()).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let place = reader.headers().unwrap().iter().position(|name| name == "sustained").unwrap();
        let found: Vec<String> = reader.records().map(|record| record.unwrap()[place].to_owned()).collect();
        assert_eq!(found, ["", "", "sustains", "at-least"]);
    }

    #[test]
    fn a_bound_is_marked_and_explained_in_tables() {
        for shown in [text(&scaling()), markdown(&scaling())] {
            // One figure, the sign's explanation, and no other.
            assert_eq!(shown.matches('≥').count(), 2, "{shown}");
            assert!(shown.contains("≥ at least this"), "{shown}");
        }
    }
}
