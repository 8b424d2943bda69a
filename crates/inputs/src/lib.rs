//! The inputs that the plan writes, as they are read: cells, rows and records in files, and the digests of what a
//! database holds when they are in it.
//!
//! A runner reads them for its work, and the plan to work the right answers out apart from all runners.

mod cells;
mod digest;
mod records;
mod rows;

pub use cells::{Cells, Slice};
pub use digest::{StoreDigest, TableDigest};
pub use records::{Malformed, Records, whole_number};
pub use rows::{MappedRows, cells_of};
