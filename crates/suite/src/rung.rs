//! The rungs of a ladder: contenders in an order, because each changes one thing of another.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde::Deserialize;

/// A rung as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// A short name, unique in the suite.
    pub name: String,
    /// The contender.
    pub contender: String,
    /// A sentence on what it changes.
    pub shows: String,
    /// Published rows per second; a `[[published]]` names the source and the system.
    pub published: Option<f64>,
    /// The rung with which it is compared; absent: the one before; empty: none.
    over: Option<String>,
}

/// The name of the rung with which one is compared.
pub fn compared_with(rungs: &[Rung], index: usize) -> Option<&str> {
    match rungs[index].over.as_deref() {
        Some("") => None,
        Some(over) => Some(over),
        None => index.checked_sub(1).map(|before| rungs[before].name.as_str()),
    }
}

/// Refuses rungs that do not fit together.
pub fn check(rungs: &[Rung]) -> Result<()> {
    let mut names = BTreeSet::new();
    for (index, rung) in rungs.iter().enumerate() {
        if let Some(over) = compared_with(rungs, index) {
            ensure!(
                names.contains(over),
                "the rung '{}' is compared with '{over}', which is not one of those before it",
                rung.name
            );
        }
        ensure!(
            !rung.name.is_empty() && names.insert(rung.name.as_str()),
            "two rungs are named '{}'",
            rung.name
        );
        ensure!(
            rung.published.is_none_or(|rate| rate.is_finite() && rate > 0.0),
            "the rung '{}' has a published rate that is not a positive number",
            rung.name
        );
    }
    Ok(())
}
