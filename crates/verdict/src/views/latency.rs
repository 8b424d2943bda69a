//! Response times of single operations: percentiles of the trials in which each was timed, by class where a test has
//! classes.

use dyno_protocol::{Class, Response, StatementTimes};
use dyno_record::{Run, SampleRecord, TrialRecord};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::percentiles::{Percentiles, at_least, percentiles};
use super::statements::{self, StatementLine};
use crate::disturbance::Disturbances;
use crate::figures::{stands, used};
use crate::statistics::median;

/// The latency of a run with trials in which every operation was timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The cost of reading the clock, which every duration includes: the null runner's median, the largest of all
    /// tests, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// True if there were trials in which every operation was timed, apart from the measured ones.
    pub apart: bool,
    /// The tests shown whose operations were timed, in order.
    pub tests: Vec<LatencyTest>,
}

/// The latency of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyTest {
    /// The test's id.
    pub test: String,
    /// The cost of reading the clock in this test, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_ns: Option<u64>,
    /// The contenders shown that have any, in order.
    pub lines: Vec<LatencyLine>,
    /// Operations of one class per minute, if the suite asks for that rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_minute: Option<PerMinute>,
    /// Contenders shown that did not keep up with open arrivals, by position, each with the number of operations due
    /// but not done at the end, and the number of all that ended or were then due: those that were due before the
    /// measured time are in both or in neither. A contender keeps up if it leaves at most one in a hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<(usize, u64, u64)>,
}

/// Operations of one class per minute, without those that were rolled back at their end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerMinute {
    /// The operations' usual name, in the plural.
    pub says: String,
    /// For each contender shown that did any, by its position in the run, the median of its trials.
    pub lines: Vec<(usize, f64)>,
}

/// The latency of a contender in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyLine {
    /// The contender, by its position in the run.
    pub contender: usize,
    /// The class of operations, of a test that has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The percentiles of its operations; those that never succeeded count as the slowest, and those that were not done
    /// at the end with what they had waited by then.
    pub percentiles: Percentiles,
    /// The percentiles, by name, that take in operations without success: the true ones are at least as long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
    /// The number that never succeeded.
    pub failed: u64,
    /// The reason that the first of them failed, where it was not for want of time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// The number of repeated tries.
    pub retried: u64,
    /// The number of completed operations that were rolled back at their end, as planned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undone: u64,
    /// The number of these that ended with an error that the suite ignores.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Delay between the due time of an operation and its sending although a client was free. The runner causes it, and
    /// the durations include it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Percentiles>,
    /// The executions of its statements, in order, where they were timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementLine>,
}

/// The latency of a run; none where no operations were timed.
pub(super) fn latency(run: &Run) -> Option<Latency> {
    let disturbances = &Disturbances::new(run);
    let harness = run.contenders.iter().position(|contender| contender.harness);
    let apart = run.trials.iter().any(|trial| trial.latency);
    // A mix reads the clock once an operation for every contender alike, as any program would that times itself.
    let clock = |test: &str| {
        let lines = lines(run, disturbances, harness.filter(|_| apart)?, test);
        lines.iter().map(|line| line.percentiles.p50).max()
    };
    // Each trial of a rate search has another rate, and the contender does not sustain most of them.
    let tests = run.shown_tests().filter(|test| run.target_of(&test.id).is_none());
    let tests = tests.map(|test| LatencyTest {
        test: test.id.clone(),
        clock_ns: clock(&test.id),
        lines: run
            .shown_contenders()
            .flat_map(|(contender, _)| lines(run, disturbances, contender, &test.id))
            .collect(),
        a_minute: test.a_minute.as_ref().map(|reported| a_minute(run, disturbances, &test.id, reported)),
        left: left(run, disturbances, &test.id),
    });
    let tests: Vec<LatencyTest> = tests.filter(|test| !test.lines.is_empty()).collect();
    let clock_ns = run.tests.iter().filter_map(|test| clock(&test.id)).max();
    (clock_ns.is_some() || !tests.is_empty()).then_some(Latency { clock_ns, apart, tests })
}

/// The contenders that did not keep up with arrivals in a test (by id).
fn left(run: &Run, disturbances: &Disturbances, test: &str) -> Vec<(usize, u64, u64)> {
    let of = |contender: usize| {
        let trials = run.trials.iter().filter(|trial| trial.contender == contender && trial.is_measured());
        let trials = trials.filter(|trial| disturbances.counts(trial.block) && stands(run, trial));
        let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
        let reported = samples.filter_map(|sample| Some((sample.left()?, sample.ended())));
        reported.fold((0, 0), |(left, all), (also, ended)| (left + also, all + also + ended))
    };
    let all = run.shown_contenders().map(|(contender, _)| (contender, of(contender)));
    let late = all.filter(|(_, (left, all))| left * 100 > *all);
    late.map(|(contender, (left, all))| (contender, left, all)).collect()
}

