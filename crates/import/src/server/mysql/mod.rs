//! Into MariaDB or MySQL by LOAD DATA LOCAL, from memory.
//!
//! These servers commit at every CREATE TABLE, so a new table is loaded under another name and renamed
//! once it is whole. LOCAL turns errors of data into warnings: after the load there must be none.

mod catalog;
mod clean;
mod statements;

use std::ffi::CString;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{self, Connection, ServerError, infile};
use dyno_protocol::{Build, Server};

use super::common::{LOST, check_names, said_removed, staged_name, write, written};
use super::sent::{Sent, number_behind};
use crate::batch::Batch;
use crate::error::{BadInput, Input, Refused, shown};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, Target, said_losses};
use crate::target::{Program, literal};
use crate::value::Kind;
use catalog::{SPELLING, text};
use statements::{Statements, quoted, statements};

/// A text that is part of a key: 255 characters of four bytes fit every kind of key.
const KEY: (&str, u32) = ("VARCHAR(255)", 255);

/// Numbers of errors that the client's library reports, and not the server.
const CLIENT_ERRORS: std::ops::Range<u32> = 2000..3000;

/// Classes of SQLSTATE by which a server refuses a value, a row that violates a constraint, and what a SIGNAL refuses.
const REFUSES_ROW: [&str; 3] = ["22", "23", "45"];

/// Characters of a name that these servers take.
const LONGEST_NAME: usize = 64;

/// A value that does not fit is an error, or within LOAD DATA LOCAL a warning; and 0 is a number like others where the
/// server would count on.
const MODE: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'";

/// NULL in a TIMESTAMP is NULL, or an error, and not the time of the import. Not every server lets a session say so.
const NO_CURRENT_TIME: &str = "SET SESSION explicit_defaults_for_timestamp = 1";

/// A database of a MariaDB or MySQL server.
pub struct MySql {
    connection: Connection,
    /// Under which name a new table is loaded.
    staged: String,
    /// True if the server syncs the files that list its tables; None if tables have no such files.
    sync_frm: Option<bool>,
    notes: Vec<String>,
}

impl MySql {
    /// Connects.
    pub fn connect(server: &Server) -> Result<MySql> {
        let api = Arc::new(mysql::load(&Build::System)?);
        let connection = mysql::connect(&api, server, true)?;
        let database =
            server.database.as_deref().context("the URL names no database: …@host/database").input()?;
        connection.rows(&format!("USE {}", quoted(database))).input()?;
        connection.rows(MODE)?;
        let _ = connection.rows(NO_CURRENT_TIME);
        let sync_frm = connection.rows("SHOW VARIABLES LIKE 'sync_frm'")?;
        let sync_frm = sync_frm.into_iter().next().and_then(|row| row.into_iter().nth(1)).map(text);
        let sync_frm = sync_frm.map(|value| value == "ON");
        Ok(MySql { connection, staged: staged_name(), sync_frm, notes: Vec::new() })
    }

    fn plan(&self, table: &Table, existing: Existing) -> Statements {
        statements(table, existing, &self.staged, self.sync_frm.is_none())
    }

    fn execute(&self, sql: &str) -> Result<()> {
        self.connection
            .rows(sql)
            .with_context(|| format!("cannot execute {}; nothing was loaded", shown(sql)))
            .map(drop)
    }

    fn fill(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Reached, Vec<String>)> {
        let statements = self.plan(table, existing);
        for sql in &statements.before {
            self.execute(sql).input()?;
        }
        self.copy(&statements.load, &table.name, rows)?;
        check()?;
        for sql in &statements.after {
            rows.watch().doing("making indexes");
            self.execute(sql).input()?;
        }
        if rows.watch().stops() {
            return Err(crate::error::Interrupted.into());
        }
        let reached = self.reached(existing)?;
        rows.watch().doing("committing");
        rows.seal()?;
        self.commit(&statements.commit)?;
        Ok(self.tidy(&statements.last, reached))
    }

    fn commit(&self, sql: &str) -> Result<()> {
        let outcome = self.connection.rows(sql).map(drop);
        outcome.map_err(|error| match error.downcast_ref::<ServerError>() {
            Some(server) if !CLIENT_ERRORS.contains(&server.number) => {
                error.context(format!("cannot execute {}; nothing was loaded", shown(sql)))
            }
            _ => error.context(LOST),
        })
    }

    /// Executes the statements that follow the commit. If one fails, the rows stay, so the failure is a note.
    fn tidy(&self, statements: &[String], mut reached: Reached) -> (Reached, Vec<String>) {
        let mut notes = Vec::new();
        for sql in statements {
            let Err(error) = self.connection.rows(sql) else { continue };
            notes.push(format!("The rows are loaded, but the server refuses {}: {error:#}.", shown(sql)));
            if sql.starts_with("CREATE TABLE") {
                reached.safety = reached.safety.min(Safety::ProcessCrash);
            }
        }
        (reached, notes)
    }

