//! The variant `beside`: the table is filled in a new file without journal and sync, which is then synced and renamed
//! to the database's place. After a power cut either the old file or the new one exists.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, ensure};
use dyno_client::sqlite::{Connection, quoted};
use dyno_protocol::Value;
use dyno_runner::{Failure, Import};

use crate::import::{self, Variant};
use crate::pages::Schema;
use crate::settings::Database;
use crate::text::text;
use crate::{Client, Opening};

/// Settings that make the file quick to fill, and useless if the process dies: it is thrown away then.
const PRAGMAS: [&CStr; 4] = [
    c"PRAGMA journal_mode=OFF",
    c"PRAGMA synchronous=OFF",
    c"PRAGMA locking_mode=EXCLUSIVE",
    c"PRAGMA cache_size=-65536",
];

/// Imports all records at once, whatever the transactions. A database that holds rows already is not thrown away: its table is
/// filled where it is.
pub fn import(client: &mut Client, import: &Import) -> Result<u64, Failure> {
    check(client)?;
    if !is_empty(&client.connection)? {
        return import::import(&client.connection, import, Variant::Typed);
    }
    let place = place(client);
    let new = place.with_extension("new");
    let written = match client.opening.variant {
        Variant::Pages | Variant::PagesParallel => Schema::read(&client.connection, import)?,
        _ => None,
    };
    let done = match written {
        Some(schema) => {
            let all = client.opening.variant == Variant::PagesParallel;
            let threads = if all { thread::available_parallelism().map_or(1, usize::from) } else { 1 };
            schema.write(&new, import, threads)?
        }
        None => fill(client, &new, import)?,
    };
    let Opening { location, settings, key, .. } = &*client.opening;
    client.connection.replace(|| replace(&new, &place), location)?;
    settings.apply(&client.connection, key.as_ref())?;
    Ok(done)
}

/// The path of the database.
pub fn place(client: &Client) -> PathBuf {
    Path::new(OsStr::from_bytes(client.opening.location.as_bytes())).to_owned()
}

/// Fills a new file by SQLite's inserts; the connection is that file's then.
pub fn fill(client: &mut Client, new: &Path, import: &Import) -> Result<u64, Failure> {
    let location = CString::new(new.as_os_str().as_bytes()).context("the folder's name holds a NUL byte")?;
    let schema = schema(&client.connection)?;
    client.connection.reopen(&location)?;
    for sql in PRAGMAS.into_iter().chain(schema.iter().map(CString::as_c_str)) {
        client.connection.rows(sql)?;
    }
    let whole = Import { per_commit: None, ..*import };
    import::import(&client.connection, &whole, Variant::Typed)
}

pub fn check(client: &Client) -> Result<()> {
    let is_file = client.opening.settings.database == Database::File;
    ensure!(is_file, "only a database in a file can be built in a new file");
    ensure!(
        client.opening.key.is_none(),
        "a database that is encrypted is not built in a new file, which would not be"
    );
    Ok(())
}

/// Returns true if no table has rows.
pub fn is_empty(connection: &Connection) -> Result<bool> {
    for name in connection.rows(c"SELECT name FROM sqlite_master WHERE type = 'table'")?.into_iter().flatten()
    {
        let Value::Text(name) = name else { continue };
        let sql = text(format!("SELECT 1 FROM {} LIMIT 1", quoted(&name)))?;
        if !connection.rows(&sql)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The statements that made what is in the database, tables before their indexes.
fn schema(connection: &Connection) -> Result<Vec<CString>> {
    let rows = connection.rows(c"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")?;
    let texts = rows.into_iter().flatten().map(|value| match value {
        Value::Text(sql) => CString::new(sql).context("the schema holds a NUL byte"),
        _ => anyhow::bail!("the schema holds a statement that is no text"),
    });
    texts.collect()
}

/// Syncs a file, renames it to a place and syncs the folder.
pub fn replace(new: &Path, place: &Path) -> Result<()> {
    let synced = File::open(new).and_then(|file| file.sync_all());
    synced.with_context(|| format!("cannot sync {}", new.display()))?;
    fs::rename(new, place).with_context(|| format!("cannot rename {}", new.display()))?;
    let folder = place.parent().unwrap_or(Path::new("/"));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(|| format!("cannot sync {}", folder.display()))
}
