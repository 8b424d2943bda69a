//! Views that some suites or sets of contenders call for. Each is a function of the run and its verdict that
//! gives nothing where it has nothing to show.

pub(super) mod comparison;
mod cost;
pub(super) mod published;

use serde::Serialize;

use super::charts::Figure;
use crate::record::Run;
use crate::verdict::Verdict;

/// A section with a chart and, where the chart does not say it all, a table.
#[derive(Debug, Serialize)]
pub(super) struct View {
    pub anchor: String,
    pub title: String,
    /// What it shows and how to read it.
    pub text: String,
    pub figure: Figure,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// All views that this run calls for.
pub(super) fn views(run: &Run, verdict: &Verdict) -> Vec<View> {
    let mut views = cost::driver_tax(run, verdict);
    views.extend(cost::settings(run, verdict));
    views
}
