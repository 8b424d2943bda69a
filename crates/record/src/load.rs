//! The load of a mix: how its operations arrive, and how many. A figure under one load says nothing about another: two
//! kinds are never in one ranking, and runs with different numbers are not one series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Load {
    /// Each client begins one as soon as it has done the last, or has thought after that.
    Closed,
    /// At planned times, whether or not the engine keeps up, for clients that stay connected.
    Open,
    /// In sessions that arrive at planned times: each connects, does a few and leaves.
    Sessions,
}

impl Load {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Load::Closed => "closed",
            Load::Open => "open",
            Load::Sessions => "sessions",
        }
    }
}

/// The demand on a mix: its numbers with the parameters of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clients {
    /// The number of clients, or of sessions at once.
    pub clients: u32,
    /// Operations that arrive in a second, for all of them together; absent: each begins one as soon as it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The rate's course over the time, where it changes, as the suite's format writes it; the rate is then its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<String>,
    /// Operations of a session; absent: clients stay connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// The mean time that a client thinks before each operation, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ns: Option<u64>,
    /// The measured time, in nanoseconds; absent: until each client has done its number of operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// The time that they are at work before that, in nanoseconds.
    #[serde(default)]
    pub warm_up_ns: u64,
}
