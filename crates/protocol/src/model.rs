//! The kinds of work that there are: the one list of them.

use serde::Deserialize;

/// A kind of work; docs/protocol.md says what each does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Statements as text, one after another.
    Statements,
    /// The database closed and opened again.
    Reopen,
    /// Rows by a prepared statement each.
    InsertRows,
    /// Rows by the best way that a driver has.
    BulkLoad,
    /// A file of records read, split and inserted.
    ImportFile,
    /// Rows counted whose two columns differ.
    Scan,
    /// Pairs put into a store.
    KvPut,
    /// Keys looked up.
    KvGet,
    /// All pairs in the order of their keys.
    KvScan,
    /// A few pairs in the order of their keys, from many places.
    KvRange,
    /// Keys deleted.
    KvDelete,
    /// Work that writes have deferred, done.
    KvSettle,
    /// Operations of several classes, by many clients.
    Mix,
}

impl Model {
    /// The name, as suites, jobs, run files and `runner.toml` spell it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Statements => "statements",
            Model::Reopen => "reopen",
            Model::InsertRows => "insert-rows",
            Model::BulkLoad => "bulk-load",
            Model::ImportFile => "import-file",
            Model::Scan => "scan",
            Model::KvPut => "kv-put",
            Model::KvGet => "kv-get",
            Model::KvScan => "kv-scan",
            Model::KvRange => "kv-range",
            Model::KvDelete => "kv-delete",
            Model::KvSettle => "kv-settle",
            Model::Mix => "mix",
        }
    }

    /// True if it works on the pairs of one store of keys and values.
    pub fn is_key_value(self) -> bool {
        matches!(self, Model::KvPut | Model::KvGet | Model::KvScan | Model::KvRange | Model::KvDelete)
    }
}
