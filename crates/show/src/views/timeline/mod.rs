//! What was done second by second, and when it stood still.

mod csv;
mod page;
mod table;
mod words;

use super::Parts;

/// What there is of it.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: words::notes };
