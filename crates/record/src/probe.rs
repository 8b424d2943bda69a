//! The result of a probe of isolation: the history of its transactions.

use dyno_protocol::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A probe, and what its transactions wrote down.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// Its name: `lost-update`, `read-skew`, `write-skew`, `list-append`.
    pub probe: String,
    /// The number of transactions that were committed.
    pub committed: u64,
    /// The number of tries that were repeated because the engine refused a transaction.
    #[serde(default)]
    pub retried: u64,
    /// The notes of the committed transactions, a row each; what is in it depends on the probe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Vec<Value>>,
    /// The reason that it has no history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
