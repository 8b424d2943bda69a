//! The cost of each driver of an engine over its lowest-level one.

mod csv;
pub mod page;
pub mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, ..NOTHING };
