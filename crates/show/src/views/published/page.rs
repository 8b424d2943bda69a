//! Figures that others published, on a time axis with this run's: other hardware, other versions.

use dyno_record::Figure as Shown;
use dyno_verdict::{PublishedPoint, PublishedSeries, Verdict};
use serde::Serialize;

use crate::report::charts::{self, Chart, Figure, Point, Series};
use crate::report::contenders::web;
use crate::units;

/// The view.
#[derive(Debug, Serialize)]
pub struct PublishedView {
    /// The year of the oldest figures.
    since: u16,
    figure: Figure,
    /// The choices: the mean over all tests, then each test.
    series: Vec<String>,
    sources: Vec<SourceLine>,
}

/// The source of figures.
#[derive(Debug, PartialEq, Serialize)]
struct SourceLine {
    source: String,
    hardware: String,
    link: Option<String>,
}

/// The view of a run of which some tests have published figures.
pub fn page(verdict: &Verdict) -> Option<PublishedView> {
    let found = verdict.views.published.as_ref()?;
    let series: Vec<Series> = found.series.iter().map(|series| drawn(verdict, series)).collect();
    let names = series.iter().map(|series| series.name.clone()).collect();
    let mut lines: Vec<SourceLine> = Vec::new();
    for source in &found.sources {
        let line = SourceLine {
            link: web(source.link.as_ref()),
            source: source.source.clone(),
            hardware: source.hardware.clone(),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let what = match verdict.about.suite.figure {
        Shown::Time => "Time; lower is faster",
        Shown::Rate => "Rows or operations a second; higher is faster",
    };
    Some(PublishedView {
        since: found.since,
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

fn drawn(verdict: &Verdict, series: &PublishedSeries) -> Series {
    let name = match &series.tests[..] {
        [test] => format!("{test} {}", verdict.test(test).map_or("", |test| &test.title)),
        tests => format!("{} tests (geometric mean)", tests.len()),
    };
    let points = series.points.iter().map(|point| Point {
        year: point.year,
        value: point.value,
        label: point.name.clone(),
        text: text(point, series.rate),
        family: point.contender.clone().unwrap_or_default(),
        colour: point
            .engine
            .as_ref()
            .and_then(|engine| charts::engine_colour(verdict, engine))
            .unwrap_or(charts::UNKNOWN),
        today: point.today,
    });
    Series { name, rate: series.rate, points: points.collect() }
}

/// A point in words.
fn text(point: &PublishedPoint, rate: bool) -> String {
    let figure = match rate {
        true => units::rate(point.value),
        false => format!("{} s", units::significant(point.value)),
    };
    match &point.hardware {
        Some(hardware) => format!("{}: {figure}, published, {hardware}", point.name),
        None => format!("{}: {figure}, this run", point.name),
    }
}
