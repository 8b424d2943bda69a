//! The costs and benefits of settings over the engine's defaults.

mod csv;
pub mod page;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { pages: page::page, columns: csv::columns, ..NOTHING };
