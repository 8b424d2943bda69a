//! Rows that SQLite inserts: into a new database next to its place, or into an existing one.

use std::ffi::c_int;

use anyhow::{Context, Error, Result, bail, ensure};
use dyno_client::sqlite::SqliteError;
use dyno_client::sqlite::api::{CONSTRAINT, IOERR_DIR_FSYNC};

use super::catalog::{ForeignKeys, FoundTable};
use super::connection::Connection;
use super::feed::{self, Feeding};
use super::heeding::{interruptible, patiently};
use super::losses::Uses;
use super::place::NewDatabase;
use super::schema::quoted;
use super::{FRESH, Sqlite, place};
use crate::error::{Input, shown};
use crate::names::escaped;
use crate::pipeline::{ImportObserver, Rows};
use crate::safety::{Reached, Safety};
use crate::table::Table;
use crate::target::{Existing, literal};

/// Begins a transaction in which no other program can write, so that none can come between and fail it half way.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

impl Sqlite {
    fn fill(
        &self,
        connection: &Connection,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
    ) -> Result<Option<String>> {
        let statements = self.schema(table, existing);
        for sql in statements.before {
            connection.execute(&sql).with_context(|| format!("cannot execute {}", shown(&sql))).input()?;
        }
        let feeding = Feeding {
            columns: table.columns.len(),
            one_by_one: self.insertion(table, existing).one_by_one,
            counts: self.added_to(existing).is_some_and(FoundTable::has_triggers),
        };
        let inserted =
            feed::load(connection, &statements.insert, feeding, rows)?.filter(|_| table.merge.is_none());
        if existing == Existing::Append {
            keep_numbers(connection, table)?;
        }
        let left_out = inserted.and_then(|count| rows.leave_out(rows.loaded().saturating_sub(count)));
        for sql in statements.after {
            rows.watch().doing("making indexes");
            let is_kept = self.attached().iter().any(|(_, kept)| *kept == sql);
            let hint = if is_kept { ": drop it first if the new table is to be without it" } else { "" };
            let made = connection.execute(&sql);
            let made =
                made.with_context(|| format!("cannot execute {}; nothing was loaded{hint}", shown(&sql)));
            if is_kept { made.input() } else { made }?;
        }
        Ok(left_out)
    }

    /// Loads a new database, by SQLite's inserts.
    pub(super) fn load_fresh(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let fresh = NewDatabase::named(&self.place, self.rights)?;
        fresh.write_behind(|| {
            let connection =
                Connection::open(&self.api, fresh.path().context("the file has no name")?, self.wait)?;
            set(&connection, &FRESH)?;
            connection.execute("BEGIN")?;
            let watch = rows.watch();
            interruptible(&connection, watch, || self.fill(&connection, table, existing, rows).map(drop))?;
            check()?;
            connection.execute("COMMIT")?;
            connection.close()
        })?;
        self.finish(fresh, rows.watch(), &|| rows.seal())
    }

    /// Moves a database that is whole to its place. Right before it calls `seal`: what takes long has been done by then, so
    /// that a kill hardly leaves rejected rows of an import that loaded nothing.
    pub(super) fn finish(
        &self,
        fresh: NewDatabase,
        watch: &dyn ImportObserver,
        seal: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let sync = self.safety == Safety::PowerLoss;
        watch.doing(if sync { "syncing" } else { "moving into place" });
        if sync {
            fresh.sync()?;
        }
        seal()?;
        let unsynced = fresh.finish(sync)?;
        let place = "built in the same folder";
        Ok(match (sync, unsynced) {
            (true, Some(error)) => Reached {
                safety: Safety::ProcessCrash,
                by: format!("{place} and renamed, but its folder could not be synced: {error}"),
            },
            (true, None) => Reached {
                safety: Safety::PowerLoss,
                by: format!("{place}, file synced, renamed, folder synced"),
            },
            (false, _) => {
                Reached { safety: Safety::ProcessCrash, by: format!("{place} and renamed, not synced") }
            }
        })
    }

    /// Loads into an existing database.
    pub(super) fn load_existing(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let connection = self.open_existing(rows.watch())?;
        let added_to = self.added_to(existing);
        let foreign_keys = added_to.map_or(ForeignKeys::None, |found| found.foreign_keys);
        // A row that gets new values may lose those to which rows of another table refer.
        let may_unrefer = table.updates() && added_to.is_some_and(|found| found.is_referred);
        if foreign_keys != ForeignKeys::None || may_unrefer {
            set(&connection, &[("foreign_keys", "ON")])?;
        }
        let (watch, mut added, mut left_out) = (rows.watch(), None, None);
        let reached = in_transaction(connection, watch, |connection| {
            self.check_same(connection, table)?;
            if foreign_keys == ForeignKeys::Itself {
                // Rows may refer to later ones, also where each is a statement.
                connection.execute("PRAGMA defer_foreign_keys=ON")?;
            }
            let before = self.counted(connection, table)?;
            let is_replaced = existing == Existing::Replace;
            let uses = is_replaced.then(|| Uses::of(connection, &table.name)).transpose()?;
            interruptible(connection, watch, || {
                left_out = self.fill(connection, table, existing, rows)?;
                Ok(())
            })?;
            added = self
                .counted(connection, table)?
                .zip(before)
                .map(|(after, before): (u64, u64)| after.saturating_sub(before));
            uses.map_or(Ok(()), |uses| uses.check(connection)).input()?;
            check()?;
            rows.seal()
        })?;
        self.added = added;
        self.notes.extend(left_out);
        Ok(reached)
    }

