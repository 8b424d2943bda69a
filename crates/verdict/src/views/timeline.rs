//! Throughput second by second, and stalls: of tests whose operations were counted by second.

use std::collections::BTreeMap;

use dyno_protocol::{Response, Tick};
use dyno_record::{ActivitySample, Pressure, Run, SampleRecord, TestRecord, TrialRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stalls::stalls;
use crate::disturbance::Disturbances;
use crate::figures::stands;
use crate::statistics::median;

/// The number of seconds that a trial must have before one of them may be called slow.
const FEW: usize = 5;
/// A last part of a trial shorter than this share of a second is left out: chance alone would decide.
const WHOLE: f64 = 0.5;

/// The seconds of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// The test's id.
    pub test: String,
    /// The contenders shown that have any, in order.
    pub lines: Vec<TimelineLine>,
}

/// The seconds of a contender in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The measured trials, in order.
    pub trials: Vec<Vec<Second>>,
    /// The usual operations per second: the median of all trials.
    pub usual: f64,
    /// The number of stalls: no operation succeeded for at least 100 ms, in which 20 usually do. In older files:
    /// consecutive seconds, in each of which less than a tenth of the usual number was done.
    pub stalls: usize,
    /// The longest stall, in nanoseconds, to a hundredth of a second.
    pub longest_ns: u64,
    /// Other activity in these seconds; absent if it is unknown for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<BackgroundActivity>,
}

/// Other activity while clients were at work: means over all seconds for which it is known, as shares of the time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundActivity {
    /// The disk was at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy: Option<f64>,
    /// One or more processes of the machine waited for a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_some: Option<f64>,
    /// One or more waited for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_some: Option<f64>,
    /// All that had something to do did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_full: Option<f64>,
    /// One or more waited for reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_some: Option<f64>,
    /// All did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_full: Option<f64>,
    /// The number of the engine's own maintenance events by kind, in all of these seconds together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub upkeep: BTreeMap<String, u64>,
}

/// A second, or what was left of the time at the end of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Second {
    /// The end of this second, in nanoseconds since the section began.
    pub ended_ns: u64,
    /// The operations that succeeded, scaled to a whole second.
    pub per_second: f64,
    /// The number that never succeeded.
    pub failed: u64,
    /// The number of repeated tries.
    pub retried: u64,
    /// The slowest operation, in nanoseconds; 0 if none succeeded.
    pub slowest_ns: u64,
    /// Its duration, in nanoseconds.
    pub lasted_ns: u64,
    /// Other activity in it; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<ActivitySample>,
}

impl Second {
    /// A part of it as a share.
    pub fn share(&self, nanoseconds: u64) -> f64 {
        nanoseconds as f64 / self.lasted_ns.max(1) as f64
    }
}

/// The seconds of every test whose trials have enough of them.
pub(super) fn timelines(run: &Run) -> Vec<Timeline> {
    // Each trial of a rate search has another rate, so it has no usual second.
    let disturbances = Disturbances::new(run);
    let tests = run.shown_tests().filter(|test| run.target_of(&test.id).is_none());
    let tests = tests.map(|test| Timeline {
        test: test.id.clone(),
        lines: run
            .shown_contenders()
            .filter_map(|(contender, _)| line(run, &disturbances, contender, test))
            .collect(),
    });
    tests.filter(|timeline| !timeline.lines.is_empty()).collect()
}

