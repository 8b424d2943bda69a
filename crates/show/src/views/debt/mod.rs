//! What stores put off, as rows of text. Time and bytes of each test are among the other figures of the page and of CSV.

mod table;

use super::{NOTHING, Parts};

/// What there is of it.
pub const PARTS: Parts = Parts { tables: table::tables, ..NOTHING };
