//! Into MariaDB or MySQL by LOAD DATA LOCAL, from memory.
//!
//! These servers commit at every CREATE TABLE, so a new table is loaded under another name and renamed
//! once it is whole. LOCAL turns errors of data into warnings: after the load there must be none.

use std::ffi::CString;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{self, Connection, ServerError, infile};
use dyno_protocol::{Build, Server, Value};

use super::types::{Spelling, kind};
use super::{staged_name, write_lines};
use crate::error::{Input, shown};
use crate::explain::{Program, literal};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, Target};

const SPELLING: Spelling = Spelling { integer: "BIGINT", real: "DOUBLE", text: "LONGTEXT" };
/// A text that is part of a key: 255 characters of four bytes fit every kind of key.
const KEY: (&str, u32) = ("VARCHAR(255)", 255);

/// What does not fit is an error, or within LOAD DATA LOCAL a warning.
const MODE: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

/// A database of a MariaDB or MySQL server.
pub struct MySql {
    connection: Connection,
    /// Under which name a new table is loaded.
    staged: String,
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
        Ok(MySql { connection, staged: staged_name() })
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
        let statements = statements(table, existing, &self.staged);
        for sql in &statements.before {
            self.execute(sql).input()?;
        }
        self.copy(&statements.load, rows)?;
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
        statements.last.map_or(Ok(()), |sql| {
            self.connection.rows(&sql).map(drop).context("the new table is in place, but the old one is left")
        })
    }

    fn copy(&self, sql: &str, rows: &mut Rows) -> Result<()> {
        let (mut lines, mut given) = (Vec::new(), 0);
        let fill = |buffer: &mut [u8]| {
            if given == lines.len() {
                let Some(batch) = rows.batch()? else { return Ok(0) };
                given = 0;
                lines.clear();
                write_lines(&batch, &mut lines);
                rows.recycle(batch);
            }
            let count = buffer.len().min(lines.len() - given);
            buffer[..count].copy_from_slice(&lines[given..given + count]);
            given += count;
            Ok(count)
        };
        let loaded = infile::load(&self.connection, &CString::new(sql)?, fill).map_err(explain)?;
        let warnings = self.connection.rows("SHOW WARNINGS LIMIT 3")?;
        let told: Vec<String> =
            warnings.into_iter().filter_map(|row| row.into_iter().nth(2)).map(text).collect();
        if !told.is_empty() {
            let error = anyhow::anyhow!(
                "the server would change or leave out values, so nothing was loaded: {}",
                told.join("; ")
            );
            return Err(error).input();
        }
        let given = rows.loaded();
        ensure!(loaded == given, "the server took {loaded} of {given} rows, so nothing was loaded");
        Ok(())
    }

    /// Leaves everything as it was.
    fn undo(&self) {
        // Without a connection a staged table stays behind; its name says whose it is.
        let _ = self.connection.rows("ROLLBACK");
        let _ = self.connection.rows(&format!("DROP TABLE IF EXISTS {}", quoted(&self.staged)));
    }

    /// What a commit survives by the settings in force.
    fn reached(&self) -> Result<Reached> {
        let flush = self.connection.value("SELECT @@innodb_flush_log_at_trx_commit")?.unwrap_or_default();
        let safety = match flush.as_str() {
            "1" | "3" => Safety::PowerLoss,
            "2" => Safety::ProcessCrash,
            _ => Safety::None,
        };
        Ok(Reached { safety, by: format!("innodb_flush_log_at_trx_commit={flush}") })
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
            "SELECT column_name, column_type FROM information_schema.columns \
             WHERE table_schema = DATABASE() AND table_name = '{name}' ORDER BY ordinal_position"
        ))?;
        let column = |row: Vec<Value>| {
            let mut row = row.into_iter().map(text);
            let (name, declared) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
            Column { name, kind: kind(&declared), declared, inferred: false }
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
                column.kind = crate::value::Kind::Text { longest: Some(KEY.1) };
            }
        }
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        let statements = statements(table, existing, &self.staged);
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
        &[("SQL", include_str!("../../templates/mysql.sql.j2"))]
    }

    fn literal(&self) -> fn(&str) -> String {
        |text| literal(&text.replace('\\', "\\\\"))
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let Statements { before, after, commit, last, .. } = statements(table, existing, &self.staged);
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
        match self.fill(table, existing, rows, check) {
            Ok(()) => self.reached(),
            Err(error) => {
                self.undo();
                Err(error)
            }
        }
    }
}

struct Statements {
    before: Vec<String>,
    load: String,
    after: Vec<String>,
    commit: String,
    /// The old table goes when the new one is in its place.
    last: Option<String>,
}

fn statements(table: &Table, existing: Existing, staged: &str) -> Statements {
    let list =
        |columns: &[String]| columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    let is_new = existing != Existing::Append;
    let (name, old, staged) = (quoted(&table.name), quoted(&format!("{staged}_old")), quoted(staged));
    let into = if is_new { &staged } else { &name };
    let mut before = Vec::new();
    if is_new {
        let columns =
            table.columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.declared));
        let key =
            (!table.primary_key.is_empty()).then(|| format!("PRIMARY KEY ({})", list(&table.primary_key)));
        let parts: Vec<String> = columns.chain(key).collect();
        // Not with unique_checks = 0: MariaDB's own way of filling an empty table then takes up to twice as long,
        // and versions before 10.11.11 have a fault in it (MDEV-34703).
        before.push(format!(
            "CREATE TABLE {into} ({}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
            parts.join(", ")
        ));
    }
    before.push("START TRANSACTION".into());
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let load = format!(
        "LOAD DATA LOCAL INFILE 'dyno' INTO TABLE {into} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({})",
        list(&names)
    );
    let mut after: Vec<String> = Vec::new();
    if is_new {
        after.push("COMMIT".into());
    }
    after.extend(table.indexes.iter().map(|index| format!("ALTER TABLE {into} ADD INDEX ({})", list(index))));
    let commit = match existing {
        Existing::Append => "COMMIT".into(),
        Existing::Create => format!("RENAME TABLE {staged} TO {name}"),
        Existing::Replace => format!("RENAME TABLE {name} TO {old}, {staged} TO {name}"),
    };
    let last = (existing == Existing::Replace).then(|| format!("DROP TABLE {old}"));
    Statements { before, load, after, commit, last }
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

/// A name as MySQL quotes it.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
