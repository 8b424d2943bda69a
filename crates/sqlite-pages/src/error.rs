//! The errors of this crate.

/// The reason that a database could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, or a temporary file of a sort, could not be written or read.
    #[error("cannot write the database")]
    Io(#[from] std::io::Error),
    /// A row is longer than SQLite takes.
    #[error("a row of {0} bytes is longer than SQLite takes (1,000,000,000)")]
    RowTooLong(u64),
    /// The file would have more pages than SQLite can number.
    #[error("the database would have more than 4,294,967,294 pages; larger pages hold more")]
    TooManyPages,
    /// A row's number is not above the one before it.
    #[error("the row with number {number} comes after the one with number {before}")]
    RowsOutOfOrder {
        /// The row's.
        number: i64,
        /// The one before it.
        before: i64,
    },
    /// Leaves of an index do not come where they were made for, or have too few records.
    #[error("leaves of an index came in another order than they were made for, or with too few records")]
    LeavesOutOfPlace,
}
