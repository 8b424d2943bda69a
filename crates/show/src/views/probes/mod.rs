//! The results of isolation probes, compared with the anomalies that each level permits.

mod page;
mod table;

use super::parts::{NOTHING, Parts};

/// The parts of this view.
pub const PARTS: Parts = Parts { tables: table::tables, pages: page::page, notes: table::notes, ..NOTHING };
