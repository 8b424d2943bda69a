//! The traffic between clients and servers, counted by a proxy between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The traffic for the operations of one class of a test, or for all of a test without classes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficRecord {
    /// The test, by its id.
    pub test: String,
    /// The class; absent of tests without classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The number of operations in the counts of a pass.
    pub operations: u64,
    /// The counts of each pass. They are equal where the driver does the same each time. One alone without a failure is
    /// that of a run that was interrupted before the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<TrafficCounts>,
    /// The statements executed in the last pass, in the order in which each was first executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<SentStatement>,
    /// The reason, in words, that statements and preparations could not be read; their counts then mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The reason that a pass has no counts: the only one that is there, or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The counts of one pass, for all of its operations together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficCounts {
    /// The number of times that the client waited: it sent something, and received something before it sent more.
    pub round_trips: u64,
    /// The number of times that it sent bytes; writes in quick succession count as one.
    pub sends: u64,
    /// The bytes that it sent.
    pub sent_bytes: u64,
    /// The bytes that it received.
    pub received_bytes: u64,
    /// The number of statements that it had prepared.
    pub prepares: u64,
    /// The number of statements that it had executed.
    pub executed: u64,
}

/// A statement as the server saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SentStatement {
    /// The first text of those that differ by values and comments alone.
    pub text: String,
    /// The number of times that it was executed.
    pub count: u64,
}
