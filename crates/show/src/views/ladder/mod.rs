//! The ladder of a suite: what each rung gains over the rung that it changes. In the terminal it stands before the
//! results, and may take their place.

mod csv;
pub mod page;
pub mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { pages: page::page, columns: csv::columns, ..NOTHING };
