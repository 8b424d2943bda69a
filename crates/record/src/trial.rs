//! The trials of a run: what each came to, sample by sample.

mod read;

use dyno_protocol::{Response, Sample, quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::is_peak;
use crate::{ActivitySample, AgentShare, FunctionCounts, RateAttempt, StatementPlan, TimeBudget};

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// The block. Block 0 is warm-up and takes no part in any figure; a run without warm-up begins with 1.
    pub block: u32,
    /// The contender, by its position.
    pub contender: usize,
    /// True if every operation was timed; it then takes no part in any figure but those of latency.
    #[serde(default, skip_serializing_if = "is_false")]
    pub latency: bool,
    /// True if a program around the runner counted what the sections did; it then takes no part in any figure but the
    /// counts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub counted: bool,
    /// True if dyno looked at what the threads waited for; it then takes no part in any figure but the budgets.
    #[serde(default, skip_serializing_if = "is_false")]
    pub watched: bool,
    /// The start of the trial, in nanoseconds since the run began.
    pub began_ns: u64,
    /// CPU time that others took meanwhile; absent where the kernel does not report it, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// The mean time of the metronome, a fixed piece of work, on these CPUs before and after the trial, in nanoseconds.
    /// Absent where the trial was done in slices, whose samples have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_ns: Option<f64>,
    /// The work of each agent, where agents drove the clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentShare>,
    /// The samples, in the order of the tests.
    pub samples: Vec<SampleRecord>,
    /// The plans of the tests' read statements, where dyno asked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<StatementPlan>,
    /// The reason that it did not finish; absent if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Time that others took of the measured CPUs while a trial ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Others {
    /// CPU time that these CPUs had, from before the trial's process until after it, summed over them, in nanoseconds.
    pub over_ns: u64,
    /// Time that processes took which are not of the run, in nanoseconds; the kernel's own threads are none of them.
    /// The kernel counts in ticks, so a single trial's may be below zero.
    pub foreign_ns: i64,
    /// Time that the host gave to others, in nanoseconds.
    pub stolen_ns: u64,
}

impl Others {
    /// The sum with what others took of another machine.
    pub fn and(self, other: Others) -> Others {
        Others {
            over_ns: self.over_ns + other.over_ns,
            foreign_ns: self.foreign_ns + other.foreign_ns,
            stolen_ns: self.stolen_ns + other.stolen_ns,
        }
    }

    /// One of this many equal parts.
    pub fn part(self, parts: u64) -> Others {
        let parts = parts.max(1);
        Others {
            over_ns: self.over_ns / parts,
            foreign_ns: self.foreign_ns / parts.cast_signed(),
            stolen_ns: self.stolen_ns / parts,
        }
    }
}

/// A sample with its answer. It is read in the form of earlier versions too (`read.rs`).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SampleRecord {
    /// The measured values.
    #[serde(flatten)]
    pub sample: Sample,
    /// The answer, by its position among the run's answers.
    pub answer: usize,
    /// The number of operations of the whole test, where only the first of them were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extrapolated_to: Option<u64>,
    /// Of operations that arrived by themselves: the percentile of their response that is judged, as 0.99.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_percentile: Option<f64>,
    /// Of operations that arrived by themselves at a rate that all trials have: how many were due while it was
    /// measured, where they come in sessions connecting among them. Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
    /// The rate of this trial and whether the target held, where the run searched for the highest such rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sought: Option<RateAttempt>,
    /// In how many slices it was done, between which other contenders were at work; absent where the trial was by
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<u32>,
    /// Of a test that lasts a time: what else went on in each of its seconds, in the order of the ticks; empty where
    /// that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<ActivitySample>,
    /// The time of the metronome between these slices, in nanoseconds: the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beat_ns: Option<f64>,
    /// The division of the section's time, where dyno looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<TimeBudget>,
    /// The instructions of the section by function, in one of the trials that counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<FunctionCounts>,
}

impl TrialRecord {
    /// True if figures may rest on it: those to warm up, and those in which every operation was timed, are none of
    /// them.
    pub fn is_measured(&self) -> bool {
        self.block > 0 && !self.is_extra()
    }

    /// True if it comes after the measured trials and takes no part in figures of time.
    pub fn is_extra(&self) -> bool {
        self.latency || self.counted || self.watched
    }

    /// True if counts may rest on it.
    pub fn may_count(&self) -> bool {
        self.block > 0 && !self.latency && !self.watched
    }
}

impl SampleRecord {
    /// The judged time of the test, in nanoseconds: what was measured, or where only some operations were timed, as if
    /// the others took as long each; of operations that arrived by themselves a percentile of their response.
    pub fn duration_ns(&self) -> f64 {
        match self.judged_percentile {
            Some(share) => self.response_ns(share),
            None => self.extrapolated(self.sample.section.nanoseconds),
        }
    }