    /// The number of rows of a table with which rows are merged; no other program changes it within the transaction. None
    /// where its triggers may, so that the difference would say nothing of the file's rows.
    fn counted(&self, connection: &Connection, table: &Table) -> Result<Option<u64>> {
        if table.merge.is_none() || self.found.as_ref().is_some_and(FoundTable::has_triggers) {
            return Ok(None);
        }
        let count = connection.value(&format!("SELECT count(*) FROM {}", quoted(&table.name)))?;
        Ok(count.and_then(|count| count.parse().ok()))
    }

    /// Opens the existing database, with the settings for the requested safety in force.
    pub(super) fn open_existing(&self, watch: &dyn ImportObserver) -> Result<Connection> {
        // SQLite would make a new file in its place.
        ensure!(
            place::exists(&self.place),
            "{} was removed while the file was read, so nothing was loaded",
            escaped(&self.place)
        );
        let connection = self.open()?;
        patiently(&connection, watch, || {
            let is_wal = journal(&connection).input()? == "wal";
            let settings = self.settings().iter().filter(|(name, _)| !(is_wal && *name == "journal_mode"));
            set(&connection, &settings.copied().collect::<Vec<_>>())
        })?;
        Ok(connection)
    }
}

/// Does the work in one transaction, commits it and closes the database. No other program can write meanwhile.
pub(super) fn in_transaction(
    connection: Connection,
    watch: &dyn ImportObserver,
    work: impl FnOnce(&Connection) -> Result<()>,
) -> Result<Reached> {
    let reached = patiently(&connection, watch, || transaction(&connection, watch, work))?;
    // The rows are in, whatever closing the database says.
    let _ = connection.close();
    Ok(reached)
}

fn transaction(
    connection: &Connection,
    watch: &dyn ImportObserver,
    work: impl FnOnce(&Connection) -> Result<()>,
) -> Result<Reached> {
    connection.execute(BEGIN)?;
    if let Err(error) = work(connection) {
        // SQLite may have rolled back already, as it does when the disk is full.
        let _ = connection.execute("ROLLBACK");
        return Err(error);
    }
    let mut reached = reached(connection)?;
    watch.doing("committing");
    let committed = match connection.execute("COMMIT") {
        // SQLite syncs the folder once it has unlinked the journal, and that was the commit.
        Err(error) if has_code(&error, |code| code == IOERR_DIR_FSYNC) => {
            reached.safety = reached.safety.min(Safety::ProcessCrash);
            reached.by += &format!(", but its folder could not be synced: {}", error.root_cause());
            Ok(())
        }
        Err(error) if format!("{error:#}").contains("nothing was loaded") => {
            Err(error.context("cannot commit"))
        }
        outcome => outcome.context("cannot commit; nothing was loaded"),
    };
    // A foreign key that is deferred is judged only here.
    if committed.as_ref().is_err_and(is_violation) { committed.input() } else { committed }?;
    Ok(reached)
}

/// Has AUTOINCREMENT go on behind the rows. A statement that ends at a refused row keeps the rows before it, but does not
/// note their greatest number, which would be used again once its row is deleted.
fn keep_numbers(connection: &Connection, table: &Table) -> Result<()> {
    if connection.value("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")?.is_none() {
        return Ok(());
    }
    let name = literal(&table.name);
    let key = connection.rows(&format!("SELECT name FROM pragma_table_xinfo({name}) WHERE pk > 0"))?;
    let [row] = &key[..] else { return Ok(()) };
    let Some(Some(key)) = row.first() else { return Ok(()) };
    let greatest = format!("(SELECT max({}) FROM {})", quoted(key), quoted(&table.name));
    connection.execute(&format!(
        "UPDATE sqlite_sequence SET seq = {greatest} WHERE name = {name} COLLATE NOCASE AND seq < {greatest}"
    ))
}

/// True if a constraint is violated.
fn is_violation(error: &Error) -> bool {
    has_code(error, |code| code & 0xff == CONSTRAINT)
}

/// True if SQLite reports a code that this is true of.
fn has_code(error: &Error, is: impl Fn(c_int) -> bool) -> bool {
    error.chain().any(|cause| cause.downcast_ref().is_some_and(|cause: &SqliteError| is(cause.code)))
}

/// Sets PRAGMAs and makes sure that they are in force.
fn set(connection: &Connection, settings: &[(&str, &str)]) -> Result<()> {
    for (name, value) in settings {
        connection.rows(&format!("PRAGMA {name}={value}"))?;
        let found = connection.value(&format!("PRAGMA {name}"))?.unwrap_or_default();
        let number = match *value {
            "OFF" => "0",
            "EXTRA" => "3",
            "ON" => "1",
            other => other,
        };
        if !found.eq_ignore_ascii_case(value) && found != number {
            bail!("SQLite was asked for {name}={value} and has {found}");
        }
    }
    Ok(())
}

fn journal(connection: &Connection) -> Result<String> {
    Ok(connection.value("PRAGMA journal_mode")?.unwrap_or_default().to_ascii_lowercase())
}

/// The safety of an existing database, as read from SQLite's settings.
fn reached(connection: &Connection) -> Result<Reached> {
    let journal = journal(connection)?;
    let synchronous = connection.value("PRAGMA synchronous")?.unwrap_or_default();
    let safety = match (journal.as_str(), synchronous.as_str()) {
        ("off" | "memory", _) => Safety::None,
        (_, "2" | "3") => Safety::PowerLoss,
        _ => Safety::ProcessCrash,
    };
    Ok(Reached { safety, by: format!("one transaction, journal_mode={journal}, synchronous={synchronous}") })
}
