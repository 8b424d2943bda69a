//! Outputs: the verdict as a table, Markdown, CSV or JSON, and progress while a run goes on.
//!
//! Everything here reads a record and its verdict and writes text. Nothing here decides anything.

mod comparison;
mod csv_lines;
pub(crate) mod encryption;
pub(crate) mod grid;
pub mod history;
mod import;
mod json;
pub(crate) mod ladder;
pub(crate) mod latency;
mod live;
mod markdown;
mod measure;
pub(crate) mod notes;
#[cfg(feature = "parquet")]
mod parquet_file;
mod progress;
mod sample_rows;
mod scaling;
mod table;
mod tax;
pub(crate) mod units;

use anyhow::Result;

use crate::cli::{Format, ShowOptions};
use crate::record::Run;
use crate::verdict::Verdict;

pub use comparison::render as render_comparison;
pub use import::ImportProgress;
pub use json::pretty;
pub use measure::Measure;
#[cfg(feature = "parquet")]
pub use parquet_file::write as parquet;
pub use progress::Progress;
pub use sample_rows::{SampleRow, csv as sample_csv, rows as sample_rows};
pub use scaling::render as render_scaling;
pub use table::plain;
pub use units::{bytes, duration, percent, ratio, significant};

/// The widest line of a table, in columns.
pub const WIDTH: usize = 100;

/// The results of a run as text.
pub fn render(run: &Run, verdict: &Verdict, options: &ShowOptions) -> Result<String> {
    match options.format {
        Format::Table => Ok(table::render(run, verdict, options)),
        Format::Markdown => Ok(markdown::render(run, verdict, options)),
        Format::Csv => csv_lines::render(run, verdict),
        Format::Json => json::render(run, verdict),
    }
}
