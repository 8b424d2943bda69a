//! The variant `floor`: the finished database is copied to the database's place and synced. No way of loading the records
//! writes less, so this is what others are held against. Making the file comes before the clock.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use dyno_protocol::Value;
use dyno_runner::{Failure, Import};

use crate::pages::Schema;
use crate::{Client, Opening, beside};

/// Makes the file, as `pages` does, and has it on the device, so that nothing of it is still to be written within the
/// clock.
pub fn prepare(client: &mut Client, import: &Import) -> Result<(), Failure> {
    beside::check(client)?;
    let schema = match beside::is_empty(&client.connection)? {
        true => Schema::read(&client.connection, import)?,
        false => None,
    };
    let schema = schema.context("only a database is copied whose one table is empty and has no index")?;
    let place = finished(client);
    schema.write(&place, import, 1)?;
    let synced = File::open(&place).and_then(|file| file.sync_all());
    Ok(synced.with_context(|| format!("cannot sync {}", place.display()))?)
}

/// Copies it.
pub fn import(client: &mut Client, import: &Import) -> Result<u64, Failure> {
    let (finished, place) = (finished(client), beside::place(client));
    let new = place.with_extension("new");
    if !finished.exists() || has_index(client)? {
        return Err(anyhow!("nothing was finished before the clock that would be the same").into());
    }
    let copied = File::open(&finished).and_then(|mut from| io::copy(&mut from, &mut File::create(&new)?));
    copied.with_context(|| format!("cannot copy {}", finished.display()))?;
    let Opening { location, settings, key, .. } = &*client.opening;
    client.connection.replace(|| beside::replace(&new, &place), location)?;
    settings.apply(&client.connection, key.as_ref())?;
    Ok(import.records)
}

/// Whether an index was made since, which the file does not have.
fn has_index(client: &Client) -> Result<bool> {
    let found = client.connection.rows(c"SELECT count(*) FROM sqlite_master WHERE type = 'index'")?;
    Ok(found.concat() != [Value::Integer(0)])
}

fn finished(client: &Client) -> PathBuf {
    beside::place(client).with_extension("finished")
}
