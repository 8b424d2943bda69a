//! The variant `floor`: the finished database is copied to the database's place and synced. No way of loading the records
//! writes less, so this is what others are held against. Making the file comes before the clock.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dyno_client::sqlite::Connection;
use dyno_protocol::Value;
use dyno_runner::{Failure, Import};

use crate::import::{self, Variant};
use crate::pages::Schema;
use crate::{Client, Opening, beside};

/// Makes the file, as `pages` does, and has it on the device, so that nothing of it is still to be written within the
/// clock.
pub fn prepare(client: &mut Client, import: &Import) -> Result<(), Failure> {
    beside::check(client)?;
    if !beside::is_empty(&client.connection)? {
        return Ok(());
    }
    if let Some(schema) = Schema::read(&client.connection, import)? {
        let place = finished(client)?;
        schema.write(&place, import, 1)?;
        let synced = File::open(&place).and_then(|file| file.sync_all());
        synced.with_context(|| format!("cannot sync {}", place.display()))?;
    }
    Ok(())
}

/// Copies it. Where the database is not what it was then, as with an index that is made first, the records are imported
/// as by `typed`.
pub fn import(client: &mut Client, import: &Import) -> Result<u64, Failure> {
    let (finished, place) = (finished(client)?, beside::place(client));
    if !finished.exists() || !beside::is_empty(&client.connection)? {
        return import::import(&client.connection, import, Variant::Typed);
    }
    let new = place.with_extension("new");
    let copied = File::open(&finished).and_then(|mut from| io::copy(&mut from, &mut File::create(&new)?));
    copied.with_context(|| format!("cannot copy {}", finished.display()))?;
    let Opening { location, settings, key, .. } = &*client.opening;
    client.connection.replace(|| beside::replace(&new, &place), location)?;
    settings.apply(&client.connection, key.as_ref())?;
    Ok(import.records)
}

/// The path of the file that has the database's schema: its number changes with each statement that changes it.
fn finished(client: &Client) -> Result<PathBuf> {
    let version = version(&client.connection)?;
    Ok(beside::place(client).with_extension(format!("finished-{version}")))
}

fn version(connection: &Connection) -> Result<i64> {
    match connection.rows(c"PRAGMA schema_version")?.concat()[..] {
        [Value::Integer(version)] => Ok(version),
        _ => anyhow::bail!("SQLite does not report the schema's version"),
    }
}
