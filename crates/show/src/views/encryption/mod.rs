//! What encryption costs, and what the files have shown.

mod csv;
pub mod page;
pub mod proofs;
pub mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, ..NOTHING };
