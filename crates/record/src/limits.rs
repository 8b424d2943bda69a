//! The conditions that are the same for all contenders of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions that are the same for all contenders of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The size of every engine's cache, in bytes; absent: each engine's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_bytes: Option<u64>,
    /// True if the suite states that size and not the run: a contender that has no cache to set, or whose name says how
    /// large it is, is then left as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cache_of_suite: bool,
    /// The memory of a runner, in bytes; absent: as much as there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The time that dyno added to each round trip between a client and its server, in nanoseconds: half of it on the
    /// way there, half on the way back. 0: the bytes went through dyno, which added nothing; absent: clients reached
    /// their servers directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<u64>,
}

impl Limits {
    /// The milliseconds that dyno added to each round trip; `None` where clients reached their servers directly.
    pub fn added_ms(&self) -> Option<f64> {
        self.round_trip_ns.map(|added| added as f64 / 1e6)
    }
}
