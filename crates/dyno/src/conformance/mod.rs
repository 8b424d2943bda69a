//! Whether a runner keeps the protocol.

use anyhow::Result;

use crate::engine::Contender;
use crate::scratch::Scratch;

/// What the checks found.
#[derive(Debug, Default)]
pub struct Report {}

impl Report {
    /// Whether every check passed.
    pub fn is_passed(&self) -> bool {
        true
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// Checks.
pub fn check(_contender: &Contender, _scratch: &Scratch) -> Result<Report> {
    Ok(Report::default())
}
