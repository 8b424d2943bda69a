//! Into MariaDB or MySQL by LOAD DATA LOCAL, from memory.
//!
//! These servers commit at every CREATE TABLE, so a new table is loaded under another name and renamed
//! once it is whole. LOCAL turns errors of data into warnings: after the load there must be none.

mod catalog;
mod clean;
mod load;
mod reached;
mod replace;
mod session;
mod settings;
mod statements;
mod triggers;
mod warnings;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{self, Api, Connection, ServerError};
use dyno_protocol::{Build, Server};

use super::common::{check_names, said_removed, staged_name};
use super::watched::{Patience, said_end, watched};
use crate::error::Input;
use crate::pipeline::{ImportObserver, Rows};
use crate::safety::Reached;
use crate::table::{Column, Table};
use crate::target::{Existing, Program, Target, check_same, said_losses};
use crate::value::Kind;
use catalog::{SPELLING, text};
use session::ImportSession;
use statements::{Statements, quoted, statements};
use triggers::{Triggers, said_hidden};

/// A text that is part of a key: 255 characters of four bytes fit every kind of key.
const KEY: (&str, u32) = ("VARCHAR(255)", 255);

/// Characters of a name that these servers take.
const LONGEST_NAME: usize = 64;

/// The most columns of a table of InnoDB (<https://dev.mysql.com/doc/refman/8.4/en/innodb-limits.html>).
const MOST_COLUMNS: usize = 1017;

/// Errors by which a server denies a user a database or a table (ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR).
const DENIED: [u32; 2] = [1044, 1142];

/// The databases of system tables.
const SYSTEM: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];

/// A database of a MariaDB or MySQL server.
pub struct MySql {
    api: Arc<Api>,
    server: Server,
    connection: Connection,
    /// The time to wait for a lock of another program.
    wait: Option<Duration>,
    /// Under which name a new table is loaded.
    staged: String,
    /// The columns of the existing table as they were when the import was planned.
    planned: Option<Vec<Column>>,
    /// The parts of the existing table that would be lost then, sorted, if it is to be replaced.
    lost: Vec<String>,
    /// True if the server syncs the files that list its tables; None if tables have no such files.
    sync_frm: Option<bool>,
    notes: Vec<String>,
}

impl MySql {
    /// Connects. `wait` is the time to wait for a lock of another program; without it, dyno waits for as long as the server
    /// does.
    ///
    /// # Errors
    /// The client's library is missing, the server refuses the connection, or the URL names no database that it has.
    pub fn connect(server: &Server, wait: Option<Duration>) -> Result<MySql> {
        let api = Arc::new(mysql::load(&Build::System)?);
        let connection = mysql::connect(&api, server, true)?;
        let database =
            server.database.as_deref().context("the URL names no database: …@host/database").input()?;
        connection.rows(&format!("USE {}", quoted(database))).input()?;
        settings::set(&connection)?;
        let sync_frm = connection.rows("SHOW VARIABLES LIKE 'sync_frm'")?;
        let sync_frm = sync_frm.into_iter().next().and_then(|row| row.into_iter().nth(1)).map(text);
        let sync_frm = sync_frm.map(|value| value == "ON");
        Ok(MySql {
            api,
            server: server.clone(),
            connection,
            wait,
            staged: staged_name(),
            planned: None,
            lost: Vec::new(),
            sync_frm,
            notes: Vec::new(),
        })
    }

    /// Does the work of a connection for a table while another one watches it.
    fn watched<T>(
        &self,
        connection: &Connection,
        table: &str,
        watch: &dyn ImportObserver,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let id = |connection: &Connection| -> Result<String> {
            Ok(connection.value("SELECT CONNECTION_ID()")?.unwrap_or_default())
        };
        let session = ImportSession {
            api: &self.api,
            server: &self.server,
            id: id(connection)?,
            first: id(&self.connection)?,
        };
        watched(watch, &Patience { table, wait: self.wait }, &session, work)
    }

    fn plan(&self, table: &Table, existing: Existing) -> Statements {
        statements(table, existing, &self.staged, self.sync_frm.is_none())
    }

    /// Refuses databases in which the server keeps what it knows of users and tables.
    fn check_database(&self, table: &str) -> Result<()> {
        let database = self.connection.value("SELECT DATABASE()")?.unwrap_or_default().to_lowercase();
        ensure!(
            !SYSTEM.contains(&database.as_str()),
            "{table} would be among the system tables of {database}: name another database in --into"
        );
        Ok(())
    }

    /// Refuses a table that is not the one for which the import was planned.
    fn check_same(&self, table: &str) -> Result<()> {
        check_same(table, catalog::existing(&self.connection, table)? == self.planned)
    }

    /// Refuses to replace a table to which others refer.
    fn check_referring(&self, table: &str) -> Result<()> {
        let referring = catalog::referring(&self.connection, table)?;
        ensure!(
            referring.is_empty(),
            "--replace would leave {} without the table that it refers to: drop it first and make it again afterwards, \
             or delete the rows and use --append",
            referring.join(" and ")
        );
        Ok(())
    }
}

