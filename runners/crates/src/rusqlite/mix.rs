//! The model `mix`: statements of a client, prepared beforehand or for each execution.

use std::time::Duration;

use anyhow::{Error, Result};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, Value, Values, statements};
use dyno_runner::quote;
use dyno_runner_crates::sqlite;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};

use crate::rows::{Parameter, fetch};
use crate::said;

/// The statements of a connection.
pub struct Statements<'c> {
    connection: &'c Connection,
    statements: Vec<(MixedStatement<'c>, Vec<MixValue>)>,
    begin_read: Statement<'c>,
    /// Takes the write lock at once: a transaction that read first could not wait for it
    /// (<https://www.sqlite.org/lang_transaction.html>).
    begin_write: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
}

/// A statement of a class.
enum MixedStatement<'c> {
    /// Prepared once.
    Prepared(Statement<'c>),
    /// Prepared for each execution.
    Simple(String),
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, mix: &MixWork) -> Result<Statements<'c>> {
        connection.busy_timeout(Duration::from_nanos(mix.shortest_patience())).map_err(said)?;
        let prepare = |sql: &str| connection.prepare(sql).map_err(|error| said(error).context(quote(sql)));
        let all = statements(mix, |place| format!("?{place}")).into_iter();
        let each = |one: dyno_runner::mix::Statement| {
            let statement = if one.is_simple {
                MixedStatement::Simple(one.sql)
            } else {
                MixedStatement::Prepared(prepare(&one.sql)?)
            };
            Ok((statement, one.parameters))
        };
        Ok(Statements {
            connection,
            statements: all.map(each).collect::<Result<_>>()?,
            begin_read: prepare("BEGIN")?,
            begin_write: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
        })
    }
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let (statement, parameters) = &mut self.statements[statement];
        let values = parameters.iter().map(|&source| {
            Parameter(match values.get(source) {
                Value::Null => ValueRef::Null,
                Value::Integer(number) => ValueRef::Integer(number),
                Value::Real(number) => ValueRef::Real(number),
                Value::Text(text) => ValueRef::Text(text),
                Value::Blob(blob) => ValueRef::Blob(blob),
            })
        });
        match statement {
            MixedStatement::Prepared(statement) => fetch(statement, values, sink),
            MixedStatement::Simple(sql) => {
                fetch(&mut self.connection.prepare(sql).map_err(said)?, values, sink)
            }
        }
    }

    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        let begin = match purpose {
            Purpose::Read => &mut self.begin_read,
            Purpose::Write => &mut self.begin_write,
        };
        begin.execute([]).map_err(said).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.commit.execute([]).map_err(said).map(drop)
    }

    fn rollback(&mut self) -> Result<()> {
        sqlite::rolled_back(self.rollback.execute([]).map_err(said).map(drop))
    }

    fn is_retryable(&self, error: &Error) -> bool {
        sqlite::is_retryable(error)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        sqlite::has_code(error, wanted)
    }
}
