//! The rows go into a table of MariaDB or MySQL, and the server commits them.

use std::ffi::CString;

use anyhow::{Context, Result, ensure};
use dyno_client::Sql;
use dyno_client::mysql::{NO_LOCAL, ServerError, load_data};

use super::MySql;
use super::statements::{Statements, held, quoted};
use crate::batch::Batch;
use crate::error::{BadInput, Input, Interrupted, Lost, shown};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::server::common::{write, written};
use crate::server::sent::Sent;
use crate::table::Table;
use crate::target::Existing;

/// Numbers of errors that the client's library reports, and not the server.
const CLIENT_ERRORS: std::ops::Range<u32> = 2000..3000;

/// Classes of SQLSTATE by which a server refuses a value, a row that violates a constraint, and what a SIGNAL refuses.
const REFUSES_ROW: [&str; 3] = ["22", "23", "45"];

impl MySql {
    fn execute(&self, sql: &str) -> Result<()> {
        self.connection
            .rows(sql)
            .with_context(|| format!("cannot execute {}; nothing was loaded", shown(sql)))
            .map(drop)
    }

    /// Makes the table, has the server take the rows, and commits. With notes on what failed after the commit.
    pub(super) fn fill(
        &self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Reached, Vec<String>)> {
        let statements = self.plan(table, existing);
        let watch = rows.watch();
        self.watched(&self.connection, &table.name, watch, || {
            self.fill_staged(table, existing, &statements, rows, check)
        })?;
        if watch.stops() {
            return Err(Interrupted.into());
        }
        let reached = self.reached(existing)?;
        watch.doing("committing");
        if existing == Existing::Replace {
            return self.replace(&table.name, &statements, reached, watch, || rows.seal());
        }
        rows.seal()?;
        committed(&statements.commit, self.connection.rows(&statements.commit).map(drop))?;
        Ok(self.tidy(&statements.last, reached))
    }

    /// Executes all before the commit.
    fn fill_staged(
        &self,
        table: &Table,
        existing: Existing,
        statements: &Statements,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for sql in &statements.before {
            self.execute(sql).input()?;
        }
        if existing == Existing::Append {
            // Until the transaction ends no other program changes the table. Where it cannot be held, it may have changed.
            let held = self.execute(&held(table));
            self.check_same(&table.name)?;
            held.input()?;
        }
        let is_filled = existing == Existing::Append && table.merge.is_none();
        self.copy(&statements.load, &table.name, is_filled, rows)?;
        check()?;
        for sql in &statements.after {
            rows.watch().doing("making indexes");
            self.execute(sql).input()?;
        }
        Ok(())
    }

    /// Executes the statements that follow the commit. If one fails, the rows stay, so the failure is a note.
    pub(super) fn tidy(&self, statements: &[String], mut reached: Reached) -> (Reached, Vec<String>) {
        let mut notes = Vec::new();
        for sql in statements {
            let Err(error) = self.connection.rows(sql) else { continue };
            notes.push(said_refused(sql, &error));
            if sql.starts_with("CREATE TABLE") {
                reached.safety = reached.safety.min(Safety::ProcessCrash);
            }
        }
        (reached, notes)
    }

    /// Has the server take the rows for a table, or for one of a passing name unless the table itself `is_filled`.
    fn copy(&self, sql: &str, table: &str, is_filled: bool, rows: &mut Rows) -> Result<()> {
        let (mut room, mut given, mut sent) = (Vec::new(), 0, Sent::new(rows.memory, 1));
        let mut held: Option<Batch> = None;
        let fill = |buffer: &mut [u8]| {
            if held.is_none() {
                let Some(batch) = rows.batch()? else { return Ok(0) };
                given = 0;
                sent.add(&batch.lines, &batch.records);
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
        let loaded = load_data::load(&self.connection, &CString::new(sql)?, fill).map_err(explain)?;
        self.check_warnings(&sent, table, is_filled)?;
        let given = rows.loaded();
        ensure!(loaded == given, "the server took {loaded} of {given} rows, so nothing was loaded");
        Ok(())
    }

    /// Leaves everything as it was.
    pub(super) fn undo(&self) {
        // Without a connection a staged table stays behind; its name says whose it is.
        let _ = self.connection.rows("ROLLBACK");
        let _ = self.connection.rows(&format!("DROP TABLE IF EXISTS {}", quoted(&self.staged)));
    }
}

/// A statement behind the commit that the server refuses, as a sentence.
pub(super) fn said_refused(sql: &str, error: &anyhow::Error) -> String {
    format!("The rows are loaded, but the server refuses {}: {error:#}.", shown(sql))
}

/// The outcome of the statement that commits, with what it means for the rows.
pub(super) fn committed(sql: &str, outcome: Result<()>) -> Result<()> {
    outcome.map_err(|error| match error.downcast_ref::<ServerError>() {
        Some(server) if !CLIENT_ERRORS.contains(&server.number) => {
            error.context(format!("cannot execute {}; nothing was loaded", shown(sql)))
        }
        _ => error.context(Lost),
    })
}

fn explain(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<ServerError>() {
        Some(server) if NO_LOCAL.contains(&server.number) => error.context(
            "the server takes no files from clients; its administrator can say SET GLOBAL local_infile = 1",
        ),
        Some(server) => {
            // A trigger's refusal is an error, while that of a value is a warning, and the server counts no rows for
            // it.
            let is_input = REFUSES_ROW.iter().any(|class| server.state.starts_with(class));
            let error = error.context("the server refuses the rows; nothing was loaded");
            if is_input { BadInput(error).into() } else { error }
        }
        None => error,
    }
}
