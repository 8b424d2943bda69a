//! Loads into SQLite: a new database, or a table of an existing one.

mod build;
mod catalog;
mod connection;
mod feed;
mod heeding;
mod load;
mod locks;
mod losses;
mod place;
mod schema;
mod stale;
mod transfer;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_client::sqlite::{self, Api};
use dyno_protocol::Build;

use crate::error::Input;
use crate::names::escaped;
use crate::pipeline::Rows;
use crate::request::OWNERS;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, PageTarget, Program, Target, check_same};
use catalog::{ForeignKeys, FoundTable};
use connection::Connection;
use schema::Insertion;

/// PRAGMAs of a database that is built next to its place. Without journal and sync nothing is written twice; locked for
/// good, SQLite does not look for other users after each transaction; a limited page cache bounds the memory for
/// sorting an index.
pub const FRESH: [(&str, &str); 4] = [
    ("journal_mode", "OFF"),
    ("synchronous", "OFF"),
    ("locking_mode", "EXCLUSIVE"),
    ("cache_size", "-65536"),
];

/// Programs that load as dyno does, except for the virtual table and the separate thread.
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
    /// True if there was no file at the place when the import was planned.
    is_fresh: bool,
    /// True if dyno may write pages itself.
    may_build: bool,
    /// The columns of the existing table, if it has nothing else and SQLite moves whole records to it.
    bare: Option<Vec<Column>>,
    /// The existing table as it was when the import was planned.
    found: Option<FoundTable>,
    /// The time to wait for other programs that have the database locked.
    wait: Duration,
    /// Rows that the table had more after rows were merged with those that it had.
    added: Option<u64>,
    /// The rights that a new database has at most.
    rights: u32,
    /// Notes for the user on the load.
    notes: Vec<String>,
}

impl Sqlite {
    /// The database at a place, whether it exists or not.
    ///
    /// # Errors
    /// The existing file cannot be a database.
    pub fn new(place: &Path, safety: Safety, wait: Duration) -> Result<Sqlite> {
        place::check_name(place).input()?;
        let place = place::find(place).input()?;
        let api = Arc::new(sqlite::load(&Build::Bundled)?);
        Ok(Sqlite {
            api,
            is_fresh: !place::exists(&place),
            place,
            safety,
            may_build: true,
            bare: None,
            found: None,
            wait,
            added: None,
            rights: OWNERS,
            notes: Vec::new(),
        })
    }

    /// Opens the database that is there, unless another user has put something there or next to it meanwhile. No other
    /// connection may be open.
    fn open(&self) -> Result<Connection> {
        place::find(&self.place).input()?;
        let connection = Connection::open(&self.api, &self.place, self.wait)?;
        // SQLite looks for a journal when it reads the database, which it has not done yet.
        place::check_companions(&self.place).input()?;
        Ok(connection)
    }

    /// The statements that are executed around the rows.
    fn schema(&self, table: &Table, existing: Existing) -> schema::Statements {
        schema::statements(table, existing, self.attached(), self.insertion(table, existing))
    }

    /// Indexes and triggers of the existing table, each with its name.
    fn attached(&self) -> &[(String, String)] {
        self.found.as_ref().map_or(&[], |found| &found.attached)
    }

    /// The existing table, if rows are added to it.
    fn added_to(&self, existing: Existing) -> Option<&FoundTable> {
        self.found.as_ref().filter(|_| existing == Existing::Append)
    }

    /// Refuses a table that is not the one for which the import was planned, and a journal that came before SQLite had its
    /// lock. From here on no other program changes the table.
    fn check_same(&self, connection: &Connection, table: &Table) -> Result<()> {
        place::check_companions(&self.place).input()?;
        check_same(&table.name, FoundTable::read(connection, &table.name)? == self.found)
    }

    /// The statement that takes the rows.
    ///
    /// OR FAIL keeps the rows before one that is refused, so that a statement takes many. But the statements of the
    /// table's triggers would have to follow it in place of their own OR clauses, and a row whose trigger fails would
    /// stay in the table. So with triggers each row is a statement and SQLite takes a refused one back; where the table
    /// itself says ON CONFLICT, OR ABORT keeps SQLite from losing a row by that. Of foreign keys SQLite judges a
    /// statement as a whole, so there too each row is one. So it is where rows of the table get new values: SQLite takes
    /// back the whole statement where one of those is refused, whatever the INSERT says (lang_UPSERT.html).
    fn insertion(&self, table: &Table, existing: Existing) -> Insertion {
        let added_to = self.added_to(existing);
        match added_to.filter(|found| found.has_triggers()) {
            Some(found) if found.resolves_conflicts() => {
                Insertion { verb: "INSERT OR ABORT", one_by_one: true }
            }
            Some(_) => Insertion { verb: "INSERT", one_by_one: true },
            None => {
                let is_judged = added_to.is_some_and(|found| found.foreign_keys == ForeignKeys::Others);
                Insertion { verb: "INSERT OR FAIL", one_by_one: table.updates() || is_judged }
            }
        }
    }

    /// True if dyno writes the pages of a table.
    fn builds(&self, table: &Table, existing: Existing) -> bool {
        self.may_build
            && match existing {
                Existing::Create => self.is_fresh,
                Existing::Append => self.bare.as_ref().is_some_and(|bare| transfer::fills(table, bare)),
                Existing::Replace => false,
            }
    }

