//! The result of a test: one sample, with its timed section, its classes of operations and its ticks.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Response;

/// One measurement of one test in one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sample {
    /// The test's id.
    pub test: String,
    /// Time and cost of the timed section.
    pub section: Section,
    /// Operations done: statements executed, pairs put, rows inserted.
    pub operations: u64,
    /// Rows returned and rows changed, as the engine counts them.
    pub rows: u64,
    /// Bytes of input the work consumed.
    pub bytes: u64,
    /// Size of all files of the database after the test, holes left out, in bytes; of a server's what it says.
    pub database_bytes: u64,
    /// The number of threads that drove a mix's clients; 0 if the runner does not report it.
    #[serde(skip_serializing_if = "is_zero")]
    pub threads: u64,
    /// The operations by class, if each was timed separately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// The same second by second, where the test lasts a time and not a number of operations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ticks: Vec<Tick>,
}

/// The names of events that are counted in the server's processes begin so.
pub const SERVER_EVENTS: &str = "server_";

/// Time and cost between two readings of the clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Section {
    /// Wall-clock time, monotonic clock.
    pub nanoseconds: u64,
    /// The beginning on the system's monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds, so that observations from
    /// outside can be aligned with it; 0 if the runner does not report it.
    #[serde(skip_serializing_if = "is_zero")]
    pub began_ns: u64,
    /// The cost of the runner's process, with all of its threads, and of the processes of its clients.
    pub client: Cost,
    /// The cost of the server's processes: the main process and those it has started. Absent for engines within the
    /// runner's own process and for servers that cannot be observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Cost>,
    /// The number of times that each event occurred in the client's processes, by names such as `instructions`, and in the
    /// server's, by names that begin with `server_`: those that the runner, or a program around it, counts. Fewer are
    /// better.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
}

/// The cost of processes: differences of counters that are read just outside the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
// `dyno_gauge_cost` of the gauge's C header.
#[repr(C)]
pub struct Cost {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in system mode, in nanoseconds.
    pub system_ns: u64,
    /// Time that threads were runnable and waited for a processor, in nanoseconds (`/proc/self/schedstat`).
    pub wait_ns: u64,
    /// Bytes that they caused to be read from the device (`/proc/self/io`, `read_bytes`).
    pub device_read_bytes: u64,
    /// Bytes that they caused to be written to the device (`/proc/self/io`, `write_bytes`).
    pub device_written_bytes: u64,
    /// Largest resident memory of any one of them during the test, as shared memory is in all of them.
    pub peak_memory_bytes: u64,
}

/// The outcome of the operations of one class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Class {
    /// Its name in the suite; of a test without classes the model's.
    pub class: String,
    /// Operations that succeeded, at the first try or a later one.
    pub done: u64,
    /// Operations that never succeeded.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// The error of the first of them that failed, unless it ran out of time.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// Tries that were repeated, as the suite says, after a deadlock, a serialization failure or a busy database.
    #[serde(skip_serializing_if = "is_zero")]
    pub retried: u64,
    /// Operations among those done that were rolled back at their end, as the suite plans it.
    #[serde(skip_serializing_if = "is_zero")]
    pub undone: u64,
    /// Operations among those rolled back that ended with an error that the suite ignores.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Operations that succeeded and were not rolled back, including those of the warm-up and those that ended after the
    /// section, as long as their clients did not begin anew with their steps: the number of changes that the database has
    /// acknowledged.
    #[serde(skip_serializing_if = "is_zero")]
    pub acknowledged: u64,
    /// Durations of the operations that were done: each from when it was due, or if it was not due at a time from when it
    /// was sent, to its final success.
    pub response: Response,
    /// Operations that were due or under way at the end of the section and not done: the time that each had waited by
    /// then, since it was due, or if it was not due at a time since it was sent. Each takes at least as long.
    #[serde(skip_serializing_if = "Response::is_empty")]
    pub unfinished: Response,
    /// Of operations that were due at a time: the same from when they were sent.
    #[serde(skip_serializing_if = "Response::is_empty")]
    pub service: Response,
    /// Of the same: the time that they waited because no client was free.
    #[serde(skip_serializing_if = "Response::is_empty")]
    pub wait: Response,
    /// Of the same: the delay with which they were sent although a client was free, which is the runner's own fault.
    #[serde(skip_serializing_if = "Response::is_empty")]
    pub late: Response,
    /// The executions of its statements in operations that were done, in order, where the mix asks for their times. A
    /// transaction's beginning is the first, and its end the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<StatementTimes>,
}

