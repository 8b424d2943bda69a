//! The samples of one contender in one test, and the figures that rest on them.

use dyno_protocol::{Cost, Sample};
use dyno_record::{Run, SampleRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbances;
use crate::statistics::{Summary, median, summarize};

/// What the samples of one contender in one test say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Samples taken, warm-up left out.
    pub samples: usize,
    /// Those of them from blocks in which others took little of the measured CPUs' time.
    pub undisturbed: usize,
    /// Whether the figures rest on disturbed samples too, because too few blocks are undisturbed.
    pub rests_on_disturbed: bool,
    /// Whether only the first operations were timed, and the durations worked out for all of them.
    #[serde(default)]
    pub extrapolated: bool,
    /// Time in nanoseconds; absent without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What else the work took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
}

/// Medians of what a test took beside time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// Operations done.
    pub operations: f64,
    /// Rows returned and changed.
    pub rows: f64,
    /// CPU time in user mode, nanoseconds; here and below a server's processes are counted in, where it
    /// is a private one.
    pub user_ns: f64,
    /// CPU time in system mode, nanoseconds.
    pub system_ns: f64,
    /// Time waited for a processor, nanoseconds.
    pub wait_ns: f64,
    /// Bytes read from the device.
    pub device_read_bytes: f64,
    /// Bytes written to the device.
    pub device_written_bytes: f64,
    /// Largest resident memory, bytes: the runner's, and with a server that of its largest process.
    pub peak_memory_bytes: f64,
    /// Size of the database on disk after the test, bytes.
    pub database_bytes: f64,
}

/// The figures of a contender (by position) in a test (by id).
pub(super) fn figures(run: &Run, contender: usize, test: &str) -> Figures {
    let all: Vec<&SampleRecord> = measured(run, contender, test).map(|(_, sample)| sample).collect();
    let used = used(run, contender, test);
    let times: Vec<f64> = used.iter().map(|(_, sample)| sample.duration_ns()).collect();
    let disturbances = Disturbances::new(run);
    let is_quiet = |(block, _): &(u32, &SampleRecord)| !disturbances.disturbed.contains(block);
    let undisturbed = measured(run, contender, test).filter(is_quiet).count();
    Figures {
        samples: all.len(),
        undisturbed,
        rests_on_disturbed: used.iter().any(|sample| !is_quiet(sample)),
        // A mix that lasts a time has done more than the one operation that is judged.
        extrapolated: used
            .iter()
            .any(|(_, sample)| sample.extrapolated_to.is_some_and(|whole| whole > sample.sample.operations)),
        summary: summarize(&times, run.schedule.seed),
        costs: costs(&used),
    }
}

/// The samples on which figures rest, each with its block: those of undisturbed blocks where there are enough of these
/// for an interval, else all.
pub(super) fn used<'a>(run: &'a Run, contender: usize, test: &'a str) -> Vec<(u32, &'a SampleRecord)> {
    let disturbances = Disturbances::new(run);
    measured(run, contender, test).filter(|(block, _)| disturbances.counts(*block)).collect()
}

/// Block and nanoseconds of every measured sample of a contender in a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    /// Those on which the figures rest.
    pub used: Vec<(u32, f64)>,
    /// Those that were left out as disturbed.
    pub left_out: Vec<(u32, f64)>,
}

/// The samples of a contender (by position) in a test (by id).
pub(super) fn points(run: &Run, contender: usize, test: &str) -> Points {
    let blocks: Vec<u32> = used(run, contender, test).iter().map(|(block, _)| *block).collect();
    let all = measured(run, contender, test).map(|(block, sample)| (block, sample.duration_ns()));
    let (used, left_out) = all.partition(|(block, _)| blocks.contains(block));
    Points { used, left_out }
}

/// All samples of a contender in a test but those of the warm-up block, each with its block.
pub(super) fn measured<'a>(
    run: &'a Run,
    contender: usize,
    test: &'a str,
) -> impl Iterator<Item = (u32, &'a SampleRecord)> + 'a {
    let trials = run
        .trials
        .iter()
        .filter(move |trial| trial.contender == contender && trial.block > 0 && !trial.latency);
    trials.flat_map(move |trial| {
        let samples = trial.samples.iter().filter(move |sample| sample.sample.test == test);
        samples.map(move |sample| (trial.block, sample))
    })
}

fn costs(samples: &[(u32, &SampleRecord)]) -> Option<Costs> {
    let middle = |field: &dyn Fn(&Sample) -> u64| {
        let values: Vec<f64> = samples.iter().map(|(_, sample)| field(&sample.sample) as f64).collect();
        median(&values)
    };
    let spent = |field: fn(&Cost) -> u64| {
        middle(&|Sample { section, .. }| field(&section.client) + section.server.as_ref().map_or(0, field))
    };
    Some(Costs {
        operations: middle(&|sample| sample.operations)?,
        rows: middle(&|sample| sample.rows)?,
        user_ns: spent(|cost| cost.user_ns)?,
        system_ns: spent(|cost| cost.system_ns)?,
        wait_ns: spent(|cost| cost.wait_ns)?,
        device_read_bytes: spent(|cost| cost.device_read_bytes)?,
        device_written_bytes: spent(|cost| cost.device_written_bytes)?,
        peak_memory_bytes: spent(|cost| cost.peak_memory_bytes)?,
        database_bytes: middle(&|sample| sample.database_bytes)?,
    })
}