fn line(
    run: &Run,
    disturbances: &Disturbances,
    contender: usize,
    record: &TestRecord,
) -> Option<TimelineLine> {
    let test = &*record.id;
    let is_its = |trial: &&TrialRecord| {
        trial.contender == contender
            && trial.is_measured()
            && disturbances.counts(trial.block)
            && stands(run, trial)
    };
    let samples = run.trials.iter().filter(is_its).flat_map(|trial| &trial.samples);
    let samples = samples.filter(|sample| sample.sample.test == test);
    let reported: Vec<(&SampleRecord, Vec<Second>)> =
        samples.map(|sample| (sample, seconds(sample))).filter(|(_, seconds)| seconds.len() >= FEW).collect();
    let (samples, trials): (Vec<&SampleRecord>, Vec<Vec<Second>>) = reported.into_iter().unzip();
    let rates: Vec<f64> = trials.iter().flatten().map(|second| second.per_second).collect();
    let usual = median(&rates)?;
    let stalls = samples.iter().zip(&trials).flat_map(|(sample, trial)| {
        let seconds = trial.iter().map(|second| (second.ended_ns, second.per_second));
        stalls(&sample.sample.ticks, seconds, usual)
    });
    // Where arrivals become more and fewer by plan, no second is usual, and those in which few arrive are no stalls.
    let is_planned = record.clients.as_ref().is_some_and(|clients| clients.course.is_some());
    let stalls: Vec<u64> = stalls.filter(|_| !is_planned).collect();
    Some(TimelineLine {
        contender,
        surroundings: surroundings(&trials),
        trials,
        usual,
        stalls: stalls.len(),
        longest_ns: stalls.into_iter().max().unwrap_or(0),
    })
}

/// The means over the seconds of all trials.
fn surroundings(trials: &[Vec<Second>]) -> Option<BackgroundActivity> {
    let known = || trials.iter().flatten().filter_map(|second| Some((second, second.around.as_ref()?)));
    known().next()?;
    let mean = |part: &dyn Fn(&ActivitySample) -> Option<u64>| {
        let parts = known().filter_map(|(second, around)| Some((part(around)?, second.lasted_ns)));
        let (spent, lasted) = parts.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        (lasted > 0).then(|| spent as f64 / lasted as f64)
    };
    let waited =
        |part: fn(&Pressure) -> u64| mean(&|around: &ActivitySample| around.pressure.as_ref().map(part));
    let mut upkeep = BTreeMap::new();
    for (name, times) in known().flat_map(|(_, around)| &around.upkeep) {
        *upkeep.entry(name.clone()).or_default() += times;
    }
    Some(BackgroundActivity {
        disk_busy: mean(&|around: &ActivitySample| around.disk_busy_ns),
        cpu_some: waited(|pressure| pressure.cpu_some_ns),
        memory_some: waited(|pressure| pressure.memory_some_ns),
        memory_full: waited(|pressure| pressure.memory_full_ns),
        io_some: waited(|pressure| pressure.io_some_ns),
        io_full: waited(|pressure| pressure.io_full_ns),
        upkeep,
    })
}

fn seconds(record: &SampleRecord) -> Vec<Second> {
    let ticks = &record.sample.ticks;
    let starts = std::iter::once(0).chain(ticks.iter().map(|tick| tick.ended_ns));
    let around = record.around.iter().map(Some).chain(std::iter::repeat(None));
    let lasting = ticks.iter().zip(starts).zip(around);
    let lasting = lasting.map(|((tick, start), around)| (tick, tick.ended_ns.saturating_sub(start), around));
    let whole = lasting.filter(|(_, lasted, _)| *lasted as f64 >= WHOLE * 1e9);
    whole.map(|(tick, lasted, around)| second(tick, lasted, around)).collect()
}

