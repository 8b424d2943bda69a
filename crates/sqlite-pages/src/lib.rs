//! Writes a new SQLite database page by page, from rows in order and without SQLite, as
//! <https://sqlite.org/fileformat2.html> describes the file.
//!
//! The way of the data: rows become [`Value`]s, a thread fills [`Leaves`] with them, [`Pages`] gives those
//! leaves their places in the file, a [`TableTree`] puts the levels above them, and [`Database`] writes the schema
//! on the first page, last of all. For an index, and for a table WITHOUT ROWID, which is a tree of the same kind, a
//! [`Sorter`] puts records in order, and gives them in [`Parts`]; of each a thread fills [`IndexLeaves`], and an
//! [`IndexTree`] puts the levels above them.
//!
//! Several threads may fill leaves at once; only their order in the tree is the caller's to keep. The file is no valid
//! database until [`Database::finish`] has returned; then the caller syncs it and moves it to its place. A database
//! that exists is never touched. README.md has a whole example, which the tests run.

mod cells;
mod copy;
mod database;
mod error;
mod index;
mod index_leaves;
mod keys;
mod leaf;
mod leaves;
mod merge;
mod merge_keys;
mod order;
mod page;
mod pages;
mod pairs;
mod payload;
mod prefix;
mod radix;
mod record;
mod records;
mod row;
mod runs;
mod sort;
mod source;
mod table;
mod varint;

pub use database::{Database, Object};
pub use error::Error;
pub use index::IndexTree;
pub use index_leaves::{IndexLeaves, IndexPlaced};
pub use keys::KeySorter;
pub use leaves::{Leaves, Placed};
pub use merge::{Parts, Sorted};
pub use merge_keys::{KeyParts, SortedKeys};
pub use pages::{PageSize, Pages};
pub use record::{Encoder, Value, Values, compare};
pub use records::Records;
pub use row::{Body, Made, Row};
pub use sort::Sorter;
pub use table::TableTree;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
const README: () = ();
