//! Data for the page's charts: figures, already computed and named. `charts.js` has one function for each kind.

use dyno_verdict::statistics::{Interval, Ratio};
use dyno_verdict::{Percentiles, Verdict};
use minijinja::Value;
use serde::Serialize;

use super::assets;
use super::words;

/// The number of colours in the style. Further engines share them, and every row is labelled with its name.
const COLOURS: usize = 8;
/// The colour of a system that is not one of the run's engines.
pub(crate) const UNKNOWN: usize = 5;
/// Times further apart than this are drawn on a logarithmic axis.
const WIDE: f64 = 12.0;

/// A chart with its words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    /// The description for screen readers.
    pub label: String,
    /// The text below the chart.
    pub caption: String,
    /// About how many lines high it is, so that the page does not move when it is drawn.
    pub lines: usize,
    /// The chart as JSON.
    pub data: Value,
}

impl Figure {
    pub(crate) fn new(label: String, caption: &str, lines: usize, chart: &Chart) -> Figure {
        Figure { label, caption: caption.to_owned(), lines, data: assets::json(chart) }
    }

    /// That of a view whose table says it all: nothing is drawn.
    pub(crate) fn none() -> Figure {
        Figure { label: String::new(), caption: String::new(), lines: 0, data: Value::from(()) }
    }
}

/// A chart.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Chart {
    /// Every sample of each contender, with median and interval. Nanoseconds; where figures are rates, `count`
    /// is how much was done in them.
    Samples {
        log: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
        rows: Vec<Row<Samples>>,
    },
    /// Ratios with their intervals, around one.
    Ratios { log: bool, percent: bool, rows: Vec<Row<RatioRow>> },
    /// Figures of several years: seconds, or operations of a test in a second.
    Years { series: Vec<Series> },
    /// Figures at several sizes, in adjacent panels. Nanoseconds, or operations in a second.
    Scaling { parameter: String, sizes: Vec<f64>, series: Vec<ScalingSeries> },
    /// Rungs of a ladder, each from the rate of the one that it changes to its own. Rows a second.
    Ladder { series: Vec<TestLines<LadderRow>> },
    /// Percentiles of durations in rows. Nanoseconds.
    Latency { series: Vec<LatencySeries> },
    /// The operations in each second of each trial, in rows.
    Timeline { series: Vec<TestLines<Row<TimelineRow>>> },
    /// The instructions of functions in two builds, as blocks below their files.
    Functions { series: Vec<TestLines<FunctionBlock>> },
}

/// A line of a chart: a heading or a contender.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Row<T> {
    /// A heading over the lines that follow.
    Head { head: String },
    /// A contender.
    Line(T),
}

/// The samples of a contender.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Samples {
    pub label: String,
    /// The number of its colour.
    pub colour: usize,
    /// The median as text, or the reason why it is missing.
    pub text: String,
    pub median: Option<f64>,
    pub interval: Option<Interval>,
    /// Block and nanoseconds of each sample that counts.
    pub used: Vec<(u32, u64)>,
    /// Those that were left out because they were disturbed.
    pub left_out: Vec<(u32, u64)>,
}

/// A ratio with its interval.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RatioRow {
    pub label: String,
    pub colour: usize,
    pub text: String,
    pub ratio: f64,
    pub interval: Option<Interval>,
}

/// Points of one test, or of the mean of all.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Series {
    pub name: String,
    /// True if the points are rates: more is better.
    pub rate: bool,
    pub points: Vec<Point>,
}

/// The result of one system in one year.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Point {
    pub year: f64,
    /// Seconds, or operations in a second.
    pub value: f64,
    pub label: String,
    pub text: String,
    /// Points of one family are joined by a line.
    pub family: String,
    pub colour: usize,
    /// True if it was measured in this run.
    pub today: bool,
}

/// One test at all sizes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScalingSeries {
    pub name: String,
    pub rate: bool,
    pub panels: Vec<Panel>,
}

/// Contenders that may be compared.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Panel {
    pub head: String,
    pub lines: Vec<ScalingLine>,
}

/// One contender at all sizes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScalingLine {
    pub label: String,
    pub colour: usize,
    pub points: Vec<ScalingPoint>,
}

/// One contender at one size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ScalingPoint {
    pub size: f64,
    pub value: f64,
    pub interval: Option<Interval>,
    /// True if the figure may be higher.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    pub text: String,
}

/// The lines of one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TestLines<T> {
    pub name: String,
    pub rows: Vec<T>,
}

