//! How the operations of many clients arrive. What one kind of load tells says nothing of another, so they are never in
//! one ranking.

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
