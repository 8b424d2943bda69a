//! What settings cost and buy over the engine's own.

mod csv;
pub mod page;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { pages: page::page, columns: csv::columns, ..NOTHING };
