//! How the operations of many clients arrive, and how many. A figure under one load says nothing about another: two kinds are never
//! in one ranking, and runs with different numbers are not one series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How operations arrive.
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

/// How much is asked of a mix: its numbers with the parameters of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clients {
    /// How many clients there are, or sessions at once.
    pub clients: u32,
    /// How many operations arrive in a second, for all of them together; absent: each begins one as soon as it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// How that changes over the time, where it does, as the suite's format writes it; the rate is then its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<String>,
    /// How many operations a session has; absent: clients stay connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// How long a client thinks before each operation, on the average, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ns: Option<u64>,
    /// How long they are measured, in nanoseconds; absent: until each has done so many operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// How long they are at work before that, in nanoseconds.
    #[serde(default)]
    pub warm_up_ns: u64,
}
