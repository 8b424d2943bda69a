//! Into MariaDB or MySQL by LOAD DATA LOCAL, from memory.
//!
//! These servers commit at every CREATE TABLE, so a new table is loaded under another name and renamed
//! once it is whole. LOCAL turns errors of data into warnings: after the load there must be none.

mod clean;
mod statements;

use std::ffi::CString;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{self, Connection, ServerError, infile};
use dyno_protocol::{Build, Server, Value};

use super::sent::{Sent, number_behind};
use super::types::{Spelling, kind};
use super::{check_names, losses, removed, staged_name, write, written};
use crate::batch::Batch;
use crate::error::{Input, Refused, shown};
use crate::explain::{Program, literal};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, Target};
use crate::value::Kind;
use statements::{Statements, quoted, statements};

const SPELLING: Spelling = Spelling { integer: "BIGINT", real: "DOUBLE", text: "LONGTEXT" };
/// A text that is part of a key: 255 characters of four bytes fit every kind of key.
const KEY: (&str, u32) = ("VARCHAR(255)", 255);

/// Characters of a name that these servers take.
const LONGEST_NAME: usize = 64;

/// A value that does not fit is an error, or within LOAD DATA LOCAL a warning.
const MODE: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

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
    ) -> Result<()> {
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
        rows.watch().doing("committing");
        self.execute(&statements.commit)?;
        statements.last.iter().try_for_each(|sql| {
            let done = self.connection.rows(sql).map(drop);
            done.with_context(|| format!("the new table is in place, but the server refuses {}", shown(sql)))
        })
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
            let refused = reported.iter().find_map(|text| {
                let (row, reason) = number_behind(text, " at row ")?;
                Some(Refused { line: sent.line(row)?, reason })
            });
            if let Some(refused) = refused {
                return Err(refused.into());
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
        let name = table.replace('\\', "\\\\").replace('\'', "''");
        let engine = self.connection.rows(&format!(
            "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{name}'"
        ))?;
        let Some(engine) = engine.into_iter().next().and_then(|row| row.into_iter().next()).map(text) else {
            return Ok(None);
        };
        if engine != "InnoDB" {
            let error = anyhow::anyhow!(
                "the table {table} is kept by {engine}, which cannot take a load back that fails half way: InnoDB can"
            );
            return Err(error).input();
        }
        let rows = self.connection.rows(&format!(
            "SELECT column_name, column_type, column_key FROM information_schema.columns \
             WHERE table_schema = DATABASE() AND table_name = '{name}' ORDER BY ordinal_position"
        ))?;
        let column = |row: Vec<Value>| {
            let mut row = row.into_iter().map(text);
            let (name, declared) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
            let required = row.next().as_deref() == Some("PRI");
            Column { name, kind: kind(&declared), declared, inferred: false, required }
        };
        Ok(Some(rows.into_iter().map(column).collect()))
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
                }
            }
        }
    }

    fn check(&self, table: &Table, _existing: Existing) -> Result<()> {
        check_names(table, LONGEST_NAME, |name| name.chars().count(), "characters")
    }

    fn losses(&mut self, table: &str) -> Result<Vec<String>> {
        let name = table.replace('\\', "\\\\").replace('\'', "''");
        let rows = self.connection.rows(&format!(
            "SELECT DISTINCT CONCAT('index ', index_name) FROM information_schema.statistics \
             WHERE table_schema = DATABASE() AND table_name = '{name}' \
             UNION ALL SELECT CONCAT('foreign key ', constraint_name) FROM information_schema.table_constraints \
             WHERE table_schema = DATABASE() AND table_name = '{name}' AND constraint_type = 'FOREIGN KEY' \
             UNION ALL SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers \
             WHERE event_object_schema = DATABASE() AND event_object_table = '{name}'"
        ))?;
        let lost: Vec<String> = rows.into_iter().filter_map(|row| row.into_iter().next()).map(text).collect();
        Ok(losses(&lost))
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn clean(&mut self) -> Result<Vec<String>> {
        Ok(removed(&clean::clean(&self.connection)?))
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
        if let Ok(removed) = self.clean() {
            self.notes = removed;
        }
        if existing != Existing::Append {
            clean::hold(&self.connection, &self.staged)?;
        }
        match self.fill(table, existing, rows, check) {
            Ok(()) => self.reached(existing),
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
        Some(_) => error.context("the server refuses the rows; nothing was loaded"),
        None => error,
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Blob { blob } => blob,
        _ => String::new(),
    }
}
