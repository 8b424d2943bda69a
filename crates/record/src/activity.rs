//! Activity around clients at work, second by second: waiting processes, the disk, and the engine's background work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A second of a section, as seen from outside of it. All but `ended_ns` are of this second alone; what the machine
/// does not report is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivitySample {
    /// The end of this second, in nanoseconds since the section began.
    pub ended_ns: u64,
    /// For how long processes waited; absent where the kernel does not report it (`/proc/pressure`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// For how long the disk below the databases was at work, in nanoseconds (`/proc/diskstats`, time doing I/O);
    /// absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy_ns: Option<u64>,
    /// Counts of the engine's background work, by its name: `checkpoints`, `compactions`, `flushes`. Only
    /// those that the engine reports.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub upkeep: BTreeMap<String, u64>,
}

/// For how long processes of the machine waited for what they needed (PSI), in nanoseconds: `some`, while one or more
/// of them did, and `full`, while all that had something to do did. For the processors the kernel reports no `full`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// One or more waited for a processor.
    pub cpu_some_ns: u64,
    /// One or more waited for memory.
    pub memory_some_ns: u64,
    /// All did.
    pub memory_full_ns: u64,
    /// One or more waited for reads and writes.
    pub io_some_ns: u64,
    /// All did.
    pub io_full_ns: u64,
}
