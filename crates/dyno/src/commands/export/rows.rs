//! Every sample as a row, for notebooks: CSV here, Parquet where it is built in. Durations are nanoseconds,
//! sizes bytes. What no figure of a table rests on, warm-up and the harness, is there only where it is asked for.

use anyhow::{Context, Result};
use dyno_record::{Run, TrialRecord};
use dyno_show::without_formulas;
use dyno_verdict::Disturbances;
use serde::Serialize;

/// A sample. The columns of both formats, in this order; `docs/report.md` explains them; their names are those of the
/// run file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SampleRow {
    pub run: String,
    pub started: String,
    pub suite: String,
    pub test: String,
    pub title: String,
    pub contender: String,
    pub engine: String,
    pub engine_version: String,
    pub driver: String,
    pub profile: String,
    pub level: String,
    pub block: i64,
    pub warm_up: bool,
    pub disturbed: bool,
    /// The position of the answer among the run's different answers: equal numbers are equal answers.
    pub answer: i64,
    pub nanoseconds: i64,
    pub operations: i64,
    pub rows: i64,
    pub bytes: i64,
    pub user_ns: i64,
    pub system_ns: i64,
    pub wait_ns: i64,
    pub device_read_bytes: i64,
    pub device_written_bytes: i64,
    pub peak_memory_bytes: i64,
    pub database_bytes: i64,
    /// The result of checking the run file's seals.
    pub run_file: String,
}

/// The trials whose samples are exported: without `all` those that figures rest on. Trials of latency hold the cost of
/// a clock around every operation, and are never among them.
pub fn trials(run: &Run, all: bool) -> impl Iterator<Item = &TrialRecord> {
    let is_shown =
        move |trial: &&TrialRecord| all || (run.contenders[trial.contender].named && !is_warm_up(run, trial));
    run.trials.iter().filter(|trial| !trial.is_extra()).filter(is_shown)
}

/// Returns true if a trial only warms up.
pub fn is_warm_up(run: &Run, trial: &TrialRecord) -> bool {
    trial.block == 0 && run.schedule.warm_up
}

/// The rows of a run, in the order in which they were measured. `name` is that of its file.
pub fn rows(name: &str, run: &Run, all: bool) -> Vec<SampleRow> {
    let mut rows = Vec::new();
    let disturbances = Disturbances::new(run);
    for trial in trials(run, all) {
        let contender = &run.contenders[trial.contender];
        for record in &trial.samples {
            let sample = &record.sample;
            let (client, server) = (sample.section.client, sample.section.server.unwrap_or_default());
            let title = run.tests.iter().find(|test| test.id == sample.test).map(|test| test.title.clone());
            let hello = contender.hello.as_ref();
            rows.push(SampleRow {
                run: name.to_owned(),
                started: run.started.clone(),
                suite: run.suite.name.clone(),
                test: sample.test.clone(),
                title: title.unwrap_or_default(),
                contender: contender.label.clone(),
                engine: contender.engine.clone(),
                engine_version: hello.map(|hello| hello.engine_version.clone()).unwrap_or_default(),
                driver: contender.driver.clone(),
                profile: contender.profile.clone(),
                level: contender.safety.as_ref().map_or("", |safety| safety.level.name()).to_owned(),
                block: i64::from(trial.block),
                warm_up: is_warm_up(run, trial),
                disturbed: disturbances.disturbed.contains(&trial.block),
                answer: record.answer as i64,
                nanoseconds: whole(sample.section.nanoseconds),
                operations: whole(sample.operations),
                rows: whole(sample.rows),
                bytes: whole(sample.bytes),
                // A private server's processes are counted in, as everywhere.
                user_ns: whole(client.user_ns + server.user_ns),
                system_ns: whole(client.system_ns + server.system_ns),
                wait_ns: whole(client.wait_ns + server.wait_ns),
                device_read_bytes: whole(client.device_read_bytes + server.device_read_bytes),
                device_written_bytes: whole(client.device_written_bytes + server.device_written_bytes),
                peak_memory_bytes: whole(client.peak_memory_bytes + server.peak_memory_bytes),
                database_bytes: whole(sample.database_bytes),
                run_file: run.seals.to_string(),
            });
        }
    }
    rows
}

/// Counters are far below 2⁶³.
pub fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Rows as CSV with a header, which is there without a row too.
pub fn csv<R: Serialize + Default>(rows: &[R]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if rows.is_empty() {
        let mut text = csv::Writer::from_writer(Vec::new());
        text.serialize(R::default()).context("cannot write CSV")?;
        let text = text.into_inner().context("cannot write CSV")?;
        let header = text.split_inclusive(|byte| *byte == b'\n').next();
        return Ok(header.unwrap_or_default().to_vec());
    }
    for row in rows {
        writer.serialize(row).context("cannot write CSV")?;
    }
    without_formulas(&writer.into_inner().context("cannot write CSV")?).context("cannot write CSV")
}
