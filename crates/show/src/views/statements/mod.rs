//! Durations of the statements of operations, in runs that timed them.

mod page;
mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: table::notes, ..NOTHING };
