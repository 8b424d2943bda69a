//! What a mix does with a store of keys and values, and what must hold of the store afterwards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a statement does with the store. Its first parameter is the key, a whole number from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoreDoes {
    /// Looks the key up: a row with its value, or none.
    Get,
    /// Puts the key, whether it is there or not, with the second parameter as its value.
    Put,
    /// Visits pairs in the order of the keys, the first that is not less than the key, as many as the second parameter says: a
    /// row with the value of each.
    Range,
}

impl StoreDoes {
    /// How many parameters it has.
    pub fn parameters(self) -> usize {
        match self {
            StoreDoes::Get => 1,
            StoreDoes::Put | StoreDoes::Range => 2,
        }
    }
}

/// What must hold of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreInvariant {
    /// In words.
    pub says: String,
    /// What is counted as breaking it.
    #[serde(flatten)]
    pub counts: StoreCount,
}

/// What is counted in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "counts", rename_all = "kebab-case")]
pub enum StoreCount {
    /// Values that are not so many times the same bytes.
    Torn {
        /// How many times.
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
        /// How many clients there are.
        step: i64,
    },
    /// Keys of a range, both ends included, that are there.
    Count {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
    /// Nothing is. The pairs of a range of keys, both ends included, are told: after the rows of all invariants the answer has a
    /// row for each, its key and its value as text.
    Pairs {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
}
