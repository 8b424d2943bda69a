//! Verdicts as text: tables, CSV, JSON, Markdown, and the page ([`report`]). Nothing here decides anything.

pub mod calibration;
pub mod comparison;
mod csv_column;
mod csv_lines;
mod formula;
mod grid;
pub mod history;
mod json;
mod layout;
mod markdown;
mod measure;
mod notes;
mod paint;
mod plain;
pub mod report;
mod safe;
mod table;
mod table_options;
pub mod units;
mod views;

pub use csv_lines::render as render_csv;
pub use formula::{without_formula, without_formulas};
pub use json::{pretty, render as render_json};
pub use layout::{WIDTH, set_width, width, wrapped};
pub use markdown::escape as escape_markdown;
pub use paint::{Part, paint};
pub use plain::plain;
pub use report::answers;
pub use safe::{safe, steers};
pub use table::{parts, render as render_table};
pub use table_options::TableOptions;
pub use units::{bytes, duration, percent, ratio, significant};
pub use views::durability::words::{sentence as survived, upkeep_in_words};
pub use views::scaling::table as scaling;
