//! Figures that others published, beside this run's. The page has a place of its own for them.

pub mod page;
pub mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, ..NOTHING };
