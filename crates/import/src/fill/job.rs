//! The rows that are to be written as pages, and the table that they become.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use sqlite_pages::TableTree;

use super::index::Entries;
use crate::chunks::Chunks;
use crate::convert::Converter;
#[cfg(feature = "parquet")]
use crate::parquet::{File, RowParts};
use crate::rejects::Rejects;
use crate::syntax::Dialect;

/// The rows of a text, and where they go.
pub struct Fill {
    /// The file's pieces.
    pub pieces: Pieces,
    /// The source's name in messages.
    pub name: String,
    /// The rules by which the rows are checked and converted.
    pub converter: Converter,
    /// Takes the bad rows.
    pub rejects: Arc<Mutex<Rejects>>,
    /// Bytes read of the file as it lies there.
    pub read: Arc<AtomicU64>,
    /// Set once the rest of the text is not needed any more.
    pub is_unwanted: Arc<AtomicBool>,
    /// The number of threads that work.
    pub threads: usize,
    /// The source of the rows' numbers.
    pub numbers: Numbers,
    /// The indexes: the columns of each, by their place in the file's order.
    pub indexes: Vec<Vec<usize>>,
    /// Bytes of memory in which rows and indexes are sorted.
    pub memory: usize,
    /// The folder for temporary files of data that exceed the memory.
    pub folder: PathBuf,
}

/// The source from which threads take pieces.
pub enum Pieces {
    /// A text, and how it is written.
    Text(Mutex<Chunks>, Dialect),
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Mutex<RowParts>, Arc<File>),
}

/// The source of the rows' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The rows are counted.
    Counted,
    /// From a column whose numbers ascend.
    Ascending(usize),
    /// From a column whose numbers are put in order first.
    Sorted(usize),
}

impl Numbers {
    /// The column that they come from.
    pub fn column(self) -> Option<usize> {
        match self {
            Numbers::Counted => None,
            Numbers::Ascending(column) | Numbers::Sorted(column) => Some(column),
        }
    }
}

/// A table that is written but for the levels above its leaves.
pub struct Filled {
    /// The leaves.
    pub tree: TableTree,
    /// The number of their rows.
    pub rows: u64,
    /// For each index what each thread has kept of it, in order.
    pub indexes: Vec<Vec<Entries>>,
}
