//! Views that only some runs need. Each view is a folder with its table, its page and its columns, and is listed below;
//! its data are judged in `dyno_verdict`, under the same name. Only `costs` and `per_operation` judge nothing: they show figures
//! that tests have. A view without data is empty. `against` is shared by several of them.

pub(crate) mod against;
pub(crate) mod causes;
mod costs;
pub(crate) mod debt;
mod drivers;
pub(crate) mod durability;
pub(crate) mod encryption;
pub(crate) mod functions;
mod invariants;
pub(crate) mod ladder;
mod latency;
pub(crate) mod parts;
pub(crate) mod per_operation;
mod probes;
pub(crate) mod published;
pub(crate) mod scaling;
mod settings;
mod statements;
pub(crate) mod sustained;
mod timeline;
mod traffic;
mod why;

use dyno_verdict::{JointVerdict, Verdict};

use parts::{Parts, View};

use crate::csv_column::Column;
use crate::table_options::TableOptions;

/// The views, in the order in which they are shown.
const VIEWS: [Parts; 20] = [
    ladder::PARTS,
    scaling::PARTS,
    encryption::PARTS,
    published::PARTS,
    per_operation::PARTS,
    costs::PARTS,
    drivers::PARTS,
    settings::PARTS,
    invariants::PARTS,
    sustained::PARTS,
    probes::PARTS,
    latency::PARTS,
    statements::PARTS,
    traffic::PARTS,
    timeline::PARTS,
    durability::PARTS,
    debt::PARTS,
    functions::PARTS,
    why::PARTS,
    causes::PARTS,
];

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
