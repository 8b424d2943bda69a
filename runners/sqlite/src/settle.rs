//! The work that SQLite puts off: pages that are in the log and not in the database, and where nothing is synced, all
//! that the kernel has not written yet.

use anyhow::{Context, Result, ensure};
use dyno_client::sqlite::Connection;
use dyno_protocol::Value;

/// Moves the log into the database (<https://www.sqlite.org/pragma.html#pragma_wal_checkpoint>) and waits until it is
/// on the device. A connection that syncs nothing is set to sync meanwhile. With a journal that is all that there is to
/// do, and SQLite syncs only where it writes: so it writes the version of its application once more, which is never
/// read.
pub fn settle(connection: &Connection) -> Result<()> {
    let synchronous = integer(connection, c"PRAGMA synchronous")?;
    let lazy = synchronous == 0;
    if lazy {
        connection.rows(c"PRAGMA synchronous = NORMAL")?;
        connection.rows(c"PRAGMA user_version = 0")?;
    }
    let checkpoint = connection.rows(c"PRAGMA wal_checkpoint(TRUNCATE)")?;
    let busy = checkpoint.first().and_then(|row| row.first());
    ensure!(busy == Some(&Value::Integer(0)), "the checkpoint was not whole: a reader uses the log");
    if lazy {
        connection.rows(c"PRAGMA synchronous = OFF")?;
    }
    Ok(())
}

fn integer(connection: &Connection, sql: &std::ffi::CStr) -> Result<i64> {
    match connection.rows(sql)?.first().and_then(|row| row.first()) {
        Some(Value::Integer(number)) => Ok(*number),
        _ => Err(anyhow::anyhow!("the engine answered without a number")),
    }
    .with_context(|| sql.to_string_lossy().into_owned())
}
