//! Loads of rows and scans, as `bench/prepared.c` reads them.

use std::ffi::OsString;

use dyno_protocol::LoadWork;

/// A load's arguments.
pub fn arguments(setup: &[String], load: &LoadWork) -> Vec<OsString> {
    let columns = &load.rows.columns;
    let first = ["rows".into(), load.table.clone(), setup.join(";"), columns.len().to_string()];
    let names = columns.iter().map(|column| column.name.clone());
    let widths = columns.iter().map(|column| column.bytes.to_string().into());
    let before = first.into_iter().chain(names).map(OsString::from);
    before.chain([load.rows.file.clone().into()]).chain(widths).collect()
}
