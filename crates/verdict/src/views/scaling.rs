//! Runs of several sizes side by side: how fast each contender is as one parameter grows.

use anyhow::{Context, Result, bail, ensure};
use dyno_record::{ContenderRecord, Quantity, Seals, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::predicted;
use super::sustained::Outcome;
use crate::cell::CellStanding;
use crate::changes::changes;
use crate::compare::same_load;
use crate::judge::Verdict;
use crate::statistics::{Interval, Summary};
use crate::test_verdict::TestVerdict;

/// The parameter of runs that differ in what dyno added to each round trip, in milliseconds.
const DELAY: &str = "delay_ms";

/// The figures of several runs of one suite at several sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// The suite's name.
    pub suite: String,
    /// The parameter that differs.
    pub parameter: String,
    /// Its values, ascending.
    pub sizes: Vec<f64>,
    /// The tests that every run has.
    pub tests: Vec<ScalingTest>,
    /// The other differences between two runs of neighbouring sizes, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The results of checking the seals of the run files, one for each size, in words.
    #[serde(default)]
    pub run_files: Vec<String>,
    /// The contenders of all runs, in the order in which they first appear.
    #[serde(skip)]
    pub contenders: Vec<ContenderRecord>,
}

/// One test at all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingTest {
    /// Its id.
    pub id: String,
    /// The target, if the points are sustained rates; absent if they are rates achieved without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The class and percentile, as `transfer: 99 % within`, if the points are the class's response times; absent if
    /// they are the test's own figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// The unit counted per second, as `transactions`; absent if a test does not say how much it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The contenders of all runs, smallest size first, in the order in which they first appear.
    pub lines: Vec<ScalingLine>,
}

/// One contender in one test at all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingLine {
    /// Its label.
    pub contender: String,
    /// A point for each size; none where it took no part or its answer was wrong.
    pub points: Vec<Option<ScalingPoint>>,
    /// Of runs that differ in the delay, where round trips were counted: the predicted time of the same work at each
    /// size, in nanoseconds, by its time at delay 0 and its round trips; none at delay 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<Option<f64>>,
}

impl ScalingLine {
    /// The size at which the rate is highest, as its position among the sizes, and the point.
    pub fn most(&self) -> Option<(usize, ScalingPoint)> {
        let points = self.points.iter().enumerate().filter_map(|(place, point)| Some((place, (*point)?)));
        let rate = |(_, point): &(usize, ScalingPoint)| point.per_second.unwrap_or(0.0);
        points.max_by(|a, b| rate(a).total_cmp(&rate(b)))
    }
}

/// A contender's figure at one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPoint {
    /// Rows or operations a second, by the median; absent where a test does not say how much it does.
    pub per_second: Option<f64>,
    /// The times that it rests on.
    pub time: Summary,
    /// True if a target held in every trial, so that the rate that is sustained may be higher.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// Sets runs side by side.
///
/// # Errors
/// They are of several suites, or differ in no parameter or in more than one.
pub fn scaling(runs: &[&Verdict]) -> Result<Scaling> {
    let first = runs.first().context("no run is named")?;
    let suite = |run: &Verdict| run.about.suite.name.clone();
    if let Some(other) = runs.iter().find(|run| suite(run) != suite(first)) {
        bail!("the runs are of two suites, {} and {}", suite(first), suite(other));
    }
    same_load(runs)?;
    let parameter = differing(runs)?;
    let sized = by_size(runs, &parameter)?;
    let in_order: Vec<&Verdict> = sized.iter().map(|(_, run)| *run).collect();
    let labels = contenders(&in_order);
    let line = |test: &TestVerdict, target: Option<Target>, label: &str| {
        let point = |run: &&Verdict| match target {
            None => point(run, &test.id, label),
            Some(target) => sustained(run, &test.id, target, label),
        };
        let points: Vec<_> = in_order.iter().map(point).collect();
        let amount = test.amount.as_ref().map(|amount| amount.count);
        let trips = predicted::of_test(&in_order, &test.id, amount, label).filter(|_| target.is_none());
        let predicted = predicted::predicted(&in_order, &medians(&points), trips);
        ScalingLine { contender: label.to_owned(), points, predicted }
    };
    let shared = first.tests.iter().filter(|test| runs.iter().all(|run| run.test(&test.id).is_some()));
    let tests = shared.flat_map(|test| {
        let sought = runs.iter().flat_map(|run| &run.views.sustained).filter(|found| found.test == test.id);
        let mut targets = vec![None];
        for target in sought.map(|found| Some(found.target)) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        let lines = |target| labels.iter().map(|contender| line(test, target, &contender.label)).collect();
        let own = targets.into_iter().map(move |target| ScalingTest {
            id: test.id.clone(),
            unit: test.amount.as_ref().map(|amount| amount.unit.clone()),
            lines: lines(target),
            response: None,
            target,
        });
        own.chain(responses(&in_order, &test.id, &labels))
    });
    Ok(Scaling {
        suite: suite(first),
        sizes: sized.iter().map(|(size, _)| *size).collect(),
        tests: tests.collect(),
        changes: unlike(&in_order).into_iter().chain(unsealed(&parameter, &sized)).collect(),
        run_files: in_order.iter().map(|run| run.about.seals.to_string()).collect(),
        contenders: contenders(runs).into_iter().cloned().collect(),
        parameter,
    })
}

