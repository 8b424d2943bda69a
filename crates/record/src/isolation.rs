//! Isolation levels: what transactions at work at the same time may see of one another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Standing;

/// Isolation of transactions, weakest first. The names are those of Berenson and others, A Critique of ANSI SQL
/// Isolation Levels (1995): two engines that call their levels alike need not have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// A transaction sees changes that others have not committed.
    ReadUncommitted,
    /// A transaction sees what others have committed, at each statement anew.
    ReadCommitted,
    /// The same rows whenever it reads; what it writes may rest on older ones, and undo another's change.
    RepeatableRead,
    /// One state of the database, and it fails when another has changed a row that it changes. Two may still rest on
    /// rows that the other changes.
    Snapshot,
    /// A transaction sees what it would see if transactions came one after another.
    Serializable,
}

impl Isolation {
    /// The name, as in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read-uncommitted",
            Isolation::ReadCommitted => "read-committed",
            Isolation::RepeatableRead => "repeatable-read",
            Isolation::Snapshot => "snapshot",
            Isolation::Serializable => "serializable",
        }
    }
}

/// The isolation of a contender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolated {
    /// The isolation level.
    pub level: Isolation,
    /// The evidence for it.
    pub standing: Standing,
    /// The reason, in a few words.
    pub why: String,
    /// The page of the engine's manual that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}
