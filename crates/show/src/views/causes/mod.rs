//! The causes of a difference: sentences, a table of shares, and notes.

mod table;
mod words;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, notes: words::notes, ..NOTHING };

pub use table::render;