/// The runs with their sizes by a parameter, the smallest first.
///
/// # Errors
/// The parameter is no number in a run, or two runs have the same size.
fn by_size<'v>(runs: &[&'v Verdict], parameter: &str) -> Result<Vec<(f64, &'v Verdict)>> {
    let size = |run: &Verdict| match run.about.limits.added_ms() {
        Some(added) if parameter == DELAY => Some(added),
        _ => run.about.suite.parameters.get(parameter).and_then(|value| value.to_string().parse().ok()),
    };
    let mut sized: Vec<(f64, &Verdict)> = Vec::new();
    for &run in runs {
        let size = size(run).with_context(|| format!("the parameter {parameter} is no number"))?;
        ensure!(sized.iter().all(|(known, _)| *known != size), "two runs have {parameter}={size}");
        sized.push((size, run));
    }
    sized.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(sized)
}

/// The classes of a test (by id) that all runs judge by the same share, in the suite's order.
fn responses<'v>(runs: &[&'v Verdict], test: &str, labels: &[&ContenderRecord]) -> Vec<ScalingTest> {
    let of = |run: &'v Verdict, quantity: &Quantity| {
        run.test(test)?.responses.iter().find(|response| response.quantity == *quantity)
    };
    let reported = runs.iter().take(1).filter_map(|run| run.test(test)).flat_map(|test| &test.responses);
    let quantities = reported.map(|response| &response.quantity);
    let shared = quantities.filter(|quantity| runs.iter().all(|run| of(run, quantity).is_some()));
    let line = |quantity: &Quantity, label: &str| {
        let point = |run: &&'v Verdict| {
            let cell =
                of(run, quantity)?.cells.iter().find(|cell| run.contenders[cell.contender].label == label)?;
            let time = cell.figures.summary.filter(|_| cell.counts())?;
            Some(ScalingPoint { per_second: None, time, at_least: false })
        };
        let points: Vec<_> = runs.iter().map(point).collect();
        let trips = match quantity {
            Quantity::Response { class, .. } => predicted::of_class(runs, test, class, label),
            _ => None,
        };
        let predicted = predicted::predicted(runs, &medians(&points), trips);
        ScalingLine { contender: label.to_owned(), points, predicted }
    };
    let shared = shared.map(|quantity| ScalingTest {
        id: test.to_owned(),
        target: None,
        unit: None,
        lines: labels.iter().map(|contender| line(quantity, &contender.label)).collect(),
        response: Some(title(quantity, test)),
    });
    shared.collect()
}

/// The time of each point, in nanoseconds.
fn medians(points: &[Option<ScalingPoint>]) -> Vec<Option<f64>> {
    points.iter().map(|point| point.map(|point| point.time.median)).collect()
}

/// The name of a class's figures among those of several tests: `use, log-in: 90 % within`, or `transfer: 99 % within`
/// where the class has the test's name.
fn title(quantity: &Quantity, test: &str) -> String {
    match quantity {
        Quantity::Response { class, .. } if class == test => quantity.to_string(),
        _ => format!("{test}, {quantity}"),
    }
}

/// The contenders shown of some runs, each once, in the order in which they first appear.
fn contenders<'a>(runs: &[&'a Verdict]) -> Vec<&'a ContenderRecord> {
    let mut found: Vec<&ContenderRecord> = Vec::new();
    for (_, contender) in runs.iter().flat_map(|run| run.shown_contenders()) {
        if found.iter().all(|known| known.label != contender.label) {
            found.push(contender);
        }
    }
    found
}

