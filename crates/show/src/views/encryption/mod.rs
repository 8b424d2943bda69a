//! The cost of encryption, and the evidence in the files.

mod csv;
pub mod page;
pub mod proofs;
pub mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, columns: csv::columns, ..NOTHING };
