//! The result of an import.

use std::time::Duration;

use crate::pipeline::Waits;
use crate::safety::Reached;
use crate::table::Column;

/// The way in which an import's work was shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// A parser that ran concurrently with the database.
    Beside(Waits),
    /// Each thread parses and writes the pages of the database.
    Pages {
        /// The number of threads.
        threads: usize,
    },
}

/// The outcome for rows that were merged with those of a table by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merged {
    /// True if a row whose key existed updated the existing row; else it was skipped.
    pub updates: bool,
    /// The number of rows that are new in the table; None if the database was not asked, or triggers may have added or left out others.
    pub added: Option<u64>,
}

/// The result of an import.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows of the file that the database took.
    pub rows: u64,
    /// Rows that were bad.
    pub rejected: u64,
    /// Bytes of the file as it lies there.
    pub bytes: u64,
    /// The time from opening the file until the requested safety was reached.
    pub took: Duration,
    /// The safety that was reached.
    pub reached: Reached,
    /// The way in which the work was shared.
    pub course: Course,
    /// True if a late value changed the types, so that all was read again.
    pub widened: bool,
    /// The outcome of merging rows by a key, if they were merged.
    pub merged: Option<Merged>,
    /// The columns that the file filled, with their types.
    pub columns: Vec<Column>,
    /// Further notes for the user, in sentences.
    pub notes: Vec<String>,
}

/// The report of rows that have been loaded, as far as a course knows it; the rest is filled in when all is done.
pub(super) fn report(rows: u64, bytes: u64, reached: Reached, course: Course) -> Report {
    Report {
        rows,
        rejected: 0,
        bytes,
        took: Duration::ZERO,
        reached,
        course,
        widened: false,
        merged: None,
        columns: Vec::new(),
        notes: Vec::new(),
    }
}
