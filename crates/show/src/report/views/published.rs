//! Figures that others published, on a time axis beside this run's: other hardware, other versions.

use dyno_record::{ContenderRecord, Run, TestRecord};
use dyno_suite as suite;
use dyno_verdict::{CellStanding, Verdict};
use serde::Serialize;

use crate::report::charts::{self, Chart, Figure, Point, Series};
use crate::report::contenders::web;
use crate::{Measure, notes};

/// With more contenders than this, only those of engines that have published figures stand beside them.
const CROWD: usize = 12;

/// The view.
#[derive(Debug, Serialize)]
pub(in crate::report) struct PublishedView {
    /// The year of the oldest figures.
    since: u16,
    figure: Figure,
    /// What can be chosen: the mean over all tests, then each test.
    series: Vec<String>,
    sources: Vec<SourceLine>,
}

/// Where figures come from.
#[derive(Debug, PartialEq, Serialize)]
struct SourceLine {
    source: String,
    hardware: String,
    link: Option<String>,
}

/// A system of an old page.
struct System {
    name: String,
    year: u16,
    hardware: String,
}

pub(in crate::report) fn published(run: &Run, verdict: &Verdict) -> Option<PublishedView> {
    let sources = notes::sources(run);
    let systems = systems(run, &sources);
    let since = systems.iter().map(|system| system.year).min()?;
    let tests: Vec<&TestRecord> = run.shown_tests().filter(|test| !test.published.is_empty()).collect();
    let one = |name: String, tests: &[&TestRecord]| Series {
        name,
        rate: run.suite.figure == dyno_record::Figure::Rate,
        points: points(run, verdict, &systems, tests),
    };
    let all = one(format!("{} tests (geometric mean)", tests.len()), &tests);
    // A mean that no published system has part in says nothing of then and now.
    let has_old = |series: &Series| tests.len() > 1 && series.points.iter().any(|point| !point.today);
    let mut series: Vec<Series> = Some(all).filter(has_old).into_iter().collect();
    series.extend(
        tests.iter().map(|test| one(format!("{} {}", test.id, test.title), std::slice::from_ref(test))),
    );
    let names = series.iter().map(|series| series.name.clone()).collect();
    let mut lines: Vec<SourceLine> = Vec::new();
    for source in sources.into_iter().filter(|source| year(&source.source).is_some()) {
        let line =
            SourceLine { link: web(source.link.as_ref()), source: source.source, hardware: source.hardware };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let what = match run.suite.figure {
        dyno_record::Figure::Time => "Time; lower is faster",
        dyno_record::Figure::Rate => "Rows or operations a second; higher is faster",
    };
    Some(PublishedView {
        since,
        figure: Figure::new(
            "Published figures and this run's for the same work, by year. Each test's section has the figures."
                .into(),
            &format!(
                "{what}. Logarithmic scale. Hollow: published, other hardware and other versions. Filled: this run. Dashed \
                 lines join the same engine and settings, old and new."
            ),
            13,
            &Chart::Years { series },
        ),
        series: names,
        sources: lines,
    })
}

/// The systems that have a figure in one of the run's tests, with the year of their source.
fn systems(run: &Run, sources: &[suite::Published]) -> Vec<System> {
    let mut systems: Vec<System> = Vec::new();
    for source in sources {
        let Some(year) = year(&source.source) else { continue };
        for name in source.seconds.keys().chain(source.rates.keys()) {
            let is_new = systems.iter().all(|system| system.name != *name);
            if is_new && run.shown_tests().any(|test| test.published.contains_key(name)) {
                systems.push(System { name: name.clone(), year, hardware: source.hardware.clone() });
            }
        }
    }
    systems
}

/// The last number in a source's name that can be a year.
fn year(source: &str) -> Option<u16> {
    let mut numbers =
        source.rsplit(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u16>().ok());
    numbers.find(|year| (1970..2100).contains(year))
}

/// The geometric mean over some tests, of each system and contender that has them all.
fn points(run: &Run, verdict: &Verdict, systems: &[System], tests: &[&TestRecord]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for system in systems {
        let seconds = |test: &TestRecord| test.published.get(&system.name).map(|seconds| seconds * 1e9);
        let Some((value, text)) = mean(run, tests, seconds) else { continue };
        let kin = kin(run, &system.name);
        points.push(Point {
            year: system.year.into(),
            value,
            label: system.name.clone(),
            text: format!("{}: {text}, published, {}", system.name, system.hardware),
            family: kin.contender.map(|contender| contender.label.clone()).unwrap_or_default(),
            colour: kin
                .engine
                .and_then(|engine| charts::engine_colour(run, engine))
                .unwrap_or(charts::UNKNOWN),
            today: false,
        });
    }
    let Some(now) = run.started.get(..4).and_then(|year| year.parse::<f64>().ok()) else { return points };
    let old: Vec<&str> = systems.iter().filter_map(|system| kin(run, &system.name).engine).collect();
    let shown: Vec<_> = run.shown_contenders().enumerate().filter(|(_, (_, c))| !c.harness).collect();
    let crowded = shown.len() > CROWD;
    for (place, (index, contender)) in shown {
        if crowded && !old.contains(&contender.engine.as_str()) {
            continue;
        }
        let median = |test: &TestRecord| {
            let cell = &verdict.tests.iter().find(|judged| judged.id == test.id)?.cells[place];
            let counts = cell.standing == CellStanding::Counts;
            cell.figures.summary.filter(|_| counts).map(|summary| summary.median)
        };
        let Some((value, text)) = mean(run, tests, median) else { continue };
        points.push(Point {
            year: now,
            value,
            label: contender.label.clone(),
            text: format!("{}: {text}, this run", contender.label),
            family: contender.label.clone(),
            colour: charts::colour(run, index),
            today: true,
        });
    }
    points
}

/// The geometric mean of what some tests show, in seconds or so many in a second, and as text. None where one
/// is missing.
fn mean(run: &Run, tests: &[&TestRecord], of: impl Fn(&TestRecord) -> Option<f64>) -> Option<(f64, String)> {
    let values = tests.iter().map(|test| Some(Measure::of(run, &test.id).value(of(test)?)));
    let value = geometric_mean(&values.collect::<Option<Vec<f64>>>()?)?;
    Some(match run.suite.figure {
        dyno_record::Figure::Time => (value / 1e9, format!("{} s", crate::significant(value / 1e9))),
        dyno_record::Figure::Rate => (value, crate::units::rate(value)),
    })
}

/// What of a run is like an old system.
struct Kin<'a> {
    /// The engine, where it takes part.
    engine: Option<&'a str>,
    /// The contender that does what the old system did: a line joins the two.
    contender: Option<&'a ContenderRecord>,
}

