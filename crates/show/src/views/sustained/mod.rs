//! The highest rate at which a target holds, where it was sought.

mod csv;
mod page;
mod table;
pub(crate) mod words;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: words::notes };
