//! Outputs: the verdict as a table, CSV or JSON, and progress while a run goes on.
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

pub use comparison::render as render_comparison;
pub use csv_lines::render as render_csv;
pub use import::ImportProgress;
pub use json::{pretty, render as render_json};
pub use markdown::escape as escape_markdown;
pub use measure::Measure;
#[cfg(feature = "parquet")]
pub use parquet_file::write as parquet;
pub use progress::Progress;
pub use sample_rows::{SampleRow, csv as sample_csv, rows as sample_rows};
pub use scaling::render as render_scaling;
pub use table::{plain, render as render_table};
pub use units::{bytes, duration, percent, ratio, significant};

/// The widest line of a table, in columns.
pub const WIDTH: usize = 100;

/// Text in lines of at most 100 columns, the first set in by `first` and the others by `rest`. Names and commands are
/// not broken at their hyphens, so that they can be copied.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(rest);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}
