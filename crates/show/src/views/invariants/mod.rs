//! The invariants of tests, and whether they held.

mod page;
pub mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: table::notes, ..NOTHING };
