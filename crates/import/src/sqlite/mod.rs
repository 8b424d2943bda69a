//! Into SQLite: a new database, or a table of one that is there.

mod build;
mod connection;
mod feed;
mod place;
mod schema;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use dyno_client::sqlite::{self, Api, Interrupter};
use dyno_protocol::Build;
use sqlite_pages::Pages;

use crate::error::Input;
use crate::explain::Program;
use crate::fill::Filled;
use crate::pipeline::{Rows, Watch};
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, Target};
use connection::Connection;
use place::{Done, Fresh};

/// How often somebody is asked whether to stop while SQLite is at work.
const LOOK: Duration = Duration::from_millis(50);

/// PRAGMAs of a database that is built beside its place. Without journal and sync nothing is written
/// twice; locked for good, SQLite does not look for other users after each transaction; memory for
/// pages bounds what an index's sorting takes.
pub const FRESH: [(&str, &str); 4] = [
    ("journal_mode", "OFF"),
    ("synchronous", "OFF"),
    ("locking_mode", "EXCLUSIVE"),
    ("cache_size", "-65536"),
];

/// Programs that load as dyno does, but for the virtual table and the thread of its own.
const PROGRAMS: [Program; 3] = [
    ("SQL", include_str!("../../templates/sqlite.sql.j2")),
    ("C", include_str!("../../templates/sqlite.c.j2")),
    ("Python", include_str!("../../templates/sqlite.py.j2")),
];

/// A SQLite database.
pub struct Sqlite {
    api: Arc<Api>,
    place: PathBuf,
    safety: Safety,
    /// Whether dyno may write the pages of a new database itself.
    may_build: bool,
}

impl Sqlite {
    /// The database at a place, there or not.
    pub fn new(place: &Path, safety: Safety) -> Result<Sqlite> {
        let api = Arc::new(sqlite::load(&Build::Bundled)?);
        Ok(Sqlite { api, place: place.to_owned(), safety, may_build: true })
    }

    fn is_fresh(&self) -> bool {
        !place::exists(&self.place)
    }

    /// PRAGMAs for the safety that is asked of a database that is there.
    fn settings(&self) -> &'static [(&'static str, &'static str)] {
        match (self.is_fresh(), self.safety) {
            (true, _) => &FRESH,
            (false, Safety::PowerLoss) => &[("synchronous", "FULL"), ("cache_size", "-65536")],
            (false, Safety::ProcessCrash) => &[("synchronous", "OFF"), ("cache_size", "-65536")],
            (false, Safety::None) => {
                &[("synchronous", "OFF"), ("journal_mode", "MEMORY"), ("cache_size", "-65536")]
            }
        }
    }

    fn fill(
        &self,
        connection: &Connection,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
    ) -> Result<()> {
        let statements = schema::statements(table, existing);
        for sql in statements.before {
            connection.execute(&sql).with_context(|| format!("cannot execute {sql}")).input()?;
        }
        feed::load(connection, table.columns.len(), &statements.insert, rows)?;
        for sql in statements.after {
            rows.watch().doing("making indexes");
            connection.execute(&sql).with_context(|| format!("cannot execute {sql}; nothing was loaded"))?;
        }
        Ok(())
    }

    fn load_fresh(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let fresh = Fresh::named(&self.place)?;
        fresh.write_behind(|| {
            let connection = Connection::open(&self.api, fresh.path().context("the file has no name")?)?;
            set(&connection, &FRESH)?;
            connection.execute("BEGIN")?;
            let watch = rows.watch();
            interruptible(&connection, watch, || self.fill(&connection, table, existing, rows))?;
            check()?;
            connection.execute("COMMIT")?;
            connection.close()
        })?;
        self.finish(fresh, rows.watch())
    }

    /// Moves a database that is whole to its place.
    fn finish(&self, fresh: Fresh, watch: &dyn Watch) -> Result<Reached> {
        let sync = self.safety == Safety::PowerLoss;
        watch.doing(if sync { "syncing" } else { "moving into place" });
        fresh.finish(sync)?;
        let place = "built beside its place";
        Ok(match sync {
            true => Reached {
                safety: Safety::PowerLoss,
                by: format!("{place}, file synced, renamed, folder synced"),
            },
            false => Reached { safety: Safety::ProcessCrash, by: format!("{place} and renamed, not synced") },
        })
    }

    fn load_existing(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let connection = Connection::open(&self.api, &self.place)?;
        let is_wal = journal(&connection).input()? == "wal";
        let settings = self.settings().iter().filter(|(name, _)| !(is_wal && *name == "journal_mode"));
        set(&connection, &settings.copied().collect::<Vec<_>>())?;
        // At once, so that nobody else's writing can come between and fail it half way.
        connection.execute("BEGIN IMMEDIATE")?;
        let watch = rows.watch();
        let filled = interruptible(&connection, watch, || self.fill(&connection, table, existing, rows));
        if let Err(error) = filled.and_then(|()| check()) {
            // SQLite may have rolled back already, as it does when the disk is full.
            let _ = connection.execute("ROLLBACK");
            return Err(error);
        }
        rows.watch().doing("committing");
        connection.execute("COMMIT").context("cannot commit; nothing was loaded")?;
        let reached = reached(&connection)?;
        connection.close()?;
        Ok(reached)
    }
}

