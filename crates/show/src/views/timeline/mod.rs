//! What was done second by second, and when it stood still.

mod page;
mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, ..NOTHING };
