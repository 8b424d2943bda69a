//! Figures that others published, next to this run's. They have a separate section of the page.

pub mod page;
pub mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, ..NOTHING };
