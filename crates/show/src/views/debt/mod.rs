//! What stores put off: rows of text, a section of the page for each test that settles, and columns.

mod csv;
mod page;
mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, ..NOTHING };
