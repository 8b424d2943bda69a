//! How long single operations took.

mod csv;
pub mod page;
pub mod table;

use super::Parts;

/// What there is of it.
pub const PARTS: Parts =
    Parts { tables: table::tables, pages: page::page, columns: csv::columns, notes: table::notes };
