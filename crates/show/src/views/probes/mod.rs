//! What probes of isolation showed, beside what each level allows.

mod page;
mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: table::notes, ..NOTHING };
