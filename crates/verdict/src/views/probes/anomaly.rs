//! The anomalies that isolation levels forbid.

use dyno_record::Isolation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Anomalies that isolation levels forbid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Anomaly {
    /// A transaction read a value that was never committed, or transactions read from one another in a cycle (G1).
    DirtyRead,
    /// An appended element is gone, or lists were read in orders that contradict each other.
    LostAppend,
    /// Two rows were read of which one is older than the other (A5A).
    ReadSkew,
    /// Two changed a row by what both had read of it (P4).
    LostUpdate,
    /// A circle with one transaction that did not see another's change (G-single).
    SingleSkew,
    /// Two changed different rows, each by what it had read of the other's (A5B).
    WriteSkew,
    /// A circle with several transactions that did not see another's change (G2).
    Circle,
}

impl Anomaly {
    /// The anomaly's usual name.
    pub fn name(self) -> &'static str {
        match self {
            Anomaly::DirtyRead => "G1",
            Anomaly::LostAppend => "lost append",
            Anomaly::ReadSkew => "read skew",
            Anomaly::LostUpdate => "lost update",
            Anomaly::SingleSkew => "G-single",
            Anomaly::WriteSkew => "write skew",
            Anomaly::Circle => "G2",
        }
    }

    /// The weakest level that forbids it.
    pub(super) fn forbidden_by(self) -> Isolation {
        match self {
            Anomaly::DirtyRead | Anomaly::LostAppend => Isolation::ReadCommitted,
            Anomaly::ReadSkew => Isolation::RepeatableRead,
            Anomaly::LostUpdate | Anomaly::SingleSkew => Isolation::Snapshot,
            Anomaly::WriteSkew | Anomaly::Circle => Isolation::Serializable,
        }
    }
}

/// An anomaly in a history: which, how many transactions saw it or lost by it, and the part that shows it.
pub(super) type FoundAnomaly = (Anomaly, u64, String);
