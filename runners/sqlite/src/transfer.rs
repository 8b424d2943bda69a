//! The variant `transfer`: the table is filled in a new file without journal and sync, which is then attached; SQLite takes
//! the rows over as they lie there, without looking into them (<https://sqlite.org/src/doc/trunk/src/insert.c>, `xferOptimization`),
//! in one transaction of the database's own.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use anyhow::Context;
use dyno_client::sqlite::quoted;
use dyno_runner::{Failure, Import};

use crate::import::{self, Variant};
use crate::text::text;
use crate::{Client, Opening, beside};

/// Imports all records at once, whatever the transactions. A table that holds rows already is filled as by `typed`.
pub fn import(client: &mut Client, import: &Import) -> Result<u64, Failure> {
    beside::check(client)?;
    if !beside::is_empty(&client.connection)? {
        return import::import(&client.connection, import, Variant::Typed);
    }
    let source = beside::place(client).with_extension("source");
    let done = beside::fill(client, &source, import)?;
    let Opening { location, settings, key, .. } = &*client.opening;
    client.connection.reopen(location)?;
    settings.apply(&client.connection, key.as_ref())?;
    let table = quoted(import.table);
    let name = String::from_utf8(source.as_os_str().as_bytes().to_vec());
    let name = name.context("the folder's name is no text")?.replace('\'', "''");
    for sql in [
        format!("ATTACH '{name}' AS source"),
        format!("INSERT INTO main.{table} SELECT * FROM source.{table}"),
        "DETACH source".to_owned(),
    ] {
        client.connection.rows(&text(sql)?)?;
    }
    fs::remove_file(&source).with_context(|| format!("cannot remove {}", source.display()))?;
    Ok(done)
}