/// Operations of a class per minute.
fn a_minute(
    run: &Run,
    disturbances: &Disturbances,
    test: &str,
    reported: &dyno_record::PerMinute,
) -> PerMinute {
    let of = |contender: usize| -> Option<f64> {
        let rate = |sample: &SampleRecord| {
            let classes = sample.sample.classes.iter().filter(|class| class.class == reported.class);
            let done: u64 = classes.map(|class| class.done - class.undone.min(class.done)).sum();
            done as f64 / sample.sample.section.nanoseconds.max(1) as f64 * 60e9
        };
        median(&used(run, disturbances, contender, test).map(rate).collect::<Vec<_>>())
    };
    let lines = run.shown_contenders().filter_map(|(contender, _)| Some((contender, of(contender)?)));
    PerMinute { says: reported.says.clone(), lines: lines.collect() }
}

/// The classes of a contender (by position) in a test (by id), over all its trials but those to warm up and those that were disturbed.
fn lines(run: &Run, disturbances: &Disturbances, contender: usize, test: &str) -> Vec<LatencyLine> {
    let trials = run.trials.iter().filter(|trial| trial.contender == contender);
    let counts = |trial: &TrialRecord| trial.is_measured() && disturbances.counts(trial.block);
    let trials = trials.filter(|trial| (trial.latency || counts(trial)) && stands(run, trial));
    let samples = trials.flat_map(|trial| &trial.samples).filter(|sample| sample.sample.test == test);
    let mut sums: Vec<Sum> = Vec::new();
    for class in samples.flat_map(|sample| &sample.sample.classes) {
        match sums.iter_mut().find(|sum| sum.name == class.class) {
            Some(sum) => sum.add(class),
            None => {
                let mut sum = Sum { name: &class.class, ..Sum::default() };
                sum.add(class);
                sums.push(sum);
            }
        }
    }
    let is_one = sums.len() == 1;
    let line = |sum: Sum| {
        let unfinished = Response::merged(sum.unfinished.iter().copied());
        let all = Response::merged(sum.responses.iter().chain(&sum.unfinished).copied());
        let left = unfinished.as_ref().map_or(0, Histogram::len);
        let reported = all.and_then(|all| percentiles(&all, sum.failed));
        let reported = reported.map(|reported| Percentiles { count: reported.count - left, ..reported });
        (reported.is_some() || sum.failed > 0).then(|| LatencyLine {
            contender,
            class: (!is_one).then(|| sum.name.to_owned()),
            percentiles: reported.unwrap_or_default(),
            at_least: reported
                .map_or_else(Vec::new, |reported| at_least(&reported, unfinished.as_ref(), sum.failed)),
            failed: sum.failed,
            failure: sum.failure.to_owned(),
            retried: sum.retried,
            undone: sum.undone,
            ignored: sum.ignored,
            late: Response::merged(sum.late).and_then(|late| percentiles(&late, 0)),
            statements: statements::lines(&sum.statements),
        })
    };
    sums.into_iter().filter_map(line).collect()
}

/// A class over several trials.
#[derive(Default)]
struct Sum<'r> {
    name: &'r str,
    failed: u64,
    failure: &'r str,
    retried: u64,
    undone: u64,
    ignored: u64,
    responses: Vec<&'r Response>,
    unfinished: Vec<&'r Response>,
    late: Vec<&'r Response>,
    statements: Vec<&'r [StatementTimes]>,
}

impl<'r> Sum<'r> {
    fn add(&mut self, class: &'r Class) {
        self.failed += class.failed;
        self.retried += class.retried;
        self.undone += class.undone;
        self.ignored += class.ignored;
        if self.failure.is_empty() {
            self.failure = &class.failure;
        }
        self.responses.push(&class.response);
        self.unfinished.push(&class.unfinished);
        self.late.push(&class.late);
        self.statements.push(&class.statements);
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_never_succeeded_is_reported() {
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let mut five = dyno_protocol::empty_histogram(3);
        five.record(5).unwrap();
        let done = Class { class: "read".into(), done: 1, response: Response::of(&five), ..Class::default() };
        let never = Class { class: "write".into(), failed: 3, ..Class::default() };
        for sample in run.trials.iter_mut().flat_map(|trial| &mut trial.samples) {
            sample.sample.classes = vec![done.clone(), never.clone()];
        }
        let lines = latency(&run).unwrap().tests[0].lines.clone();
        let failed: Vec<_> = lines.iter().map(|line| (line.percentiles.count > 0, line.failed > 0)).collect();
        assert_eq!(failed[..2], [(true, false), (false, true)]);
        assert_eq!(lines[1].class.as_deref(), Some("write"));
    }

    /// Operations due before the measured time may be left at its end too, so more may be left than were due within it.
    #[test]
    fn operations_that_were_left_are_a_part_of_all() {
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        let mut waited = dyno_protocol::empty_histogram(3);
        waited.record_n(1000, 87).unwrap();
        let class =
            Class { class: "read".into(), done: 50, unfinished: Response::of(&waited), ..Class::default() };
        for sample in run.trials.iter_mut().flat_map(|trial| &mut trial.samples) {
            sample.sample.classes = vec![class.clone()];
            sample.due = Some(81);
        }
        let left = latency(&run).unwrap().tests[0].left.clone();
        assert!(!left.is_empty());
        for (_, left, all) in left {
            assert_eq!((left % 87, all), (0, left / 87 * 137));
        }
    }
}
