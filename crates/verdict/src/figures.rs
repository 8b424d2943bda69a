//! The samples of one contender in one test, and the figures that rest on them.

use dyno_protocol::{Class, Cost, Sample, quantile};
use dyno_record::{Quantity, Run, SampleRecord, TestRecord, TrialRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbances;
use crate::statistics::{Summary, median, summarize};

/// The figures of one contender in one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Samples taken, warm-up left out.
    pub samples: usize,
    /// Those of them from blocks in which others took little of the measured CPUs' time.
    pub undisturbed: usize,
    /// True if the figures rest on disturbed samples too, because too few blocks are undisturbed.
    pub rests_on_disturbed: bool,
    /// True if only the first operations were timed, and the durations worked out for all of them.
    #[serde(default)]
    pub extrapolated: bool,
    /// The figures, in the unit of their quantity; absent without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The resources that the work took besides time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
}

/// Medians of the resources that a test took besides time.
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

/// The number by which a sample is judged; none if it has none of the quantity, or if too few operations lie beyond the
/// percentile.
fn number(quantity: &Quantity, sample: &SampleRecord) -> Option<f64> {
    match quantity {
        Quantity::Time | Quantity::Rate(_) => Some(sample.duration_ns()),
        Quantity::Response { class, share } => {
            let class = sample.sample.classes.iter().find(|reported| reported.class == *class)?;
            response(class, *share)
        }
        Quantity::Count { event } => sample.count(event),
    }
}

/// The response time that this share of a class's operations stayed within. Those that failed count as the slowest, and
/// those that were not done at the end with what they had waited. The longest response time is not of those that
/// failed.
fn response(class: &Class, share: f64) -> Option<f64> {
    let waited = class.waited()?;
    if share >= 1.0 {
        return Some(waited.max() as f64);
    }
    let is_enough = has_enough(waited.len() + class.failed, share);
    quantile(&waited, share, class.failed).filter(|_| is_enough).map(|time| time as f64)
}

/// The number of operations that must have taken longer than a percentile for it to be reported.
const BEYOND: f64 = 10.0;

/// Returns true if this number of operations is enough for a percentile, given as a share: with fewer it would show
/// chance alone.
pub(crate) fn has_enough(operations: u64, share: f64) -> bool {
    // The product may be a little less than the whole number that it is.
    (operations as f64 * (1.0 - share) + 1e-6).floor() >= BEYOND
}

/// True if figures of response times rest on all trials whose time is known, and all other figures.
pub(crate) fn is_of_all_trials(
    run: &Run,
    contender: usize,
    test: &str,
    (quantity, found): (&Quantity, &Figures),
) -> bool {
    let is_response = matches!(quantity, Quantity::Response { .. });
    !is_response || found.samples == measured(run, contender, test, quantity).count()
}

/// True if the share of operations that a figure is about takes in some, in a trial, that had no success: the figure is then
/// the longest time of the others, and the true one is longer.
pub(crate) fn takes_in_failed(
    run: &Run,
    disturbances: &Disturbances,
    contender: usize,
    test: &str,
    quantity: &Quantity,
) -> bool {
    // Histograms are unpacked only where something had no success.
    let is_beyond = |share: f64, never: u64, timed: &dyn Fn() -> u64| {
        never > 0 && {
            let timed = timed();
            share * (timed + never) as f64 > timed as f64
        }
    };
    used(run, disturbances, contender, test).any(|sample| match quantity {
        Quantity::Response { class, share } if *share < 1.0 => {
            let mut classes = sample.sample.classes.iter();
            let class = classes.find(|reported| reported.class == *class);
            class.is_some_and(|class| {
                is_beyond(*share, class.failed, &|| class.waited().map_or(0, |waited| waited.len()))
            })
        }
        Quantity::Time | Quantity::Rate(_) => sample
            .judged_percentile
            .is_some_and(|share| is_beyond(share, sample.never_timed(), &|| sample.timed())),
        Quantity::Response { .. } | Quantity::Count { .. } => false,
    })
}

/// The block and the number of every measured sample of a contender in a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    /// Those on which the figures rest.
    pub used: Vec<(u32, f64)>,
    /// Those that were left out as disturbed.
    pub left_out: Vec<(u32, f64)>,
}

impl Points {
    /// The numbers on which the figures rest.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.used.iter().map(|(_, number)| *number).collect()
    }
}

