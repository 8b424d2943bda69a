//! The form of a view: its tables, its sections of the page, its columns and its notes.

use dyno_verdict::{JointVerdict, Verdict};
use serde::Serialize;

use crate::csv_column::Column;
use crate::report::charts::Figure;
use crate::table_options::TableOptions;

/// The parts of a view.
pub(crate) struct Parts {
    /// Its tables on the terminal, after those of the results.
    pub tables: fn(&Verdict, TableOptions) -> Vec<String>,
    /// Its sections of the page: of the subject, or of the subject compared with other runs.
    pub pages: fn(&Verdict, &JointVerdict) -> Vec<View>,
    /// Its columns of CSV, the same in every run: of a contender in a test, by their places.
    pub columns: fn(&Verdict, usize, usize) -> Vec<Column>,
    /// Its notes below the tables.
    pub notes: fn(&Verdict) -> Vec<String>,
}

/// Defaults for the parts that a view lacks.
pub(crate) const NOTHING: Parts = Parts {
    tables: |_, _| Vec::new(),
    pages: |_, _| Vec::new(),
    columns: |_, _, _| Vec::new(),
    notes: |_| Vec::new(),
};

/// A section with a chart and, where the chart does not say it all, a table.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    pub anchor: String,
    pub title: String,
    /// The contents of the chart and how to read it.
    pub text: String,
    /// Items of which the chart can show one at a time, such as the tests; empty if it shows everything at once.
    pub choices: Vec<String>,
    pub figure: Figure,
    /// The contents of the table.
    pub details: &'static str,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Further notes, a sentence each.
    pub notes: Vec<String>,
}
