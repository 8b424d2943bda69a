//! What the page's script draws: figures as data, already computed and named. `charts.js` has one function
//! for each kind.

use dyno_verdict::statistics::{Interval, Ratio};
use dyno_verdict::{Percentiles, Verdict};
use minijinja::Value;
use serde::Serialize;

use super::assets;
use super::words;

/// How many colours the style has; engines beyond that share them, and every row has its name beside it.
const COLOURS: usize = 8;
/// The colour of what is none of the run's engines.
pub(crate) const UNKNOWN: usize = 5;
/// Times further apart than this are drawn on a logarithmic axis.
const WIDE: f64 = 12.0;

/// A chart with its words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    /// What a screen reader says of it.
    pub label: String,
    /// What stands below it.
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
    /// Figures of several years: seconds, or so many of a test in a second.
    Years { series: Vec<Series> },
    /// Figures at several sizes, in panels beside each other. Nanoseconds, or so many in a second.
    Scaling { parameter: String, sizes: Vec<f64>, series: Vec<ScalingSeries> },
    /// Rungs of a ladder, each from the rate of the one that it changes to its own. Rows a second.
    Ladder { series: Vec<LadderSeries> },
    /// Percentiles of durations in rows. Nanoseconds.
    Latency { series: Vec<LatencySeries> },
    /// What was done in each second of each trial, in rows.
    Timeline { series: Vec<TimelineSeries> },
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
    /// The median as text, or why there is none.
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
    /// Whether the points are rates, of which more is better.
    pub rate: bool,
    pub points: Vec<Point>,
}

/// What one system did in one year.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Point {
    pub year: f64,
    /// Seconds, or so many in a second.
    pub value: f64,
    pub label: String,
    pub text: String,
    /// Points of one family are joined by a line.
    pub family: String,
    pub colour: usize,
    /// Whether it was measured in this run.
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
    pub text: String,
}

/// The rungs in one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LadderSeries {
    pub name: String,
    pub rows: Vec<LadderRow>,
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
    /// Whether that one stands right above it.
    pub next: bool,
    pub published: Option<f64>,
}

/// The percentiles of one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LatencySeries {
    pub name: String,
    /// What a reading of the clock costs, which each duration holds.
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

/// The seconds of a test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TimelineSeries {
    pub name: String,
    pub rows: Vec<Row<TimelineRow>>,
}

/// The seconds of a contender.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TimelineRow {
    pub label: String,
    /// The number of its colour.
    pub colour: usize,
    /// What stands beside the bars.
    pub text: String,
    /// What it usually did in a second.
    pub usual: f64,
    /// For each trial what was done in each of its seconds.
    pub trials: Vec<Vec<f64>>,
    /// For which share of each the disk was busy; none where that is not known.
    pub busy: Vec<Vec<Option<f64>>>,
    /// How often in each the engine did what it does by itself.
    pub made: Vec<Vec<u64>>,
    /// What else went on in each, in words.
    pub beside: Vec<Vec<String>>,
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

/// Whether the largest of some numbers is more than `factor` times the smallest.
fn is_wide(numbers: impl Iterator<Item = f64>, factor: f64) -> bool {
    let (low, high) = numbers.fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
    low > 0.0 && high > factor * low
}
