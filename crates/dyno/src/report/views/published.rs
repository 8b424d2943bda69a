//! Figures that others published, on a time axis beside this run's: other hardware, other versions.

use serde::Serialize;

use crate::output::notes;
use crate::record::{Run, TestRecord};
use crate::report::charts::{self, Chart, Figure, Point, Series};
use crate::report::contenders::web;
use crate::verdict::{CellStanding, Verdict};

/// The view.
#[derive(Debug, Serialize)]
pub(in crate::report) struct PublishedView {
    figure: Figure,
    /// What can be chosen: the mean over all tests, then each test.
    series: Vec<String>,
    sources: Vec<SourceLine>,
}

/// Where figures come from.
#[derive(Debug, Serialize)]
struct SourceLine {
    source: String,
    hardware: String,
    link: Option<String>,
}

/// A system of an old page.
struct System {
    name: String,
    year: f64,
    hardware: String,
}

pub(in crate::report) fn published(run: &Run, verdict: &Verdict) -> Option<PublishedView> {
    let sources = notes::sources(run);
    let mut systems = Vec::new();
    for source in &sources {
        let Some(year) = year(&source.source) else { continue };
        systems.extend(source.seconds.keys().map(|name| System {
            name: name.clone(),
            year,
            hardware: source.hardware.clone(),
        }));
    }
    systems.retain(|system| run.shown_tests().any(|test| test.published.contains_key(&system.name)));
    if systems.is_empty() {
        return None;
    }
    let tests: Vec<&TestRecord> = run.shown_tests().collect();
    let mut series = vec![Series {
        name: format!("All {} tests (geometric mean)", tests.len()),
        points: points(run, verdict, &systems, &tests),
    }];
    series.extend(tests.iter().map(|test| Series {
        name: format!("{} {}", test.id, test.title),
        points: points(run, verdict, &systems, std::slice::from_ref(test)),
    }));
    let names = series.iter().map(|series| series.name.clone()).collect();
    Some(PublishedView {
        figure: Figure::new(
            "Seconds that published pages and this run give for the same statements, by year. Each test's \
             section has the figures."
                .into(),
            "Time, logarithmic. Hollow: published, other hardware and other versions. Filled: this run.",
            10,
            &Chart::Years { series },
        ),
        series: names,
        sources: sources
            .into_iter()
            .map(|source| SourceLine {
                link: web(source.link.as_ref()),
                source: source.source,
                hardware: source.hardware,
            })
            .collect(),
    })
}

/// The last number in a source's name that can be a year.
fn year(source: &str) -> Option<f64> {
    let mut numbers =
        source.rsplit(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u16>().ok());
    numbers.find(|year| (1970..2100).contains(year)).map(f64::from)
}

/// The geometric mean over some tests, of each system that has them all.
fn points(run: &Run, verdict: &Verdict, systems: &[System], tests: &[&TestRecord]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for system in systems {
        let seconds = tests.iter().map(|test| test.published.get(&system.name).copied());
        let Some(seconds) = seconds.collect::<Option<Vec<f64>>>().and_then(|all| geometric_mean(&all)) else {
            continue;
        };
        let (family, colour) = family(run, &system.name);
        points.push(Point {
            year: system.year,
            seconds,
            label: system.name.clone(),
            text: format!(
                "{}: {} s, published, {}",
                system.name,
                crate::output::significant(seconds),
                system.hardware
            ),
            family,
            colour,
            today: false,
        });
    }
    let Some(now) = run.started.get(..4).and_then(|year| year.parse::<f64>().ok()) else { return points };
    for (place, (index, contender)) in run.shown_contenders().enumerate().filter(|(_, (_, c))| !c.harness) {
        let seconds = tests.iter().map(|test| {
            let cell = &verdict.tests.iter().find(|judged| judged.id == test.id)?.cells[place];
            let counts = cell.standing == CellStanding::Counts;
            cell.figures.summary.filter(|_| counts).map(|summary| summary.median / 1e9)
        });
        let Some(seconds) = seconds.collect::<Option<Vec<f64>>>().and_then(|all| geometric_mean(&all)) else {
            continue;
        };
        points.push(Point {
            year: now,
            seconds,
            label: contender.label.clone(),
            text: format!("{}: {} s, this run", contender.label, crate::output::significant(seconds)),
            family: if contender.label == contender.engine {
                contender.engine.clone()
            } else {
                String::new()
            },
            colour: charts::colour(run, index),
            today: true,
        });
    }
    points
}

/// The engine of an old system, where it is one of the run's, and its colour. Variants such as
/// "(nosync)" belong to no family: a line joins the plain ones.
fn family(run: &Run, system: &str) -> (String, usize) {
    let name = system.to_lowercase();
    let engines = run.shown_contenders().map(|(_, contender)| contender.engine.as_str());
    let Some(engine) = engines.into_iter().find(|engine| name.starts_with(engine)) else {
        return (String::new(), 5);
    };
    let colour = charts::engine_colour(run, engine).unwrap_or(5);
    if name.contains('(') { (String::new(), colour) } else { (engine.to_owned(), colour) }
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    let usable = !values.is_empty() && values.iter().all(|value| *value > 0.0);
    usable.then(|| (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_found_in_the_names_of_sources() {
        assert_eq!(year("SQLite speed comparison, 2002"), Some(2002.0));
        assert_eq!(year("version 3.0.7"), None);
    }

    #[test]
    fn a_mean_needs_positive_numbers() {
        assert!((geometric_mean(&[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[0.0, 1.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
