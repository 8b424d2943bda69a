//! Figures that others published, next to this run's, year by year: other hardware, other versions. They show how far
//! machines and engines together have come, and rank no contender.

use dyno_record::{ContenderRecord, Figure, Run, SourceRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::test_verdict::TestVerdict;

/// With more contenders than this, only those of engines that have published figures are shown with them.
const CROWD: usize = 12;

/// Published figures and today's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedFigures {
    /// The year of the oldest figures.
    pub since: u16,
    /// The mean over all tests that have published figures, where it says something, then each of these tests.
    pub series: Vec<PublishedSeries>,
    /// The sources of the figures whose year is known.
    pub sources: Vec<SourceRecord>,
}

/// The figures of a test, or the geometric means over several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSeries {
    /// The tests, by id: one, or those that the mean is over.
    pub tests: Vec<String>,
    /// True if the values are rates, of which more is better.
    pub rate: bool,
    /// The published figures, then those of this run.
    pub points: Vec<PublishedPoint>,
}

/// The figure of one system in one year.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PublishedPoint {
    /// The year.
    pub year: f64,
    /// Seconds, or a count per second.
    pub value: f64,
    /// The published system, or the label of a contender of this run.
    pub name: String,
    /// On what it was measured; absent of this run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// The engine of this run that it is, or is an old version of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The contender of this run that does the same, by its label: points of one contender belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contender: Option<String>,
    /// True if it was measured in this run.
    pub today: bool,
}

/// A system of an old page.
struct System<'a> {
    name: &'a str,
    year: u16,
    hardware: &'a str,
}

/// The figures published for a run's tests; none if no published figure has a known year.
pub(super) fn published(run: &Run, tests: &[TestVerdict]) -> Option<PublishedFigures> {
    let systems = systems(run);
    let since = systems.iter().map(|system| system.year).min()?;
    let tests: Vec<&TestVerdict> = tests.iter().filter(|test| !test.published.is_empty()).collect();
    let one = |tests: &[&TestVerdict]| PublishedSeries {
        tests: tests.iter().map(|test| test.id.clone()).collect(),
        rate: run.suite.figure == Figure::Rate,
        points: points(run, &systems, tests),
    };
    // A mean that no published system has part in says nothing of then and now.
    let has_old = |series: &PublishedSeries| series.points.iter().any(|point| !point.today);
    let mut series: Vec<PublishedSeries> =
        (tests.len() > 1).then(|| one(&tests)).filter(has_old).into_iter().collect();
    series.extend(tests.iter().map(|test| one(&[test])));
    let sources = run.suite.sources().iter().filter(|source| year(&source.source).is_some());
    Some(PublishedFigures { since, series, sources: sources.cloned().collect() })
}

/// The systems that have a figure in one of the run's tests, with the year of their source.
fn systems(run: &Run) -> Vec<System<'_>> {
    let mut systems: Vec<System> = Vec::new();
    for source in run.suite.sources() {
        let Some(year) = year(&source.source) else { continue };
        for name in &source.systems {
            let is_new = systems.iter().all(|system| system.name != name);
            if is_new && run.shown_tests().any(|test| test.published.contains_key(name)) {
                systems.push(System { name, year, hardware: &source.hardware });
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
fn points(run: &Run, systems: &[System], tests: &[&TestVerdict]) -> Vec<PublishedPoint> {
    let kins: Vec<Matches> = systems.iter().map(|system| kin(run, system.name)).collect();
    let mut points: Vec<PublishedPoint> = Vec::new();
    for (system, kin) in systems.iter().zip(&kins) {
        let seconds = |test: &TestVerdict| test.published.get(system.name).map(|seconds| seconds * 1e9);
        let Some(value) = mean(run, tests, seconds) else { continue };
        points.push(PublishedPoint {
            year: system.year.into(),
            value,
            name: system.name.to_owned(),
            hardware: Some(system.hardware.to_owned()),
            engine: kin.engine.map(str::to_owned),
            contender: kin.contender.map(|contender| contender.label.clone()),
            today: false,
        });
    }
    let Some(now) = run.started.get(..4).and_then(|year| year.parse::<f64>().ok()) else { return points };
    let shown: Vec<_> = run.shown_contenders().filter(|(_, contender)| !contender.harness).collect();
    let crowded = shown.len() > CROWD;
    let is_kin = |contender: &ContenderRecord| kins.iter().any(|kin| kin.engine == Some(&contender.engine));
    for (index, contender) in shown {
        if crowded && !is_kin(contender) {
            continue;
        }
        let median = |test: &TestVerdict| {
            let cell = test.cell(index).filter(|cell| cell.counts())?;
            cell.figures.summary.map(|summary| summary.median)
        };
        let Some(value) = mean(run, tests, median) else { continue };
        points.push(PublishedPoint {
            year: now,
            value,
            name: contender.label.clone(),
            hardware: None,
            engine: Some(contender.engine.clone()),
            contender: Some(contender.label.clone()),
            today: true,
        });
    }
    points
}

/// The geometric mean of the figures of some tests, in seconds or as a count per second. None if one is missing.
fn mean(run: &Run, tests: &[&TestVerdict], of: impl Fn(&TestVerdict) -> Option<f64>) -> Option<f64> {
    let values = tests.iter().map(|test| Some(test.quantity.figure(of(test)?)));
    let value = geometric_mean(&values.collect::<Option<Vec<f64>>>()?)?;
    Some(match run.suite.figure {
        Figure::Time => value / 1e9,
        Figure::Rate => value,
    })
}

/// The parts of a run that resemble an old system.
struct Matches<'a> {
    /// The engine, where it takes part.
    engine: Option<&'a str>,
    /// The contender that does what the old system did: a line joins the two.
    contender: Option<&'a ContenderRecord>,
}

/// The kin of a system such as `SQLite 2.7.0 (nosync)`, `Berkeley DB, transient` or `SQLite, mattn`: by the engine's
/// name or its capitals, and by a profile or a driver in brackets or after a comma.
fn kin<'a>(run: &'a Run, system: &str) -> Matches<'a> {
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
    Matches { engine: of_engine().next().map(|contender| contender.engine.as_str()), contender }
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
