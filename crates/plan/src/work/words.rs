//! The description of a test on arrays, in words.

use dyno_protocol::{KeyKind, LoadWork, Store, Work};
use dyno_suite::Test;

use super::PreparedWork;

/// A few lines that say what a test on arrays does, where it has no statements to show.
pub fn in_words(prepared: &PreparedWork, test: &Test) -> Vec<String> {
    let count = prepared.amount.count;
    let keys = |store: &Store| match store.key {
        KeyKind::Integer => "integer keys",
        KeyKind::Blob => "blob keys",
    };
    let line = match &prepared.work {
        Work::InsertRows(load) => format!("insert {count} rows of {} into {}", shape(load), load.table),
        Work::BulkLoad(load) => format!("load {count} rows of {} into {}", shape(load), load.table),
        Work::ImportFile(work) => {
            format!(
                "read {count} records of {} fields and insert them into {}",
                work.columns.len(),
                work.table
            )
        }
        Work::KvPut { store, overwrite: false, .. } => format!("put {count} pairs with {}", keys(store)),
        Work::KvPut { store, .. } => format!("put {count} new values for {} that are there", keys(store)),
        Work::KvGet { store, present: true, .. } => format!("get {count} {} that are there", keys(store)),
        Work::KvGet { store, .. } => format!("get {count} {} that are not there", keys(store)),
        Work::KvScan { store } => format!("visit {count} pairs in the order of their {}", keys(store)),
        Work::KvRange { store, length, .. } => {
            format!("visit {length} pairs from each of {count} {}", keys(store))
        }
        Work::KvDelete { store, .. } => format!("delete {count} {}", keys(store)),
        Work::KvSettle { .. } => {
            "do the work that writes have deferred, and wait until all is on the device".to_owned()
        }
        Work::Statements { .. } | Work::Reopen {} | Work::Scan { .. } | Work::Mix(_) => test.shows.clone(),
    };
    vec![line]
}

fn shape(load: &LoadWork) -> String {
    let columns = &load.rows.columns;
    format!("{} columns of {} bytes", columns.len(), columns.first().map_or(0, |column| column.bytes))
}