fn second(tick: &Tick, lasted: u64, around: Option<&ActivitySample>) -> Second {
    let sum = |count: fn(&dyno_protocol::Class) -> u64| tick.classes.iter().map(count).sum::<u64>();
    let all = Response::merged(tick.classes.iter().map(|class| &class.response));
    Second {
        ended_ns: tick.ended_ns,
        per_second: sum(|class| class.done) as f64 / (lasted as f64 / 1e9),
        failed: sum(|class| class.failed),
        retried: sum(|class| class.retried),
        slowest_ns: all.map_or(0, |all| all.max()),
        lasted_ns: lasted,
        around: around.cloned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dyno_protocol::Class;

    use super::*;

    /// The judged line of the first contender in the first test, with these counts of operations per second.
    fn judged(done: &[u64], last_ns: u64) -> Option<TimelineLine> {
        reported(done, last_ns, "")
    }

    /// The same where operations succeeded in these hundredths of each second.
    fn reported(done: &[u64], last_ns: u64, succeeded: &str) -> Option<TimelineLine> {
        let succeeded = succeeded.to_owned();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let ends = (1..).map(|second| second * 1_000_000_000);
        let tick = |(&done, ended_ns): (&u64, u64)| Tick {
            ended_ns,
            classes: vec![Class { class: "read".into(), done, ..Class::default() }],
            succeeded: succeeded.clone(),
        };
        let mut ticks: Vec<Tick> = done.iter().zip(ends).map(tick).collect();
        ticks.last_mut().unwrap().ended_ns -= 1_000_000_000 - last_ns;
        for trial in run.trials.iter_mut().filter(|trial| trial.block == 1 && trial.contender == 0) {
            trial.samples[0].sample.ticks.clone_from(&ticks);
            // All but the last are known.
            let around = ticks.iter().rev().skip(1).rev().map(|tick| ActivitySample {
                ended_ns: tick.ended_ns,
                pressure: None,
                disk_busy_ns: Some(250_000_000),
                upkeep: [("checkpoints".to_owned(), 2)].into(),
            });
            trial.samples[0].around = around.collect();
        }
        timelines(&run).pop().map(|mut timeline| timeline.lines.remove(0))
    }

    #[test]
    fn seconds_on_end_without_work_are_one_stall() {
        let line = judged(&[100, 100, 3, 0, 9, 100, 0, 100, 100, 100], 1_000_000_000).unwrap();
        assert_eq!((line.usual, line.stalls, line.longest_ns), (100.0, 2, 3_000_000_000));
        let calm = judged(&[100, 90, 80, 100, 50, 11], 1_000_000_000).unwrap();
        assert_eq!((calm.stalls, calm.longest_ns), (0, 0));
        let end = judged(&[100, 100, 100, 100, 100, 0], 1_000_000_000).unwrap();
        assert_eq!((end.stalls, end.longest_ns), (1, 1_000_000_000));
    }

    #[test]
    fn a_stall_is_as_long_as_nothing_succeeded() {
        // In each second the last operation succeeds in the 30th hundredth, and the next one in the first of the next second.
        let line = reported(&[1000; 6], 1_000_000_000, "3fffffff").unwrap();
        assert_eq!((line.stalls, line.longest_ns), (6, 700_000_000));
        // At the end, too, which here is that of half a second.
        let line = reported(&[1000, 1000, 1000, 1000, 1000, 500], 500_000_000, "3fffffff").unwrap();
        assert_eq!((line.stalls, line.longest_ns), (6, 700_000_000));
        // At ten operations per second, 0.7 s without a success is no stall.
        assert_eq!(reported(&[10; 6], 1_000_000_000, "3fffffff").unwrap().stalls, 0);
    }

    #[test]
    fn what_went_on_beside_is_a_mean_of_the_seconds_of_which_it_is_known() {
        let line = judged(&[100, 100, 100, 100, 100, 100], 1_000_000_000).unwrap();
        let reported = line.surroundings.unwrap();
        assert_eq!(
            (reported.disk_busy, reported.io_some, reported.upkeep["checkpoints"]),
            (Some(0.25), None, 10)
        );
        assert!(line.trials[0][4].around.is_some() && line.trials[0][5].around.is_none());
    }

    #[test]
    fn what_is_left_of_a_second_counts_as_a_rate_or_not_at_all() {
        let line = judged(&[100, 100, 100, 100, 100, 60], 600_000_000).unwrap();
        assert_eq!(line.trials[0][5].per_second, 100.0);
        let line = judged(&[100, 100, 100, 100, 100, 0], 100_000_000).unwrap();
        assert_eq!((line.trials[0].len(), line.stalls), (5, 0));
        assert_eq!(judged(&[100, 0, 100], 1_000_000_000), None, "too few to call one slow");
    }
}