/// The figures of a contender (by position) in a test (by id), and the samples on which they rest: those of undisturbed
/// blocks where there are enough of these for an interval, else all.
pub(crate) fn figures(
    run: &Run,
    disturbances: &Disturbances,
    contender: usize,
    test: &str,
    quantity: &Quantity,
) -> (Figures, Points) {
    let reported = measured(run, contender, test, quantity);
    let reported = reported.filter_map(|(block, sample)| Some((block, sample, number(quantity, sample)?)));
    let (used, left_out): (Vec<_>, Vec<_>) = reported.partition(|(block, ..)| disturbances.counts(*block));
    let is_disturbed = |(block, ..): &&(u32, &SampleRecord, f64)| disturbances.disturbed.contains(block);
    let disturbed = used.iter().filter(is_disturbed).count();
    let numbers: Vec<f64> = used.iter().map(|(_, _, number)| *number).collect();
    let costs = match quantity {
        Quantity::Time | Quantity::Rate(_) => {
            costs(&used.iter().map(|(_, sample, _)| &sample.sample).collect::<Vec<_>>())
        }
        Quantity::Response { .. } | Quantity::Count { .. } => None,
    };
    // A mix that lasts a time has done more than the one operation that is judged.
    let is_extrapolated = |(_, sample, _): &(u32, &SampleRecord, f64)| {
        sample.extrapolated_to.is_some_and(|whole| whole > sample.sample.operations)
    };
    let figures = Figures {
        samples: used.len() + left_out.len(),
        undisturbed: used.len() - disturbed,
        rests_on_disturbed: disturbed > 0,
        extrapolated: used.iter().any(is_extrapolated),
        summary: summarize(&numbers, run.schedule.seed),
        costs,
    };
    let points =
        |all: Vec<(u32, &SampleRecord, f64)>| all.iter().map(|&(block, _, number)| (block, number)).collect();
    (figures, Points { used: points(used), left_out: points(left_out) })
}

/// The samples of a contender (by position) in a test (by id) on which figures rest.
pub(crate) fn used<'a>(
    run: &'a Run,
    disturbances: &'a Disturbances,
    contender: usize,
    test: &'a str,
) -> impl Iterator<Item = &'a SampleRecord> {
    let counts = |(block, _): &(u32, &SampleRecord)| disturbances.counts(*block);
    measured(run, contender, test, &Quantity::Time).filter(counts).map(|(_, sample)| sample)
}

/// Returns true if what a trial measured stands. It does not where it failed after all of its tests: when the database
/// had been closed and opened again, it did not hold what they had left.
pub(crate) fn stands(run: &Run, trial: &TrialRecord) -> bool {
    let has_sample = |test: &TestRecord| trial.samples.iter().any(|sample| sample.sample.test == test.id);
    let lacks = |test: &TestRecord| run.contenders[trial.contender].lacks.contains(&test.id);
    trial.failure.is_none() || !run.tests.iter().all(|test| lacks(test) || has_sample(test))
}

/// Returns true if a measured trial of a contender (by position) failed before it had a sample of a test (by id), or
/// does not stand.
pub(crate) fn failed_in(run: &Run, contender: usize, test: &str) -> bool {
    let its = run.trials.iter().filter(|trial| trial.contender == contender && trial.is_measured());
    let has_sample = |trial: &TrialRecord| trial.samples.iter().any(|sample| sample.sample.test == test);
    its.filter(|trial| trial.failure.is_some()).any(|trial| !has_sample(trial) || !stands(run, trial))
}

/// All samples of a contender in a test but those of the warm-up block, each with its block. Where a rate is sought
/// there are none: each trial has another.
fn measured<'a>(
    run: &'a Run,
    contender: usize,
    test: &'a str,
    quantity: &Quantity,
) -> impl Iterator<Item = (u32, &'a SampleRecord)> + 'a {
    let takes_part = match quantity {
        Quantity::Count { .. } => TrialRecord::may_count,
        Quantity::Time | Quantity::Rate(_) | Quantity::Response { .. } => TrialRecord::is_measured,
    };
    let is_its = move |trial: &&TrialRecord| trial.contender == contender && takes_part(trial);
    let trials = run.trials.iter().filter(is_its).filter(|trial| stands(run, trial));
    let trials = trials.filter(move |_| run.target_of(test).is_none());
    trials.flat_map(move |trial| {
        let samples = trial.samples.iter().filter(move |sample| sample.sample.test == test);
        samples.map(move |sample| (trial.block, sample))
    })
}

fn costs(samples: &[&Sample]) -> Option<Costs> {
    let middle = |field: &dyn Fn(&Sample) -> u64| {
        let values: Vec<f64> = samples.iter().map(|sample| field(sample) as f64).collect();
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
