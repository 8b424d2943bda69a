//! The work that fjall puts off: memtables that are to become tables, tables that are to be merged, and the journal.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use fjall::{Database, Keyspace, PersistMode};

/// The interval between looks whether a memtable has been written out: far less than that takes.
const LOOK: Duration = Duration::from_micros(100);

/// Writes out what is in memory, merges all tables of each keyspace, and syncs the journal. fjall's own threads write
/// memtables out, and send no signal when they have: its `rotate_memtable_and_wait` looks every 10 ms, this more often.
pub fn settle(database: &Database, keyspaces: &[Keyspace]) -> Result<()> {
    for keyspace in keyspaces {
        keyspace.rotate_memtable()?;
    }
    for keyspace in keyspaces {
        while keyspace.sealed_memtable_count() > 0 {
            sleep(LOOK);
        }
        keyspace.major_compact()?;
    }
    Ok(database.persist(PersistMode::SyncAll)?)
}
