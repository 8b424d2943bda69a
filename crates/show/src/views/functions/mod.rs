//! The functions in which two builds differ: tables, a section of the page, and columns.

mod csv;
mod page;
pub(crate) mod table;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: table::notes };