/// The kin of a system such as `SQLite 2.7.0 (nosync)`, `Berkeley DB, transient` or `SQLite, mattn`: by the engine's
/// name or its capitals, and by a profile or a driver in brackets or after a comma.
fn kin<'a>(run: &'a Run, system: &str) -> Kin<'a> {
    let (name, rest) = system.split_once([',', '(']).unwrap_or((system, ""));
    let way = rest.trim_matches([' ', ')']).to_lowercase();
    let capitals: String = name.chars().filter(char::is_ascii_uppercase).collect();
    let is_of = |engine: &str| name.to_lowercase().starts_with(engine) || capitals.to_lowercase() == engine;
    let contenders = || run.shown_contenders().map(|(_, contender)| contender);
    let of_engine = || contenders().filter(|contender| is_of(&contender.engine));
    let alike = |contender: &&ContenderRecord| match way.as_str() {
        "" => contender.label == contender.engine,
        way => {
            let labels = [format!("{}:{way}", contender.engine), format!("{}/{way}", contender.engine)];
            // The engine's own profile is not named in a label.
            labels.contains(&contender.label)
                || (contender.label == contender.engine && contender.profile == way)
        }
    };
    let contender = of_engine().find(alike);
    Kin { engine: of_engine().next().map(|contender| contender.engine.as_str()), contender }
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
        assert_eq!(year("SQLite speed comparison, 2002"), Some(2002));
        assert_eq!(year("version 3.0.7"), None);
    }

    #[test]
    fn a_mean_needs_positive_numbers() {
        assert!((geometric_mean(&[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[0.0, 1.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
