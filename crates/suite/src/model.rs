//! The models as suites name them, and what a test of each must say.

use serde::Deserialize;

use super::Test;

/// The models that suites can use; docs/protocol.md says what each does.
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
}

/// How the statements of a test commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transaction {
    /// Each statement is a transaction of its own.
    #[default]
    Each,
    /// One transaction holds them all; its BEGIN and COMMIT are timed with them.
    One,
}

impl Model {
    /// The name, as the protocol and `runner.toml` spell it.
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
        }
    }

    /// Whether it works on a store of keys and values.
    pub fn is_key_value(self) -> bool {
        matches!(self, Model::KvPut | Model::KvGet | Model::KvScan | Model::KvRange | Model::KvDelete)
    }

    /// The keys that a test of this model takes, each with whether it must have it, beside those that
    /// every test takes.
    fn keys(self) -> &'static [(&'static str, bool)] {
        match self {
            Model::Statements => &[("statements", true), ("transaction", false), ("check", false)],
            Model::Reopen => &[("check", true)],
            Model::InsertRows | Model::BulkLoad => {
                &[("data", true), ("table", true), ("one_by_one", false), ("check", false)]
            }
            Model::ImportFile => {
                &[("data", true), ("table", true), ("index", false), ("one_by_one", false), ("check", false)]
            }
            Model::Scan => &[("data", true), ("table", true), ("differ", true), ("statements", true)],
            Model::KvPut => &[("data", true), ("overwrite", false), ("one_by_one", false)],
            Model::KvGet => &[("data", true), ("absent", false), ("lookups", false)],
            Model::KvScan => &[("data", true)],
            Model::KvRange => &[("data", true), ("length", true)],
            Model::KvDelete => &[("data", true), ("one_by_one", false)],
        }
    }

    /// What is wrong with the keys of a test of this model, if anything is.
    pub fn complaint(self, test: &Test) -> Option<String> {
        let given = [
            ("statements", test.statements.is_some()),
            ("transaction", test.transaction != Transaction::Each),
            ("data", test.data.is_some()),
            ("table", test.table.is_some()),
            ("index", test.index.is_some()),
            ("differ", test.differ.is_some()),
            ("absent", test.absent),
            ("overwrite", test.overwrite),
            ("lookups", test.lookups.is_some()),
            ("length", test.length.is_some()),
            ("one_by_one", test.one_by_one.is_some()),
            ("check", test.check.is_some()),
        ];
        given.into_iter().find_map(|(key, is_given)| {
            let known = self.keys().iter().find(|(known, _)| *known == key);
            match (known, is_given) {
                (None, true) => Some(format!("the model {} takes no `{key}`", self.name())),
                (Some((_, true)), false) => Some(format!("the model {} needs `{key}`", self.name())),
                _ => None,
            }
        })
    }
}