/// The durations of the executions of one statement of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatementTimes {
    /// Its text, with `?` for each parameter; `BEGIN` and `COMMIT` stand for the beginning of a transaction and its end,
    /// whatever the driver sends.
    pub text: String,
    /// From its call until all of its rows were read.
    pub response: Response,
}

/// A part of a section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tick {
    /// The end, in nanoseconds since the section began.
    pub ended_ns: u64,
    /// The operations that ended within it, by class.
    pub classes: Vec<Class>,
    /// The hundredths of a second, from its beginning, in which an operation succeeded: a hexadecimal number whose bit n
    /// stands for the time from n to n + 1 hundredths. Empty if there were none, or if the runner does not report it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub succeeded: String,
}

impl Tick {
    /// Records in which hundredths of the second operations succeeded, as bits.
    pub fn set_succeeded(&mut self, hundredths: u128) {
        self.succeeded = if hundredths == 0 { String::new() } else { format!("{hundredths:x}") };
    }

    /// The hundredths of the second in which operations succeeded, as bits; `None` if that is not known.
    pub fn succeeded(&self) -> Option<u128> {
        u128::from_str_radix(&self.succeeded, 16).ok()
    }
}

impl Class {
    /// Durations of the operations that were done, and the times that those not done had waited at the end, which are
    /// lower bounds. `None` if there is neither.
    pub fn waited(&self) -> Option<Histogram<u64>> {
        Response::merged([&self.response, &self.unfinished])
    }

    /// The number of operations that were due or under way at the end, as far as it is known.
    pub fn left(&self) -> u64 {
        self.unfinished.histogram().ok().flatten().map_or(0, |ages| ages.len())
    }

    /// Adds what others have done of the same class.
    pub fn add(&mut self, other: &Class) {
        self.done += other.done;
        self.failed += other.failed;
        self.retried += other.retried;
        self.undone += other.undone;
        self.ignored += other.ignored;
        self.acknowledged += other.acknowledged;
        if self.failure.is_empty() {
            self.failure.clone_from(&other.failure);
        }
        self.response.add(&other.response);
        self.unfinished.add(&other.unfinished);
        self.service.add(&other.service);
        self.wait.add(&other.wait);
        self.late.add(&other.late);
        if self.statements.is_empty() {
            self.statements.clone_from(&other.statements);
        } else {
            let both = self.statements.iter_mut().zip(&other.statements);
            both.for_each(|(all, other)| all.response.add(&other.response));
        }
    }
}

impl Sample {
    /// Adds what another process has done of the same section at the same time. Histograms and counts add up exactly.
    pub fn join(&mut self, other: &Sample) {
        fn add(all: &mut [Class], others: &[Class]) {
            all.iter_mut().zip(others).for_each(|(all, other)| all.add(other));
        }
        self.operations += other.operations;
        self.threads += other.threads;
        self.section.nanoseconds = self.section.nanoseconds.max(other.section.nanoseconds);
        let began = [self.section.began_ns, other.section.began_ns];
        self.section.began_ns = began.into_iter().filter(|&began| began > 0).min().unwrap_or(0);
        self.section.client.add(&other.section.client);
        self.section.add_counts(&other.section);
        add(&mut self.classes, &other.classes);
        for (all, other) in self.ticks.iter_mut().zip(&other.ticks) {
            add(&mut all.classes, &other.classes);
            all.set_succeeded(all.succeeded().unwrap_or(0) | other.succeeded().unwrap_or(0));
        }
    }
}

impl Section {
    /// Adds a later part of the same section.
    pub fn add(&mut self, later: &Section) {
        self.nanoseconds += later.nanoseconds;
        self.client.add(&later.client);
        if let Some(server) = &later.server {
            self.server.get_or_insert_default().add(server);
        }
        self.add_counts(later);
    }

    fn add_counts(&mut self, other: &Section) {
        for (event, count) in &other.counts {
            *self.counts.entry(event.clone()).or_default() += count;
        }
    }
}

impl Cost {
    /// Adds what was spent later, or by another process.
    pub fn add(&mut self, later: &Cost) {
        self.user_ns += later.user_ns;
        self.system_ns += later.system_ns;
        self.wait_ns += later.wait_ns;
        self.device_read_bytes += later.device_read_bytes;
        self.device_written_bytes += later.device_written_bytes;
        self.peak_memory_bytes = self.peak_memory_bytes.max(later.peak_memory_bytes);
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
