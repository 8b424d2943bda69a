//! The division of the time of a test's section: on processors, and waiting for each cause.
//!
//! The parts are facts of one pass that is no measured trial. They add up to the section's time, because what cannot
//! be placed is a part as well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of a section, divided. Of several clients each part is the mean over their threads. Times are in
/// nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeBudget {
    /// The runner's threads were on a processor, by the kernel's count of their CPU time.
    pub client_cpu_ns: u64,
    /// A client waited for its server, of which threads were on a processor.
    pub server_cpu_ns: u64,
    /// Ready to go on, and waiting for a processor: of the runner by the kernel's count, of the server while a client
    /// waited for it.
    pub processor_ns: u64,
    /// Waiting until written data are on the device: fsync, fdatasync, msync, syncfs, or a write to a file opened for
    /// it.
    pub flush_ns: u64,
    /// Waiting for another call on a file, or for a page of memory.
    pub io_ns: u64,
    /// Waiting for another thread (a futex), for a lock on a file, or asleep before the next try, where there are
    /// several clients.
    pub lock_ns: u64,
    /// The rest, which could not be placed.
    pub unplaced_ns: u64,
    /// The number of looks at the threads within the section. The parts that are waits of calls rest on them.
    pub looks: u64,
    /// The number of client threads over which the parts are means.
    pub clients: u64,
    /// True if the runner's threads worked at the same time for longer than the section has: the CPU time and the
    /// wait for a processor are then scaled to the section's time, and no wait is seen behind them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overlaps: bool,
}

impl TimeBudget {
    /// The section's time: the sum of the parts.
    pub fn wall_ns(&self) -> u64 {
        self.parts().into_iter().map(|(_, nanoseconds)| nanoseconds).sum()
    }

    /// The parts in the order in which they are shown, each with its name in files.
    pub fn parts(&self) -> [(&'static str, u64); 7] {
        [
            ("client_cpu", self.client_cpu_ns),
            ("server_cpu", self.server_cpu_ns),
            ("flush", self.flush_ns),
            ("io", self.io_ns),
            ("lock", self.lock_ns),
            ("processor", self.processor_ns),
            ("unplaced", self.unplaced_ns),
        ]
    }
}

/// The plan by which an engine executed a statement, as the engine's own EXPLAIN reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementPlan {
    /// The test, by its id.
    pub test: String,
    /// The statement. Of statements that differ in their values alone it is the first.
    pub statement: String,
    /// The plan, line by line.
    pub plan: Vec<String>,
}
