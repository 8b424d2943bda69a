//! Runs of several sizes side by side: how fast each contender is as one parameter grows.

use anyhow::{Context, Result, bail, ensure};
use dyno_record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CellStanding, judge};
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
}

/// One test at all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingTest {
    /// Its id.
    pub id: String,
    /// The contenders of all runs, in the order in which they first appear.
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
pub fn scaling(runs: &[Run]) -> Result<Scaling> {
    let first = runs.first().context("no run is named")?;
    if let Some(other) = runs.iter().find(|run| run.suite.name != first.suite.name) {
        bail!("the runs are of two suites, {} and {}", first.suite.name, other.suite.name);
    }
    let parameter = differing(runs)?;
    let size = |run: &Run| {
        run.suite.parameters.get(&parameter).and_then(|value| value.to_string().parse::<f64>().ok())
    };
    let mut sized: Vec<(f64, &Run)> = Vec::new();
    for run in runs {
        let size = size(run).with_context(|| format!("the parameter {parameter} is no number"))?;
        ensure!(sized.iter().all(|(known, _)| *known != size), "two runs have {parameter}={size}");
        sized.push((size, run));
    }
    sized.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shown = |run: &Run, id: &str| run.shown_tests().any(|test| test.id == id);
    let tests = first.shown_tests().filter(|test| runs.iter().all(|run| shown(run, &test.id)));
    Ok(Scaling {
        suite: first.suite.name.clone(),
        parameter,
        sizes: sized.iter().map(|(size, _)| *size).collect(),
        tests: lines(&tests.map(|test| test.id.clone()).collect::<Vec<_>>(), &sized),
    })
}

fn lines(tests: &[String], sized: &[(f64, &Run)]) -> Vec<ScalingTest> {
    let judged: Vec<_> = sized.iter().map(|(_, run)| (run, judge(run))).collect();
    let mut labels: Vec<&str> = Vec::new();
    for (_, contender) in sized.iter().flat_map(|(_, run)| run.shown_contenders()) {
        if !labels.contains(&contender.label.as_str()) {
            labels.push(&contender.label);
        }
    }
    let point = |test: &str, label: &str, (run, verdict): &(&&Run, super::Verdict)| {
        let cells = &verdict.tests.iter().find(|judged| judged.id == test)?.cells;
        let cell = cells.iter().find(|cell| run.contenders[cell.contender].label == label)?;
        let time = cell.figures.summary.filter(|_| cell.standing == CellStanding::Counts)?;
        let amount = run.tests.iter().find(|record| record.id == test)?.amount.as_ref();
        let per_second = amount.map(|amount| amount.count as f64 / time.median * 1e9);
        Some(ScalingPoint { per_second, time })
    };
    let line = |test: &String, label: &str| ScalingLine {
        contender: label.to_owned(),
        points: judged.iter().map(|run| point(test, label, run)).collect(),
    };
    let test = |id: &String| ScalingTest {
        id: id.clone(),
        lines: labels.iter().map(|label| line(id, label)).collect(),
    };
    tests.iter().map(test).collect()
}

/// The one parameter in which the runs differ.
fn differing(runs: &[Run]) -> Result<String> {
    let first = &runs[0].suite.parameters;
    let differs = |name: &str| runs.iter().any(|run| run.suite.parameters.get(name) != first.get(name));
    let names: Vec<&str> = first.iter().map(|(name, _)| name).filter(|name| differs(name)).collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => bail!("the runs differ in no parameter; name runs of several sizes"),
        _ => bail!("the runs differ in more than one parameter: {}", names.join(", ")),
    }
}
