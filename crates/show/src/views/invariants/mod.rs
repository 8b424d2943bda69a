//! What had to hold after a test, and whether it did.

mod page;
pub mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: table::notes, ..NOTHING };
