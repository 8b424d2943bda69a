//! Into PostgreSQL by COPY, all in one transaction. A table made in it is loaded WITH FREEZE, so that no
//! row need be touched again; keys and indexes are made after the rows.

use std::ffi::CString;
use std::rc::Rc;

use anyhow::{Context, Result};
use dyno_protocol::{Build, Server, Value};
use dyno_runner::server::Client;
use dyno_runner_postgres::api::Api;
use dyno_runner_postgres::connection::{Connection, ServerError};
use dyno_runner_postgres::copy::copy_in;
use dyno_runner_postgres::load::Way;
use dyno_runner_postgres::{database, library};

use super::types::{Spelling, kind};
use super::write_lines;
use crate::error::Input;
use crate::explain::Program;
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::{Existing, Target};

const SPELLING: Spelling = Spelling { integer: "BIGINT", real: "DOUBLE PRECISION", text: "TEXT" };

/// A database of a PostgreSQL server.
pub struct Postgres {
    connection: Connection,
    safety: Safety,
}

impl Postgres {
    /// Connects.
    pub fn connect(server: &Server, safety: Safety) -> Result<Postgres> {
        let api = Rc::new(library::LIBPQ.load(&Build::System, Api::resolve)?);
        let connection = database::connect(&api, server, database::maintenance(server), Way::Copy)?;
        Ok(Postgres { connection, safety })
    }

    fn copy(&self, table: &Table, existing: Existing, rows: &mut Rows) -> Result<()> {
        let sql = CString::new(copy(table, existing))?;
        let mut lines = Vec::new();
        let copied = copy_in(&self.connection, &sql, |copy| {
            while let Some(batch) = rows.batch()? {
                lines.clear();
                write_lines(&batch, &mut lines);
                rows.recycle(batch);
                copy.put(&lines)?;
            }
            Ok(())
        });
        match copied {
            Err(error) if error.is::<ServerError>() => {
                Err(error.context("the server refuses the rows; nothing was loaded")).input()
            }
            copied => copied.map(drop),
        }
    }

    fn fill(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        let executed = |sql: &String| {
            let done = self.connection.rows(sql);
            done.with_context(|| format!("cannot execute {sql}; nothing was loaded"))
        };
        for sql in before(table, existing, self.safety).iter().skip(1) {
            executed(sql).input()?;
        }
        self.copy(table, existing, rows)?;
        check()?;
        for sql in &after(table, existing) {
            rows.watch().doing("making indexes");
            executed(sql).input()?;
        }
        if rows.watch().stops() {
            return Err(crate::error::Interrupted.into());
        }
        self.reached()
    }

    /// What a commit survives by the settings in force.
    fn reached(&self) -> Result<Reached> {
        let value = |name: &str| -> Result<String> {
            Ok(self.connection.value(&format!("SHOW {name}"))?.unwrap_or_default())
        };
        let (fsync, commit) = (value("fsync")?, value("synchronous_commit")?);
        let safety = match (fsync.as_str(), commit.as_str()) {
            (_, "off") => Safety::None,
            ("off", _) => Safety::ProcessCrash,
            _ => Safety::PowerLoss,
        };
        Ok(Reached { safety, by: format!("one transaction, fsync={fsync}, synchronous_commit={commit}") })
    }
}

impl Target for Postgres {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        let name = quoted(table).replace('\'', "''");
        if self.connection.value(&format!("SELECT to_regclass('{name}')"))?.is_none() {
            return Ok(None);
        }
        let rows = self.connection.rows(&format!(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        ))?;
        let text = |value: Option<Value>| match value {
            Some(Value::Text(text)) => text,
            _ => String::new(),
        };
        let column = |row: Vec<Value>| {
            let mut row = row.into_iter();
            let (name, declared) = (text(row.next()), text(row.next()));
            Column { name, kind: kind(&declared), declared, inferred: false }
        };
        Ok(Some(rows.into_iter().map(column).collect()))
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        SPELLING.column(name, declared)
    }

    fn declare(&self, table: &mut Table) {
        for column in table.columns.iter_mut().filter(|column| column.declared.is_empty()) {
            column.declared = SPELLING.of(column.kind).to_owned();
        }
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        let mut statements = before(table, existing, self.safety);
        statements.push(copy(table, existing));
        statements.extend(after(table, existing));
        statements.push("COMMIT".into());
        statements
    }

    fn reasons(&self) -> Vec<String> {
        vec![
            "COPY: one statement for all rows, whose fields go as the text that they are in the file".into(),
            "a table that is made in the same transaction is loaded WITH FREEZE: no row need be written again later, and a failure leaves nothing".into(),
            "keys and indexes are made after the rows: sorting once is less than inserting in any order".into(),
        ]
    }

    fn programs(&self) -> &'static [Program] {
        &[("SQL", include_str!("../../templates/postgres.sql.j2"))]
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let is_text = |column: &&Column| !column.kind.empty_is_null();
        let texts: Vec<String> =
            table.columns.iter().filter(is_text).map(|column| quoted(&column.name)).collect();
        minijinja::context! {
            before => before(table, existing, self.safety),
            after => after(table, existing),
            quoted_table => quoted(&table.name),
            column_list => columns.join(", "),
            texts => texts.join(", "),
            freeze => existing != Existing::Append,
        }
    }

    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        self.connection.rows("BEGIN")?;
        match self.fill(table, existing, rows, check) {
            Ok(reached) => {
                rows.watch().doing("committing");
                self.connection.rows("COMMIT").context("cannot commit")?;
                Ok(reached)
            }
            Err(error) => {
                // Without a connection the server does so by itself.
                let _ = self.connection.rows("ROLLBACK");
                Err(error)
            }
        }
    }
}

/// What is executed before the rows.
fn before(table: &Table, existing: Existing, safety: Safety) -> Vec<String> {
    let mut statements = vec!["BEGIN".to_owned()];
    if safety == Safety::None {
        statements.push("SET LOCAL synchronous_commit = off".into());
    }
    let name = quoted(&table.name);
    if existing == Existing::Replace {
        statements.push(format!("DROP TABLE {name}"));
    }
    if existing != Existing::Append {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| format!("{} {}", quoted(&column.name), column.declared))
            .collect();
        statements.push(format!("CREATE TABLE {name} ({})", columns.join(", ")));
    }
    statements
}

fn copy(table: &Table, existing: Existing) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
    let freeze = if existing == Existing::Append { "" } else { " WITH (FREEZE)" };
    format!("COPY {} ({}) FROM STDIN{freeze}", quoted(&table.name), columns.join(", "))
}

/// What is executed after the rows.
fn after(table: &Table, existing: Existing) -> Vec<String> {
    let name = quoted(&table.name);
    let list =
        |columns: &[String]| columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
    let mut statements = Vec::new();
    if existing != Existing::Append && !table.primary_key.is_empty() {
        statements.push(format!("ALTER TABLE {name} ADD PRIMARY KEY ({})", list(&table.primary_key)));
    }
    statements.extend(table.indexes.iter().map(|index| format!("CREATE INDEX ON {name} ({})", list(index))));
    statements
}

/// A name as PostgreSQL quotes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
