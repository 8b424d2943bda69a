//! Verdicts as text: tables, CSV, JSON, Markdown, and the page ([`report`]). Nothing here decides anything.

pub mod comparison;
mod csv_lines;
mod encryption;
mod grid;
pub mod history;
mod json;
mod ladder;
mod latency;
mod markdown;
mod measure;
mod notes;
#[cfg(feature = "parquet")]
mod parquet_file;
pub mod report;
mod safe;
mod sample_rows;
pub mod scaling;
mod table;
mod tax;
pub mod units;

pub use csv_lines::render as render_csv;
pub use json::{pretty, render as render_json};
pub use markdown::escape as escape_markdown;
pub use measure::Measure;
#[cfg(feature = "parquet")]
pub use parquet_file::write as parquet;
pub use safe::{safe, steers};
pub use sample_rows::{SampleRow, csv as sample_csv, rows as sample_rows};
pub use table::{TableOptions, plain, render as render_table};
pub use units::{bytes, duration, percent, ratio, significant};

/// The widest line of a table, in columns.
pub const WIDTH: usize = 100;

/// Text in lines of at most 100 columns, the first set in by `first` and the others by `rest`. Names and commands are
/// not broken at their hyphens, so that they can be copied.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(rest);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}
