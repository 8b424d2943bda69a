//! Verdicts as text: tables, CSV, JSON, Markdown, and the page ([`report`]). Nothing here decides anything.

pub mod calibration;
pub mod comparison;
mod csv_lines;
mod grid;
pub mod history;
mod json;
mod markdown;
mod measure;
mod notes;
pub mod report;
mod safe;
mod table;
pub mod units;
mod views;

pub use csv_lines::render as render_csv;
pub use json::{pretty, render as render_json};
pub use markdown::escape as escape_markdown;
pub use safe::{safe, steers};
pub use table::{TableOptions, plain, render as render_table};
pub use units::{bytes, duration, percent, ratio, significant};
pub use views::durability::words::sentence as survived;
pub use views::scaling::table as scaling;

/// The widest line of a table, in columns.
pub const WIDTH: usize = 100;

/// Text in lines of at most 100 columns, the first set in by `first` and the others by `rest`. Names and commands are
/// not broken at their hyphens, so that they can be copied.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(rest);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}