fn point(run: &Verdict, test: &str, label: &str) -> Option<ScalingPoint> {
    let test = run.test(test)?;
    let cell = test.cells.iter().find(|cell| run.contenders[cell.contender].label == label)?;
    if cell.standing == CellStanding::Sought {
        // Runs that search for a rate are compared by the rate of closed clients.
        let mut found = run.views.sustained.iter().filter(|found| found.test == test.id);
        let lines = &found.next()?.lines;
        let line = lines.iter().find(|line| line.contender == cell.contender)?;
        return Some(of_rate(line.closed, None, 1));
    }
    let time = cell.figures.summary.filter(|_| cell.counts())?;
    let per_second = test.amount.as_ref().map(|amount| amount.count as f64 / time.median * 1e9);
    Some(ScalingPoint { per_second, time, at_least: false })
}

/// The rate that a contender sustains with a target.
fn sustained(run: &Verdict, test: &str, target: Target, label: &str) -> Option<ScalingPoint> {
    let cell = run.test(test)?.cells.iter().find(|cell| run.contenders[cell.contender].label == label)?;
    let found = run.views.sustained.iter().find(|found| found.test == test && found.target == target)?;
    let line = found.lines.iter().find(|line| line.contender == cell.contender)?;
    let interval = match line.outcome {
        Outcome::Sustains { interval, .. } => interval,
        Outcome::AtLeast { .. } | Outcome::NotSustained { .. } => None,
    };
    let rate = line.outcome.per_second().filter(|_| cell.standing == CellStanding::Sought)?;
    let at_least = matches!(line.outcome, Outcome::AtLeast { .. });
    Some(ScalingPoint { at_least, ..of_rate(rate, interval, line.tries.len()) })
}

/// A rate as a point: its times are those between two operations.
fn of_rate(rate: f64, interval: Option<Interval>, n: usize) -> ScalingPoint {
    let apart = 1e9 / rate;
    let interval = interval.map(|ends| Interval { low: 1e9 / ends.high, high: 1e9 / ends.low });
    let time = Summary { n, median: apart, sd: None, spread: None, min: apart, max: apart, interval };
    ScalingPoint { per_second: Some(rate), time, at_least: false }
}

/// The run files that are not as dyno wrote them, or of which nothing shows whether they are.
fn unsealed(parameter: &str, sized: &[(f64, &Verdict)]) -> Vec<String> {
    let unsealed = sized.iter().filter(|(_, run)| run.about.seals != Seals::Whole);
    unsealed
        .map(|(size, run)| format!("the file of the run with {parameter}={size} {}", run.about.seals))
        .collect()
}

/// Every change from one of these runs to the next other than the size, each once.
fn unlike(runs: &[&Verdict]) -> Vec<String> {
    let mut unlike: Vec<String> = Vec::new();
    for pair in runs.windows(2) {
        let [was, is] = [pair[0], pair[1]];
        let both = |label: &String| {
            [was, is].iter().all(|run| run.shown_contenders().any(|(_, c)| c.label == *label))
        };
        let labels: Vec<String> =
            was.shown_contenders().map(|(_, contender)| contender.label.clone()).filter(both).collect();
        for change in changes((&was.about, &was.contenders), (&is.about, &is.contenders), &labels) {
            if !unlike.contains(&change) {
                unlike.push(change);
            }
        }
    }
    unlike
}

/// The one parameter in which the runs differ; [`DELAY`] if that is the network.
fn differing(runs: &[&Verdict]) -> Result<String> {
    let first = &runs[0].about.suite.parameters;
    let delay = |run: &Verdict| run.about.limits.round_trip_ns;
    let is_delay = runs.iter().any(|run| delay(run) != delay(runs[0]));
    ensure!(
        !is_delay || runs.iter().all(|run| delay(run).is_some()),
        "the clients of one run reached their servers directly, and those of another with --delay; name runs with --delay \
         only, where 0 is one that adds nothing"
    );
    let differs = |name: &str| runs.iter().any(|run| run.about.suite.parameters.get(name) != first.get(name));
    let names: Vec<&str> = first.iter().map(|(name, _)| name).filter(|name| differs(name)).collect();
    match names[..] {
        [] if is_delay => Ok(DELAY.to_owned()),
        [name] if !is_delay => Ok(name.to_owned()),
        _ if is_delay => bail!("the runs differ in more than one parameter: --delay, {}", names.join(", ")),
        [] => bail!("the runs differ in no parameter; name runs of several sizes"),
        _ => bail!("the runs differ in more than one parameter: {}", names.join(", ")),
    }
}
