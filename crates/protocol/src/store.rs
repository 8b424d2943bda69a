//! Operations of a mix on a store of keys and values, and the invariants of the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An operation on the store. Its first parameter is the key, a whole number from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoreDoes {
    /// Looks the key up: a row with its value, or no row.
    Get,
    /// Puts the key, whether it exists or not, with the second parameter as its value.
    Put,
    /// Visits pairs in the order of the keys, from the first that is not less than the key, up to the number in the
    /// second parameter: a row with the value of each.
    Range,
}

impl StoreDoes {
    /// The number of its parameters.
    pub fn parameters(self) -> usize {
        match self {
            StoreDoes::Get => 1,
            StoreDoes::Put | StoreDoes::Range => 2,
        }
    }
}

/// An invariant of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreInvariant {
    /// In words.
    pub says: String,
    /// The violations to count.
    #[serde(flatten)]
    pub counts: StoreCount,
}

/// The violations of an invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "counts", rename_all = "kebab-case")]
pub enum StoreCount {
    /// Values that are not the same bytes repeated `times` times.
    Torn {
        /// The number of repetitions.
        times: u64,
    },
    /// Keys of a range, both ends included, that are not there.
    Missing {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
    /// Numbers of a range, its end not included, that are parted among clients (the first has `from`, `from` + `step` and so
    /// on, the second `from` + 1 …): clients of which a key is there and one before it is not.
    Gaps {
        /// The first number.
        from: i64,
        /// The end.
        below: i64,
        /// The number of clients.
        step: i64,
    },
    /// Keys of a range, both ends included, that are there.
    Count {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
    /// No violation is counted. The pairs of a range of keys, both ends included, are reported: after the rows of all
    /// invariants the answer has a row for each, its key and its value as text.
    Pairs {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
}
