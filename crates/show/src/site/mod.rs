//! The index of a site: many runs of many machines on one page, which needs no server and no network.
//!
//! Pure: cohorts in, HTML and JSON out. The page's script hides and shows what the address asks for and computes
//! nothing.

mod page;

use anyhow::{Context, Result};
use dyno_verdict::Cohort;
use serde::Serialize;

/// A run file of a site.
#[derive(Debug, Clone, Serialize)]
pub struct SiteRun {
    /// The name of the run file.
    pub name: String,
    /// The name of its page; absent of a run that is refused.
    pub page: Option<String>,
    /// The SHA-256 of the run file, in hexadecimal digits.
    pub sha256: String,
    /// The suite.
    pub suite: String,
    /// The time when it began, UTC, RFC 3339.
    pub started: String,
    /// The program that made it: version, and commit where that is known.
    pub dyno: String,
    /// The maker, as stated: `maintainer`, `vendor:ENGINE` or `other`; null where it is not stated.
    pub made_by: Option<String>,
    /// The contenders.
    pub contenders: Vec<String>,
    /// The smallest difference in the mean over the tests that four of five runs with its scatter would show, as a factor
    /// above one; null where there is no mean.
    pub sensitivity: Option<f64>,
    /// The reasons to refuse it; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// The reason for which its maker withdrew it; absent if it stands.
    pub withdrawn: Option<String>,
}

/// The index page.
///
/// # Errors
/// The page cannot be set in its template.
pub fn index(cohorts: &[Cohort], runs: &[SiteRun]) -> Result<String> {
    page::render(cohorts, runs)
}

/// `runs.json`: the same for programs.
///
/// # Errors
/// It cannot be written as JSON.
pub fn runs_json(cohorts: &[Cohort], runs: &[SiteRun]) -> Result<String> {
    /// The whole file.
    #[derive(Serialize)]
    struct RunList<'a> {
        cohorts: &'a [Cohort],
        runs: &'a [SiteRun],
    }
    serde_json::to_string(&RunList { cohorts, runs }).context("cannot write the list of runs")
}
