//! The latencies of the operations of a sample, one row for each class and, where they were timed, for each of its
//! statements. Durations are nanoseconds.

use dyno_protocol::{Class, quantile};
use dyno_record::Run;
use dyno_verdict::Disturbances;
use serde::Serialize;

use super::rows::{is_warm_up, trials, whole};

/// A class of operations in a sample; `docs/report.md` explains the columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ClassRow {
    pub run: String,
    pub suite: String,
    pub test: String,
    pub contender: String,
    pub engine: String,
    pub level: String,
    pub block: i64,
    pub warm_up: bool,
    pub disturbed: bool,
    pub class: String,
    pub done: i64,
    pub failed: i64,
    pub retried: i64,
    pub p50_ns: Option<i64>,
    pub p90_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    pub p999_ns: Option<i64>,
    pub most_ns: Option<i64>,
    /// The text of the statement that the row is about; empty in the row of the class.
    pub statement: String,
    pub mean_ns: Option<f64>,
    pub run_file: String,
}

/// The rows of a run. `name` is that of its file.
pub fn rows(name: &str, run: &Run, all: bool) -> Vec<ClassRow> {
    let disturbances = Disturbances::new(run);
    let mut rows = Vec::new();
    for trial in trials(run, all) {
        let contender = &run.contenders[trial.contender];
        for sample in trial.samples.iter().map(|record| &record.sample) {
            rows.extend(sample.classes.iter().flat_map(all_of).map(|row| ClassRow {
                run: name.to_owned(),
                suite: run.suite.name.clone(),
                test: sample.test.clone(),
                contender: contender.label.clone(),
                engine: contender.engine.clone(),
                level: contender.safety.as_ref().map_or("", |safety| safety.level.name()).to_owned(),
                block: i64::from(trial.block),
                warm_up: is_warm_up(run, trial),
                disturbed: disturbances.disturbed.contains(&trial.block),
                run_file: run.seals.to_string(),
                ..row
            }));
        }
    }
    rows
}

/// The row of a class, and those of its statements.
fn all_of(class: &Class) -> Vec<ClassRow> {
    let statements = class.statements.iter().map(|statement| {
        let executions =
            Class { class: class.class.clone(), response: statement.response.clone(), ..Class::default() };
        let done = executions.response.histogram().ok().flatten().map_or(0, |histogram| histogram.len());
        ClassRow { statement: statement.text.clone(), ..of_class(&Class { done, ..executions }) }
    });
    [of_class(class)].into_iter().chain(statements).collect()
}

/// The row of one class. Operations that never succeeded count as slower than all others, as in every table.
fn of_class(class: &Class) -> ClassRow {
    let histogram = class.response.histogram().ok().flatten();
    let at = |share: f64| quantile(histogram.as_ref()?, share, class.failed).map(whole);
    ClassRow {
        class: class.class.clone(),
        done: whole(class.done),
        failed: whole(class.failed),
        retried: whole(class.retried),
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        most_ns: at(1.0),
        mean_ns: histogram.as_ref().map(|histogram| histogram.mean()),
        ..ClassRow::default()
    }
}
