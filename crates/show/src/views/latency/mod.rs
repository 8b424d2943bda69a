//! Durations of single operations.

mod csv;
pub mod page;
pub mod table;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: table::notes };
