//! Files of delimited records: the model `import-file`.
//!
//! All reading is done within the clock: the file is mapped when the clock has started, and records are split as the
//! driver asks for them. Fields are handed out where they lie in the file.

use std::path::Path;

use dyno_inputs::Records;
use dyno_protocol::FileColumn;

/// Records to import.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// The table, which is there.
    pub table: &'a str,
    /// The columns that the file fills, in its order; the table may have others.
    pub columns: &'a [FileColumn],
    /// The delimiter between fields.
    pub delimiter: u8,
    /// The records as they lie in the file, each ended by a line feed.
    pub bytes: &'a [u8],
    /// The number of records.
    pub records: u64,
    /// The number of records in a transaction; none: all of them are one.
    pub per_commit: Option<u64>,
    /// The file, for engines that read it themselves; none where not all of it is to be imported.
    pub file: Option<&'a Path>,
}

impl<'a> Import<'a> {
    /// The names of the columns.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + Clone {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Begins to read.
    pub fn reader(&self) -> Records<'a> {
        Records::new(self.bytes, self.delimiter, self.columns.len())
    }
}