impl Target for Sqlite {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        if self.is_fresh() {
            return Ok(None);
        }
        let connection = Connection::open(&self.api, &self.place)?;
        schema::existing(&connection, table)
            .with_context(|| format!("cannot read {}", self.place.display()))
            .input()
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        schema::column(name, declared)
    }

    fn declare(&self, table: &mut Table) {
        table.columns.iter_mut().filter(|column| column.declared.is_empty()).for_each(schema::declare);
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn builds(&self, existing: Existing) -> bool {
        self.may_build && self.is_fresh() && existing == Existing::Create
    }

    fn never_build(&mut self) {
        self.may_build = false;
    }

    fn row_number(&self, table: &Table) -> Option<usize> {
        schema::row_number(table)
    }

    fn folder(&self) -> PathBuf {
        place::folder(&self.place).to_owned()
    }

    fn build(
        &mut self,
        table: &Table,
        watch: &dyn Watch,
        fill: &dyn Fn(&Pages) -> Result<Filled>,
    ) -> Result<Reached> {
        let fresh = Fresh::unnamed(&self.place)?;
        fresh.write_behind(|| self.write_pages(&fresh, table, watch, fill)).map_err(told)?;
        self.finish(fresh, watch)
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        if self.builds(existing) {
            let statements = schema::statements(table, existing);
            return [statements.before, statements.after].concat();
        }
        let pragmas = self.settings().iter().map(|(name, value)| format!("PRAGMA {name}={value}"));
        let statements = schema::statements(table, existing);
        let begin = if self.is_fresh() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        let all = pragmas.chain([begin.to_owned()]).chain(statements.before).chain([statements.insert]);
        all.chain(statements.after).chain(["COMMIT".to_owned()]).collect()
    }

    fn reasons(&self, _: &Table, existing: Existing) -> Vec<String> {
        let mut reasons = match self.is_fresh() {
            true => vec![
                format!("{} is new: it is built beside its place without journal, then moved there", self.place.display()),
                match self.safety {
                    Safety::PowerLoss => "the file is synced before it is moved and the folder after: a power cut leaves nothing or all".into(),
                    _ => "nothing is synced, as --safety asks".to_owned(),
                },
            ],
            false => vec![format!(
                "{} is there already: all is one transaction under its own journal",
                self.place.display()
            )],
        };
        reasons.push(match self.builds(existing) {
            true => "dyno parses the rows on all processors and writes the pages of the database itself, without SQLite",
            false if self.is_fresh() => {
                "SQLite inserts the rows, since it must check the primary key and standard input cannot be read again; INSERT … SELECT from a virtual table needs no call for each row"
            }
            false => "SQLite inserts the rows: INSERT … SELECT from a virtual table needs no call for each row and no copy of a text",
        }.into());
        reasons
    }

    fn programs(&self) -> &'static [Program] {
        &PROGRAMS
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let place = self.place.display().to_string();
        let statements = schema::statements(table, existing);
        let columns: Vec<String> = table.columns.iter().map(|column| schema::quoted(&column.name)).collect();
        let (name, column_list) = (schema::quoted(&table.name), columns.join(", "));
        let marks = vec!["?"; columns.len()].join(", ");
        let pragmas = self.settings().iter().map(|(name, value)| format!("{name}={value}"));
        minijinja::context! {
            fresh => self.is_fresh(),
            building => format!("{place}.building"),
            pragmas => pragmas.collect::<Vec<_>>(),
            before => statements.before,
            after => statements.after,
            insert_values => format!("INSERT INTO {name} ({column_list}) VALUES ({marks})"),
            quoted_table => name,
            column_list,
            place,
        }
    }

    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        match self.is_fresh() {
            true => self.load_fresh(table, existing, rows, check),
            false => self.load_existing(table, existing, rows, check),
        }
    }
}

/// An error of the page writer, with what people ask first where the disk is full.
fn told(error: Error) -> Error {
    let is_full = |cause: &io::Error| cause.kind() == ErrorKind::StorageFull;
    match error.chain().any(|cause| cause.downcast_ref().is_some_and(is_full)) {
        true => error.context("the disk is full; nothing was loaded"),
        false => error,
    }
}

/// Sets PRAGMAs and makes sure that they are in force.
fn set(connection: &Connection, settings: &[(&str, &str)]) -> Result<()> {
    for (name, value) in settings {
        connection.rows(&format!("PRAGMA {name}={value}"))?;
        let found = connection.value(&format!("PRAGMA {name}"))?.unwrap_or_default();
        let number = match *value {
            "OFF" => "0",
            "FULL" => "2",
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

/// The safety of a database that was there, as SQLite tells its settings.
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

/// Does the work, which somebody who asks to stop interrupts wherever SQLite is.
fn interruptible(
    connection: &Connection,
    watch: &dyn Watch,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let (interrupter, done): (Interrupter, _) = (connection.interrupter(), AtomicBool::new(false));
    let outcome = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if watch.stops() {
                    // SAFETY: the connection is open until the scope has ended.
                    unsafe { interrupter.interrupt() };
                }
                thread::park_timeout(LOOK);
            }
        });
        let is_done = Done(&done);
        let outcome = work();
        drop(is_done);
        watcher.thread().unpark();
        outcome
    });
    match outcome {
        Err(_) if watch.stops() => Err(crate::error::Interrupted.into()),
        outcome => outcome,
    }
}
