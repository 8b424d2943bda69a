//! The keys that a test of each model must have.

use dyno_protocol::Model;
use serde::Deserialize;

use super::Test;

/// The transactions of a test's statements or lookups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transaction {
    /// Each is a separate transaction.
    #[default]
    Each,
    /// One transaction holds them all; its beginning and its end are timed with them.
    One,
}

/// The keys that a test of this model takes in addition to those that every test takes; true if the key is required.
fn keys(model: Model) -> &'static [(&'static str, bool)] {
    match model {
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
        Model::KvGet => &[("data", true), ("absent", false), ("lookups", false), ("transaction", false)],
        Model::KvScan => &[("data", true)],
        Model::KvRange => &[("data", true), ("length", true), ("transaction", false)],
        Model::KvDelete => &[("data", true), ("one_by_one", false)],
        Model::KvSettle => &[],
        Model::Mix => &[
            ("class", true),
            ("check", false),
            ("invariant", false),
            ("a_minute", false),
            ("values", false),
            ("lists", false),
            ("clients", false),
            ("duration", false),
            ("warm_up", false),
            ("count", false),
            ("rate", false),
            ("think", false),
            ("patience", false),
            ("sessions", false),
        ],
    }
}

/// The error in a test's keys, if they have one.
pub fn complaint(test: &Test) -> Option<String> {
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
        ("invariant", !test.invariants.is_empty()),
        ("a_minute", test.a_minute.is_some()),
        ("class", !test.classes.is_empty()),
        ("values", !test.values.is_empty()),
        ("lists", !test.lists.is_empty()),
        ("clients", test.clients.is_some()),
        ("duration", test.duration.is_some()),
        ("warm_up", test.warm_up.is_some()),
        ("count", test.count.is_some()),
        ("rate", test.rate.is_some()),
        ("think", test.think.is_some()),
        ("patience", test.patience.is_some()),
        ("sessions", test.sessions.is_some()),
    ];
    given.into_iter().find_map(|(key, is_given)| {
        let known = keys(test.model).iter().find(|(known, _)| *known == key);
        match (known, is_given) {
            (None, true) => Some(format!("the model {} takes no `{key}`", test.model.name())),
            (Some((_, true)), false) => Some(format!("the model {} needs `{key}`", test.model.name())),
            _ => None,
        }
    })
}
