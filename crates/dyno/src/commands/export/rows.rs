//! Every sample as a row, for notebooks: CSV here, Parquet where it is built in. Durations are nanoseconds,
//! sizes bytes. The warm-up block is there like all others; nothing is left out.

use anyhow::{Context, Result};
use dyno_record::Run;
use dyno_verdict::Disturbances;
use serde::Serialize;

/// A sample. The columns of both formats, in this order; `docs/report.md` explains them; their names are those of the run file.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
}

/// The rows of a run, in the order in which they were measured. `name` is that of its file.
pub fn rows(name: &str, run: &Run) -> Vec<SampleRow> {
    let mut rows = Vec::new();
    let disturbances = Disturbances::new(run);
    // Trials of latency hold the cost of a clock around every operation.
    for trial in run.trials.iter().filter(|trial| !trial.latency) {
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
                warm_up: trial.block == 0,
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
            });
        }
    }
    rows
}

/// Counters are far below 2⁶³.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Rows as CSV with a header.
pub fn csv(rows: &[SampleRow]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).context("cannot write CSV")?;
    }
    writer.into_inner().context("cannot write CSV")
}
