//! The operations of each second, and the stalls.

mod csv;
mod page;
mod table;
mod words;

use super::parts::Parts;

/// The parts of this view.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: words::notes };
