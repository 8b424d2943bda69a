//! Views that only some runs need. Each view is a folder with its table, its page and its columns, and is listed below;
//! its data are judged in `dyno_verdict`, under the same name. Only `costs` judges nothing: it shows figures that every
//! test has. A view without data is empty. `against` is shared by several of them.

pub(crate) mod against;
mod costs;
pub(crate) mod debt;
mod drivers;
pub(crate) mod durability;
pub(crate) mod encryption;
mod invariants;
pub(crate) mod ladder;
mod latency;
mod probes;
pub(crate) mod published;
pub(crate) mod scaling;
mod settings;
mod statements;
pub(crate) mod sustained;
mod timeline;

use dyno_verdict::{JointVerdict, Verdict};
use serde::Serialize;

use crate::csv_lines::Column;
use crate::report::charts::Figure;
use crate::table::TableOptions;

/// The views, in the order in which they are shown.
const VIEWS: [Parts; 15] = [
    ladder::PARTS,
    scaling::PARTS,
    encryption::PARTS,
    published::PARTS,
    costs::PARTS,
    drivers::PARTS,
    settings::PARTS,
    invariants::PARTS,
    sustained::PARTS,
    probes::PARTS,
    latency::PARTS,
    statements::PARTS,
    timeline::PARTS,
    durability::PARTS,
    debt::PARTS,
];

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
const NOTHING: Parts = Parts {
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

/// The tables of all views.
pub(crate) fn tables(verdict: &Verdict, options: TableOptions) -> Vec<String> {
    VIEWS.iter().flat_map(|view| (view.tables)(verdict, options)).collect()
}

/// The sections of all views.
pub(crate) fn pages(verdict: &Verdict, beside: &JointVerdict) -> Vec<View> {
    VIEWS.iter().flat_map(|view| (view.pages)(verdict, beside)).collect()
}

/// The columns of all views.
pub(crate) fn columns(verdict: &Verdict, contender: usize, test: usize) -> Vec<Column> {
    VIEWS.iter().flat_map(|view| (view.columns)(verdict, contender, test)).collect()
}

/// The notes of the views below the tables.
pub(crate) fn notes(verdict: &Verdict) -> Vec<String> {
    VIEWS.iter().flat_map(|view| (view.notes)(verdict)).collect()
}