    fn copy(&self, sql: &str, table: &str, rows: &mut Rows) -> Result<()> {
        let (mut room, mut given, mut sent) = (Vec::new(), 0, Sent::default());
        let mut held: Option<Batch> = None;
        let fill = |buffer: &mut [u8]| {
            if held.is_none() {
                let Some(batch) = rows.batch()? else { return Ok(0) };
                given = 0;
                sent.add(&batch.lines);
                write(&batch, &mut room);
                held = Some(batch);
            }
            let left = &held.as_ref().map_or(&[][..], |batch| written(batch, &room))[given..];
            let count = buffer.len().min(left.len());
            buffer[..count].copy_from_slice(&left[..count]);
            given += count;
            if count == left.len() {
                held.take().into_iter().for_each(|batch| rows.recycle(batch));
            }
            Ok(count)
        };
        let loaded = infile::load(&self.connection, &CString::new(sql)?, fill).map_err(explain)?;
        let warnings = self.connection.rows("SHOW WARNINGS LIMIT 3")?;
        let reported: Vec<String> =
            warnings.into_iter().filter_map(|row| row.into_iter().nth(2)).map(text).collect();
        if !reported.is_empty() {
            // The table's own name and not the one that it has until it is whole; and the column without either.
            let reported: Vec<String> = reported.iter().map(|text| self.plain(text, table)).collect();
            let numbered = reported.iter().find_map(|text| number_behind(text, " at row "));
            let refused = match numbered {
                Some(refused) => Some(refused),
                None => self.first_row().map(|row| (row, reported[0].clone())),
            };
            if let Some((line, reason)) = refused.and_then(|(row, reason)| Some((sent.line(row)?, reason))) {
                return Err(Refused { line, reason }.into());
            }
            let error = anyhow::anyhow!(
                "the server would change or leave out values, so nothing was loaded: {}",
                reported.join("; ")
            );
            return Err(error).input();
        }
        let given = rows.loaded();
        ensure!(loaded == given, "the server took {loaded} of {given} rows, so nothing was loaded");
        Ok(())
    }

    /// The row of the first warning, from 1, which the message of a violated key or check does not hold. None where the
    /// server does not know.
    fn first_row(&self) -> Option<u64> {
        self.connection.rows("GET DIAGNOSTICS CONDITION 1 @dyno_row = ROW_NUMBER").ok()?;
        self.connection.value("SELECT @dyno_row").ok()??.parse().ok()
    }

    /// A message of the server without the name that the table has until it is whole.
    fn plain(&self, message: &str, table: &str) -> String {
        let before = format!("`{}`.", self.staged);
        let message = match message.split_once(&before) {
            // for column `database`.`dyno_import_…`.`day`
            Some((start, rest)) => {
                let start = start.rfind(" `").map_or(start, |database| &start[..=database]);
                format!("{start}{rest}")
            }
            None => message.to_owned(),
        };
        message.replace(&self.staged, table)
    }

    /// Leaves everything as it was.
    fn undo(&self) {
        // Without a connection a staged table stays behind; its name says whose it is.
        let _ = self.connection.rows("ROLLBACK");
        let _ = self.connection.rows(&format!("DROP TABLE IF EXISTS {}", quoted(&self.staged)));
    }

    /// The failures that a commit survives by the settings in force.
    fn reached(&self, existing: Existing) -> Result<Reached> {
        let flush = self.connection.value("SELECT @@innodb_flush_log_at_trx_commit")?.unwrap_or_default();
        let safety = match flush.as_str() {
            "1" | "3" => Safety::PowerLoss,
            "2" => Safety::ProcessCrash,
            _ => Safety::None,
        };
        let by = format!("innodb_flush_log_at_trx_commit={flush}");
        Ok(match self.sync_frm.filter(|_| existing != Existing::Append) {
            Some(true) => Reached { safety, by: by + ", sync_frm=ON" },
            Some(false) => Reached { safety: safety.min(Safety::ProcessCrash), by: by + ", sync_frm=OFF" },
            None => Reached { safety, by },
        })
    }
}

impl Target for MySql {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        catalog::existing(&self.connection, table)
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        SPELLING.column(name, declared)
    }

    fn declare(&self, table: &mut Table) {
        let keys: Vec<bool> = table.columns.iter().map(|column| table.is_key(&column.name)).collect();
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

    fn check(&self, table: &Table, existing: Existing) -> Result<()> {
        check_names(table, LONGEST_NAME, |name| name.chars().count(), "characters")?;
        ensure!(
            existing != Existing::Append || table.indexes.is_empty(),
            "with --append these servers cannot make an index in one transaction with the rows, since ALTER TABLE commits: \
             leave --index out, and make the index before or after the import"
        );
        if existing == Existing::Replace {
            let referring = catalog::referring(&self.connection, &table.name)?;
            ensure!(
                referring.is_empty(),
                "--replace would leave {} without the table that it refers to: drop it first and make it again afterwards, \
                 or delete the rows and use --append",
                referring.join(" and ")
            );
        }
        Ok(())
    }

    fn losses(&mut self, table: &Table) -> Result<Vec<String>> {
        Ok(said_losses(&catalog::losses(&self.connection, &table.name)?))
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
        all.chain([statements.commit]).chain(statements.last).collect()
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
        |text| literal(&text.replace('\\', "\\\\"))
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let Statements { before, after, commit, last, .. } = self.plan(table, existing);
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let into = if existing == Existing::Append { &table.name } else { &self.staged };
        minijinja::context! {
            mode => MODE,
            before,
            into => quoted(into),
            quoted_columns => columns,
            after => after.into_iter().chain([commit]).chain(last).collect::<Vec<_>>(),
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
        match self.fill(table, existing, rows, check) {
            Ok((reached, notes)) => {
                self.notes.extend(notes);
                Ok(reached)
            }
            Err(error) => {
                self.undo();
                Err(error)
            }
        }
    }
}

fn explain(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<ServerError>() {
        Some(server) if infile::REFUSED.contains(&server.number) => error.context(
            "the server takes no files from clients; its administrator can say SET GLOBAL local_infile = 1",
        ),
        Some(server) => {
            // A trigger's refusal is an error, while that of a value is a warning, and the server counts no rows for it.
            let is_input = REFUSES_ROW.iter().any(|class| server.state.starts_with(class));
            let error = error.context("the server refuses the rows; nothing was loaded");
            if is_input { BadInput(error).into() } else { error }
        }
        None => error,
    }
}