    /// The number of times that an event occurred in the whole test, where it was counted; a peak as it was.
    pub fn count(&self, event: &str) -> Option<f64> {
        let count = *self.sample.section.counts.get(event)?;
        Some(if is_peak(event) { count as f64 } else { self.extrapolated(count) })
    }

    /// The measured value, as it would be if each operation of the test cost as much as those that were timed.
    pub fn extrapolated(&self, measured: u64) -> f64 {
        match self.extrapolated_to {
            Some(whole) if self.sample.operations > 0 => {
                measured as f64 * whole as f64 / self.sample.operations as f64
            }
            _ => measured as f64,
        }
    }

    /// Operations without success: they failed, or were due and not done at the end. Operations that were due
    /// before the measured time and end within it take the place of those that are due within it and end later.
    pub fn never_done(&self) -> u64 {
        let failed: u64 = self.sample.classes.iter().map(|class| class.failed).sum();
        failed + self.left().unwrap_or(0)
    }

    /// The number of those due that were not done at the end; none where nothing is known of what was due.
    pub fn left(&self) -> Option<u64> {
        let due = self.due?;
        let known = self.known_left();
        // Older files have no more than their number.
        Some(if known > 0 { known } else { due.saturating_sub(self.ended()) })
    }

    /// The number that ended within the measured time, with success or without, whenever they were due.
    pub fn ended(&self) -> u64 {
        self.sample.classes.iter().map(|class| class.done + class.failed).sum()
    }

    /// The number not done at the end of which it is known how long they had waited.
    fn known_left(&self) -> u64 {
        self.sample.classes.iter().map(dyno_protocol::Class::left).sum()
    }

    /// Operations of which the response time is known, or how long they had waited at the end.
    pub fn timed(&self) -> u64 {
        let all = self.sample.classes.iter().flat_map(|class| [&class.response, &class.unfinished]);
        Response::merged(all).map_or(0, |all| all.len())
    }

    /// Operations without success of which it is not known how long they had waited.
    pub fn never_timed(&self) -> u64 {
        self.never_done().saturating_sub(self.known_left())
    }

    /// The time below which this share of the operations stayed, all classes together, in nanoseconds. Those that were
    /// not done at the end count with what they had waited by then. Where none was done it is at least the time that
    /// was measured.
    fn response_ns(&self, share: f64) -> f64 {
        let all = self.sample.classes.iter().flat_map(|class| [&class.response, &class.unfinished]);
        let done = Response::merged(all).and_then(|all| quantile(&all, share, self.never_timed()));
        done.unwrap_or(self.sample.section.nanoseconds) as f64
    }
}

/// The reason that a trial did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The test in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The reason.
    pub message: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Class, empty_histogram};

    use super::*;

    #[test]
    fn what_was_due_and_never_done_is_slower_than_all_that_was() {
        let of = |done: u64, failed: u64, due: Option<u64>| {
            let mut histogram = empty_histogram(3);
            (1..=done).for_each(|nanoseconds| histogram.record(nanoseconds).unwrap());
            let class = Class {
                class: "read".into(),
                done,
                failed,
                response: Response::of(&histogram),
                ..Class::default()
            };
            let sample = r#"{"test":"1","answer":0,"section":{"nanoseconds":5000,"client":{}}}"#;
            let mut record: SampleRecord = serde_json::from_str(sample).unwrap();
            (record.sample.classes, record.judged_percentile, record.due) = (vec![class], Some(0.9), due);
            (record.duration_ns(), record.left())
        };
        assert_eq!(of(900, 0, None), (810.0, None));
        assert_eq!(of(900, 0, Some(900)), (810.0, Some(0)));
        assert_eq!(of(900, 0, Some(950)), (855.0, Some(50)));
        assert_eq!(of(900, 50, Some(950)), (855.0, Some(0)));
        assert_eq!(of(100, 0, Some(950)), (100.0, Some(850)));
        // Nothing was done: each has taken at least so long.
        assert_eq!(of(0, 0, Some(950)), (5000.0, Some(950)));
    }

    #[test]
    fn what_waits_at_the_end_counts_with_its_age() {
        let (mut quick, mut ages) = (empty_histogram(3), empty_histogram(3));
        quick.record_n(1, 750).unwrap();
        (1..=250).for_each(|age| ages.record(1000 * age).unwrap());
        let sample = r#"{"test":"1","answer":0,"section":{"nanoseconds":250000,"client":{}},"due":1000}"#;
        let mut record: SampleRecord = serde_json::from_str(sample).unwrap();
        record.judged_percentile = Some(0.9);
        let (response, unfinished) = (Response::of(&quick), Response::of(&ages));
        record.sample.classes = vec![Class { done: 750, response, unfinished, ..Class::default() }];
        assert!((149_000.0..151_000.0).contains(&record.duration_ns()), "{}", record.duration_ns());
        assert_eq!((record.left(), record.never_done()), (Some(250), 250));
    }
}
