//! The highest rate at which a target holds, where it was sought.

mod csv;
mod page;
mod table;
pub(crate) mod words;

use super::Parts;

/// What there is of it.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: words::notes };
