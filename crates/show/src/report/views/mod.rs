//! Views that some suites or sets of contenders call for. Each is a function of the run and its verdict that
//! gives nothing where it has nothing to show.

pub(super) mod comparison;
mod cost;
mod encryption;
mod ladder;
mod latency;
pub(super) mod published;
mod scaling;

use anyhow::Result;
use dyno_record::Run;
use dyno_verdict::Verdict;
use dyno_verdict::statistics::Ratio;
use serde::Serialize;

use super::Source;
use super::charts::Figure;
use super::words;

/// A section with a chart and, where the chart does not say it all, a table.
#[derive(Debug, Serialize)]
pub(super) struct View {
    pub anchor: String,
    pub title: String,
    /// What it shows and how to read it.
    pub text: String,
    /// What the chart can show one of, such as the tests; empty where it shows all at once.
    pub choices: Vec<String>,
    pub figure: Figure,
    /// What is in the table.
    pub details: &'static str,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// What else there is to say, a sentence each.
    pub notes: Vec<String>,
}

/// The last row of a table of changes: their geometric means, with intervals.
fn mean_row<'a>(means: impl Iterator<Item = Option<&'a Ratio>>) -> Vec<String> {
    let cell = |mean: Option<&Ratio>| mean.map_or("–".into(), words::change_with_interval);
    [String::new(), "geometric mean".into()].into_iter().chain(means.map(cell)).collect()
}

/// All views that the subject of the page, or the runs beside it, call for.
///
/// # Errors
/// The runs are of several sizes and cannot be set side by side.
pub(super) fn views(sources: &[Source], run: &Run, verdict: &Verdict) -> Result<Vec<View>> {
    let mut views = Vec::new();
    views.extend(ladder::ladder(run, verdict));
    views.extend(scaling::scaling(sources)?);
    views.extend(encryption::encryption(run, verdict));
    // A ladder says what each change brings.
    if verdict.ladders.is_empty() {
        views.extend(cost::driver_tax(run, verdict));
        views.extend(cost::settings(run, verdict));
    }
    views.extend(latency::latencies(run));
    Ok(views)
}