/// A rung.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LadderRow {
    pub label: String,
    pub text: String,
    /// The place of its safety level, the safest first.
    pub level: usize,
    pub rate: Option<f64>,
    pub interval: Option<Interval>,
    /// The rate of the rung that it changes.
    pub from: Option<f64>,
    /// True if that one is directly above it.
    pub next: bool,
    pub published: Option<f64>,
}

/// The percentiles of one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LatencySeries {
    pub name: String,
    /// The cost of reading the clock, which each duration includes.
    pub clock: Option<u64>,
    pub rows: Vec<Row<LatencyRow>>,
}

/// The percentiles of a contender.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LatencyRow {
    pub label: String,
    pub colour: usize,
    pub text: String,
    pub percentiles: Percentiles,
}

/// The seconds of a contender.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TimelineRow {
    pub label: String,
    /// The number of its colour.
    pub colour: usize,
    /// The text next to the bars.
    pub text: String,
    /// Its usual number of operations in a second.
    pub usual: f64,
    /// Operations in each second of each trial.
    pub trials: Vec<Vec<f64>>,
    /// The share of each in which the disk was busy; `None` if that is not known.
    pub busy: Vec<Vec<Option<f64>>>,
    /// The number of events of background work of the engine in each.
    pub made: Vec<Vec<u64>>,
    /// Other activity in each, in words.
    pub beside: Vec<Vec<String>>,
}

/// A function in two builds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FunctionBlock {
    /// The file, whose functions follow one another.
    pub file: String,
    pub label: String,
    /// The difference.
    pub text: String,
    pub before: f64,
    pub now: f64,
}

/// The colour of a contender: its engine's.
pub(crate) fn colour(verdict: &Verdict, contender: usize) -> usize {
    engine_colour(verdict, &verdict.contenders[contender].engine).unwrap_or(0)
}

/// The colour of an engine, in the order in which the run's contenders name them.
pub(crate) fn engine_colour(verdict: &Verdict, engine: &str) -> Option<usize> {
    let mut engines: Vec<&str> = Vec::new();
    for (_, contender) in verdict.shown_contenders() {
        if !engines.contains(&contender.engine.as_str()) {
            engines.push(&contender.engine);
        }
    }
    engines.iter().position(|known| *known == engine).map(|place| place % COLOURS)
}

/// The lines of several groups, each under its heading; a single group has one only where asked for.
pub(crate) fn grouped<T>(mut groups: Vec<(impl Into<String>, Vec<T>)>, always: bool) -> Vec<Row<T>> {
    groups.retain(|(_, lines)| !lines.is_empty());
    let headed = always || groups.len() > 1;
    let mut rows = Vec::new();
    for (head, lines) in groups {
        if headed {
            rows.push(Row::Head { head: head.into() });
        }
        rows.extend(lines.into_iter().map(Row::Line));
    }
    rows
}

/// A chart of ratios; its axis is logarithmic where they are far apart.
pub(crate) fn ratios(rows: Vec<Row<RatioRow>>, percent: bool) -> Chart {
    let lines = rows.iter().filter_map(|row| match row {
        Row::Line(line) => Some(line),
        Row::Head { .. } => None,
    });
    let ends = lines.flat_map(|line| {
        let interval = line.interval.unwrap_or(Interval { low: line.ratio, high: line.ratio });
        [interval.low, interval.high, line.ratio, 1.0]
    });
    Chart::Ratios { log: is_wide(ends, 4.0), percent, rows }
}

/// A line of a chart of ratios.
pub(crate) fn ratio_row(label: &str, colour: usize, ratio: &Ratio, percent: bool) -> RatioRow {
    let text = if percent { words::change(ratio.ratio) } else { crate::ratio(ratio.ratio) };
    RatioRow { label: label.to_owned(), colour, text, ratio: ratio.ratio, interval: ratio.interval }
}

/// A chart of samples, as rates of `count` where there is one.
pub(crate) fn samples(rows: Vec<Row<Samples>>, count: Option<u64>) -> Chart {
    let medians = rows.iter().filter_map(|row| match row {
        Row::Line(line) => line.median,
        Row::Head { .. } => None,
    });
    Chart::Samples { log: is_wide(medians, WIDE), count, rows }
}

/// True if the largest of some numbers is more than `factor` times the smallest.
fn is_wide(numbers: impl Iterator<Item = f64>, factor: f64) -> bool {
    let (low, high) = numbers.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    low > 0.0 && high > factor * low
}
