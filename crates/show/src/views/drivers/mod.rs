//! What each driver of an engine costs over its lowest-level one.

mod csv;
pub mod page;
pub mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, ..NOTHING };