/// True if the user may not make temporary tables.
fn is_denied(error: &Error) -> bool {
    error.downcast_ref::<ServerError>().is_some_and(|server| DENIED.contains(&server.number))
}

/// True if a type may be one of bytes by the words behind its name.
fn is_binary(declared: &str) -> bool {
    let lower = declared.to_ascii_lowercase();
    lower.split_whitespace().any(|word| matches!(word, "byte" | "binary"))
}

impl Target for MySql {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        self.check_database(table).input()?;
        self.planned = catalog::existing(&self.connection, table)?;
        Ok(self.planned.clone())
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        let mut column = SPELLING.column(name, declared)?;
        column.required = catalog::needs_value(&self.connection, &column.declared);
        if let Some(kind) = SPELLING.known(&column.declared) {
            column.kind = kind;
            return Ok(column);
        }
        match catalog::declared(&self.connection, &self.staged, &column.declared) {
            Ok(kind) => column.kind = kind,
            // Then it is the type that its first word says.
            Err(error) if is_denied(&error) && column.kind != Kind::AsIs && !is_binary(declared) => {}
            Err(error) => {
                return Err(error.context(format!(
                    "the server makes no column '{name}' of the type {declared} in a temporary table, which shows dyno what it \
                     keeps"
                )));
            }
        }
        Ok(column)
    }

    fn declare(&self, table: &mut Table) {
        let keys: Vec<bool> = table.columns.iter().map(|column| table.is_indexed(&column.name)).collect();
        for (column, is_key) in table.columns.iter_mut().zip(keys) {
            if column.declared.is_empty() {
                column.declared = SPELLING.of(column.kind).to_owned();
            }
            if is_key && column.declared == SPELLING.text {
                column.declared = KEY.0.to_owned();
                // A column that was only empty until here can still be contradicted.
                if column.kind != Kind::Empty {
                    column.kind = Kind::Text { longest: Some(KEY.1) };
                    // No other type would take a longer text.
                    column.inferred = false;
                }
            }
        }
    }

    fn most_columns(&self) -> usize {
        MOST_COLUMNS
    }

    fn check(&self, table: &Table, existing: Existing) -> Result<()> {
        check_names(table, LONGEST_NAME, |name| name.chars().count(), "characters")?;
        ensure!(
            existing != Existing::Append || table.indexes.is_empty(),
            "with --append these servers cannot make an index in one transaction with the rows, since ALTER TABLE commits: \
             leave --index out, and make the index before or after the import"
        );
        if existing == Existing::Replace {
            self.check_referring(&table.name)?;
        }
        Ok(())
    }

    fn losses(&mut self, table: &Table) -> Result<Vec<String>> {
        let losses = catalog::losses(&self.connection, &table.name)?;
        self.lost = losses.clone();
        self.lost.sort();
        let hidden = Triggers::of(&self.connection, &table.name)? == Triggers::Hidden;
        let hidden = hidden.then(|| said_hidden(&table.name));
        Ok(said_losses(&losses).into_iter().chain(hidden).collect())
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn clean(&mut self) -> Result<(Vec<String>, Vec<String>)> {
        let (removed, kept) = clean::clean(&self.connection)?;
        Ok((said_removed(&removed), kept))
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        let statements = self.plan(table, existing);
        let all = statements.before.into_iter().chain([statements.load]).chain(statements.after);
        all.chain([statements.commit]).chain(statements.last).chain(statements.drop_old).collect()
    }

    fn reasons(&self, _table: &Table, _existing: Existing) -> Vec<String> {
        vec![
            "LOAD DATA LOCAL INFILE from memory: one statement for all rows".into(),
            "a new table is loaded under another name and renamed when it is whole, since CREATE TABLE commits".into(),
            "the primary key is there from the beginning, since rows are kept in its order; indexes are made after the rows".into(),
        ]
    }

    fn programs(&self) -> &'static [Program] {
        &[("SQL", include_str!("../../../templates/mysql.sql.j2"))]
    }

    fn literal(&self) -> fn(&str) -> String {
        catalog::literal
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let Statements { before, after, commit, last, drop_old, .. } = self.plan(table, existing);
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let into = if existing == Existing::Append { &table.name } else { &self.staged };
        minijinja::context! {
            mode => settings::MODE,
            before,
            into => quoted(into),
            quoted_columns => columns,
            after => after.into_iter().chain([commit]).chain(last).chain(drop_old).collect::<Vec<_>>(),
        }
    }

    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        // If the remains of a killed import cannot be dropped, the rows are loaded all the same.
        if let Ok((removed, kept)) = self.clean() {
            self.notes = [removed, kept].concat();
        }
        if existing != Existing::Append {
            clean::hold(&self.connection, &self.staged)?;
        }
        let watch = rows.watch();
        match self.fill(table, existing, rows, check) {
            Ok((reached, notes)) => {
                self.notes.extend(notes);
                Ok(reached)
            }
            Err(error) => {
                self.undo();
                Err(said_end(error, watch))
            }
        }
    }
}
