//! The causes of a difference: sentences, a table of shares, a section of the page, and notes.

mod page;
mod table;
pub mod text;
mod words;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: words::notes, ..NOTHING };