    /// PRAGMAs for the safety that is requested of an existing database.
    fn settings(&self) -> &'static [(&'static str, &'static str)] {
        match (self.is_fresh, self.safety) {
            (true, _) => &FRESH,
            // With FULL the unlinking of the journal is not synced, and a power cut would take all of the import back.
            (false, Safety::PowerLoss) => &[("synchronous", "EXTRA"), ("cache_size", "-65536")],
            (false, Safety::ProcessCrash) => &[("synchronous", "OFF"), ("cache_size", "-65536")],
            (false, Safety::None) => {
                &[("synchronous", "OFF"), ("journal_mode", "MEMORY"), ("cache_size", "-65536")]
            }
        }
    }
}

impl Target for Sqlite {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        self.is_fresh = !place::exists(&self.place);
        if self.is_fresh {
            return Ok(None);
        }
        let connection = self.open()?;
        catalog::check_own(&connection, table).input()?;
        self.found = FoundTable::read(&connection, table)
            .with_context(|| format!("cannot read {}", escaped(&self.place)))
            .input()?;
        let applies = |found: &&FoundTable| {
            // ATTACH takes a path as a text.
            self.place.to_str().is_some()
                && found.foreign_keys == ForeignKeys::None
                && transfer::applies(&connection, table, &found.columns)
        };
        self.bare = self.found.as_ref().filter(applies).map(|found| found.columns.clone());
        Ok(self.found.as_ref().map(|found| found.columns.clone()))
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        schema::column(name, declared)
    }

    fn declare(&self, table: &mut Table) {
        table.columns.iter_mut().filter(|column| column.declared.is_empty()).for_each(schema::declare);
    }

    fn most_columns(&self) -> usize {
        schema::MOST_COLUMNS
    }

    fn check(&self, table: &Table, existing: Existing) -> Result<()> {
        match self.is_fresh || table.indexes.is_empty() {
            true => Ok(()),
            false => schema::check(&self.open()?, table, existing),
        }
    }

    fn losses(&mut self, table: &Table) -> Result<Vec<String>> {
        let connection = self.open()?;
        losses::said(&connection, table)
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn pages(&mut self, table: &Table, existing: Existing) -> Option<&mut dyn PageTarget> {
        self.builds(table, existing).then_some(self as &mut dyn PageTarget)
    }

    fn added(&self) -> Option<u64> {
        self.added
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn restrict(&mut self, rights: u32) -> u32 {
        self.rights = rights;
        match self.place.metadata() {
            Ok(data) => rights & data.mode() | OWNERS,
            Err(_) => rights,
        }
    }

    fn never_build(&mut self) {
        self.may_build = false;
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        let statements = self.schema(table, existing);
        let pragmas = self.settings().iter().map(|(name, value)| format!("PRAGMA {name}={value}"));
        match self.builds(table, existing) {
            true if self.is_fresh => return [statements.before, statements.after].concat(),
            true => return pragmas.chain(transfer::statements(&self.place, table)).collect(),
            false => {}
        }
        let begin = if self.is_fresh { "BEGIN" } else { "BEGIN IMMEDIATE" };
        let all = pragmas.chain([begin.to_owned()]).chain(statements.before).chain([statements.insert]);
        all.chain(statements.after).chain(["COMMIT".to_owned()]).collect()
    }

    fn reasons(&self, table: &Table, existing: Existing) -> Vec<String> {
        let mut reasons = match self.is_fresh {
            true => vec![
                format!("{} is new: it is built in the same folder without journal, then moved to its place", escaped(&self.place)),
                match self.safety {
                    Safety::PowerLoss => "the file is synced before it is moved and the folder after: a power cut leaves nothing or all".into(),
                    _ => "nothing is synced, as --safety asks".to_owned(),
                },
            ],
            false => vec![format!(
                "{} is there already: all is one transaction under its own journal",
                escaped(&self.place)
            )],
        };
        reasons.push(match self.builds(table, existing) {
            true if self.is_fresh => {
                "dyno parses the rows on all processors and writes the pages of the database itself, without SQLite"
            }
            true => {
                "the table has nothing that rows must be checked against: dyno parses them on all processors and writes pages of their records to a file in the folder of the database, from which SQLite moves the records to the table"
            }
            false if self.is_fresh => {
                "SQLite inserts the rows, since it must check the primary key and standard input cannot be read again; INSERT … SELECT from a virtual table needs no call for each row"
            }
            false => "SQLite inserts the rows: INSERT … SELECT from a virtual table needs no call for each row and no copy of a text",
        }.into());
        if self.builds(table, existing) && !table.primary_key.is_empty() {
            reasons.push("if a key comes twice or is missing it begins anew: SQLite inserts the rows then, and says which".into());
        }
        reasons
    }

    fn programs(&self) -> &'static [Program] {
        if self.place.to_str().is_some() { &PROGRAMS } else { &[] }
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let place = escaped(&self.place);
        let statements = self.schema(table, existing);
        let columns: Vec<String> = table.columns.iter().map(|column| schema::quoted(&column.name)).collect();
        let (name, column_list) = (schema::quoted(&table.name), columns.join(", "));
        let marks = vec!["?"; columns.len()].join(", ");
        let pragmas = self.settings().iter().map(|(name, value)| format!("{name}={value}"));
        minijinja::context! {
            fresh => self.is_fresh,
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
        match self.is_fresh {
            true => self.load_fresh(table, existing, rows, check),
            false => self.load_existing(table, existing, rows, check),
        }
    }
}
