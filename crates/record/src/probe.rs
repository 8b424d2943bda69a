//! What a probe of isolation brought back: the history of its transactions.

use dyno_protocol::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A probe, and what its transactions wrote down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// Its name: `lost-update`, `read-skew`, `write-skew`, `list-append`.
    pub probe: String,
    /// How many transactions were committed.
    pub committed: u64,
    /// How many tries were repeated because the engine refused a transaction.
    #[serde(default)]
    pub retried: u64,
    /// What those that were committed wrote down, a row each; what is in it depends on the probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Vec<Value>>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
