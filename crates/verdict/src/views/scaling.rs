//! Runs of several sizes side by side: how fast each contender is as one parameter grows.

use anyhow::{Context, Result, bail, ensure};
use dyno_record::ContenderRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compare::same_load;
use crate::judge::Verdict;
use crate::statistics::Summary;

/// What several runs say of one suite at several sizes.
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
    /// What is known of the contenders of all runs, in the order in which they first appear.
    #[serde(skip)]
    pub contenders: Vec<ContenderRecord>,
}

/// One test at all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingTest {
    /// Its id.
    pub id: String,
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
}

/// How fast a contender was at one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPoint {
    /// Rows or operations a second, by the median; absent where a test does not say how much it does.
    pub per_second: Option<f64>,
    /// The times that it rests on.
    pub time: Summary,
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
    let size = |run: &Verdict| {
        run.about.suite.parameters.get(&parameter).and_then(|value| value.to_string().parse::<f64>().ok())
    };
    let mut sized: Vec<(f64, &Verdict)> = Vec::new();
    for &run in runs {
        let size = size(run).with_context(|| format!("the parameter {parameter} is no number"))?;
        ensure!(sized.iter().all(|(known, _)| *known != size), "two runs have {parameter}={size}");
        sized.push((size, run));
    }
    sized.sort_by(|a, b| a.0.total_cmp(&b.0));
    let in_order: Vec<&Verdict> = sized.iter().map(|(_, run)| *run).collect();
    let labels = contenders(&in_order);
    let line = |test: &str, label: &str| ScalingLine {
        contender: label.to_owned(),
        points: in_order.iter().map(|run| point(run, test, label)).collect(),
    };
    let shared = first.tests.iter().filter(|test| runs.iter().all(|run| run.test(&test.id).is_some()));
    let tests = shared.map(|test| ScalingTest {
        id: test.id.clone(),
        lines: labels.iter().map(|contender| line(&test.id, &contender.label)).collect(),
    });
    Ok(Scaling {
        suite: suite(first),
        sizes: sized.iter().map(|(size, _)| *size).collect(),
        tests: tests.collect(),
        contenders: contenders(runs).into_iter().cloned().collect(),
        parameter,
    })
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
    let time = cell.figures.summary.filter(|_| cell.counts())?;
    let per_second = test.amount.as_ref().map(|amount| amount.count as f64 / time.median * 1e9);
    Some(ScalingPoint { per_second, time })
}

/// The one parameter in which the runs differ.
fn differing(runs: &[&Verdict]) -> Result<String> {
    let first = &runs[0].about.suite.parameters;
    let differs = |name: &str| runs.iter().any(|run| run.about.suite.parameters.get(name) != first.get(name));
    let names: Vec<&str> = first.iter().map(|(name, _)| name).filter(|name| differs(name)).collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => bail!("the runs differ in no parameter; name runs of several sizes"),
        _ => bail!("the runs differ in more than one parameter: {}", names.join(", ")),
    }
}
