//! The tests of a job: models with their inputs, which are files that dyno has written.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{Cells, FileColumn, Pairs, RowFile, Store};
use crate::{MixWork, Model};

/// One test of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// The test's id in the suite; events name it.
    pub id: String,
    /// Statements to execute before the clock starts, in order, such as those that make a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// The work to do between the two readings of the clock.
    #[serde(flatten)]
    pub work: Work,
    /// A query whose rows are the answer. It runs after the clock has stopped. Without one, the
    /// answer is what the model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// A model with its input: the closed list of kinds of work that runners implement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum Work {
    /// Execute each statement of a file, in order, one at a time, fetching every value of every row.
    /// The answer is the rows.
    Statements {
        /// UTF-8 text, each statement ended by one NUL byte, so that a mapped file holds C strings. Transactions are
        /// statements like any other: the runner adds no statements.
        file: PathBuf,
        /// Statements in the file.
        count: u64,
    },
    /// Close the database and open it again as it was opened, with its key and settings, up to the first
    /// read. The answer is the check's.
    Reopen {},
    /// Insert every row by one prepared statement, a call for each row.
    /// The answer is the table's digest.
    InsertRows(LoadWork),
    /// Load every row by the way that the driver's variant names, or by the driver's best one.
    /// The answer is the table's digest.
    BulkLoad(LoadWork),
    /// Read a file of delimited records and insert each into a table, by the way that the driver's variant
    /// names. Reading and splitting are within the clock. The answer is the digest of the columns filled.
    ImportFile(ImportWork),
    /// Count the rows of a table whose two columns differ. The answer is the one row with the count.
    Scan {
        /// The table.
        table: String,
        /// All columns of the table, in order, for engines that do not know them.
        columns: Vec<crate::Column>,
        /// The two columns, by position.
        differ: [usize; 2],
        /// The query, for engines with SQL.
        sql: String,
    },
    /// Put every pair into a store. The answer is the store's digest.
    KvPut {
        /// The store, made before the clock starts where it is missing.
        store: Store,
        /// Keys and values, in the order in which they are put.
        pairs: Pairs,
        /// True if the keys exist already and get new values.
        overwrite: bool,
        /// The size of its transactions.
        #[serde(flatten)]
        commits: Commits,
    },
    /// Get the value of every key, in order, reading its length. The answer is how many were found, and
    /// the sum of the lengths. After the clock a sample of the values is compared with the pairs'.
    KvGet {
        /// The store.
        store: Store,
        /// The keys to look up, with the values they must have, where they are there.
        pairs: Pairs,
        /// True if the keys exist.
        present: bool,
        /// The transactions of the lookups.
        #[serde(default, skip_serializing_if = "Reads::is_each")]
        reads: Reads,
    },
    /// Visit every pair in the order of the keys, reading the key and the value's length. The answer is
    /// the count and one checksum over all keys in the order met.
    KvScan {
        /// The store.
        store: Store,
    },
    /// From each of some keys, visit up to `length` pairs in the order of the keys, itself included,
    /// reading their lengths. The answer is the number of pairs visited, the sum of the values' lengths and, from the
    /// same ranges once more after the clock, one checksum over the values in the order met.
    KvRange {
        /// The store.
        store: Store,
        /// The key to begin at, for each range; each exists.
        keys: Cells,
        /// The number of pairs to visit from each.
        length: u64,
        /// The transactions of the ranges.
        #[serde(default, skip_serializing_if = "Reads::is_each")]
        reads: Reads,
    },
    /// Delete every key. The answer is the digest of what is left.
    KvDelete {
        /// The store.
        store: Store,
        /// The keys, each of which is there.
        keys: Cells,
        /// The size of its transactions.
        #[serde(flatten)]
        commits: Commits,
    },
    /// Do the work that writes have deferred, as the engine's manual does it: write out what is in memory, compact, checkpoint,
    /// and wait until all of it is on the device. The answer is the digest of each store.
    KvSettle {
        /// The stores that tests have written to, in the order of the first writes.
        stores: Vec<Store>,
    },
    /// Many clients do operations of several classes at once. The answer is the check's.
    Mix(MixWork),
}

/// Rows for a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadWork {
    /// The table; `setup` has made it, with these columns in this order, all of type TEXT or the
    /// engine's like.
    pub table: String,
    /// The rows.
    pub rows: RowFile,
    /// The size of its transactions.
    #[serde(flatten)]
    pub commits: Commits,
}

/// A file of records for a table: UTF-8, one record a line, each ended by a line feed, without header or quoting. Fields
/// are separated by delimiters and contain no NUL byte and no backslash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportWork {
    /// The table, which `setup` has made. It may have columns that the file does not fill.
    pub table: String,
    /// The columns that the file fills, in its order.
    pub columns: Vec<FileColumn>,
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Records in the file.
    pub records: u64,
    /// The separator of fields: one byte of ASCII.
    pub delimiter: char,
    /// Statements within the clock, before the first record: those of an index that is made first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Statements within the clock, after the last record: those of an index that is made last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The size of its transactions.
    #[serde(flatten)]
    pub commits: Commits,
}

/// The transactions of lookups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Each is a separate transaction, or is done without one if the engine reads without.
    #[default]
    Each,
    /// One transaction or snapshot for all of them, begun and ended within the clock.
    One,
}

impl Reads {
    fn is_each(&self) -> bool {
        *self == Reads::Each
    }
}

/// The size of a test's transactions, and the number of operations that are timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Commits {
    /// Operations of one transaction; absent: all of them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_commit: Option<u64>,
    /// Operations, the first ones, that are timed; absent: all. The others are done after the clock has stopped, all in
    /// one transaction, so that later tests find the same data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<u64>,
}

impl Work {
    /// The shortest time that it takes, in nanoseconds: the warm-up and duration of a mix that lasts a time, else 0.
    pub fn lasts_ns(&self) -> u64 {
        match self {
            Work::Mix(MixWork { lasts: Some(lasts), .. }) => lasts.warm_up_ns + lasts.duration_ns,
            _ => 0,
        }
    }

    /// The name of its model.
    pub fn model(&self) -> &'static str {
        let model = match self {
            Work::Statements { .. } => Model::Statements,
            Work::Reopen {} => Model::Reopen,
            Work::InsertRows(_) => Model::InsertRows,
            Work::BulkLoad(_) => Model::BulkLoad,
            Work::ImportFile(_) => Model::ImportFile,
            Work::Scan { .. } => Model::Scan,
            Work::KvPut { .. } => Model::KvPut,
            Work::KvGet { .. } => Model::KvGet,
            Work::KvScan { .. } => Model::KvScan,
            Work::KvRange { .. } => Model::KvRange,
            Work::KvDelete { .. } => Model::KvDelete,
            Work::KvSettle { .. } => Model::KvSettle,
            Work::Mix(_) => Model::Mix,
        };
        model.name()
    }
}
