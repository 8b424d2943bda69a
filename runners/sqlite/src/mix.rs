//! The model `mix`: statements on a connection of the client's own, prepared beforehand or for each execution.

use std::ffi::CString;
use std::time::Duration;

use anyhow::{Error, Result};
use dyno_client::sqlite::{Connection, Parameter, SqliteError, Statement, api};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, Value, Values, statements};
use dyno_runner::quote;

/// The statements of a connection.
pub struct Statements<'c> {
    connection: &'c Connection,
    statements: Vec<(MixedStatement<'c>, Vec<MixValue>)>,
    /// Takes a snapshot by its first read.
    begin_read: Statement<'c>,
    /// Takes the write lock at once: a transaction that read first could not wait for it, since what it has read may
    /// have changed meanwhile (<https://www.sqlite.org/lang_transaction.html>).
    begin_write: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
}

/// A statement of a class.
enum MixedStatement<'c> {
    /// Prepared once, beforehand.
    Prepared(Statement<'c>),
    /// Prepared for each execution (`sqlite3_prepare_v2`) and finalized after it, as a program does that keeps none.
    Simple(CString),
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, mix: &MixWork) -> Result<Statements<'c>> {
        connection.wait_for_locks(Duration::from_nanos(mix.shortest_patience()));
        let prepare = |sql: &str| {
            let text = CString::new(sql)?;
            Statement::new(connection, &text).map_err(|error| error.context(quote(sql)))
        };
        let all = statements(mix, |place| format!("?{place}")).into_iter();
        Ok(Statements {
            connection,
            statements: all
                .map(|one| {
                    let statement = if one.is_simple {
                        MixedStatement::Simple(CString::new(one.sql)?)
                    } else {
                        MixedStatement::Prepared(prepare(&one.sql)?)
                    };
                    Ok((statement, one.parameters))
                })
                .collect::<Result<_>>()?,
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
        let values = parameters.iter().map(|&source| match values.get(source) {
            Value::Null => Parameter::Null,
            Value::Integer(number) => Parameter::Integer(number),
            Value::Real(number) => Parameter::Real(number),
            Value::Text(text) => Parameter::Text(text),
            Value::Blob(blob) => Parameter::Blob(blob),
        });
        match statement {
            MixedStatement::Prepared(statement) => statement.fetch(values, sink),
            MixedStatement::Simple(sql) => Statement::new(self.connection, sql)?.fetch(values, sink),
        }
    }

    #[inline]
    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        match purpose {
            Purpose::Read => self.begin_read.run([]),
            Purpose::Write => self.begin_write.run([]),
        }
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.commit.run([])
    }

    fn rollback(&mut self) -> Result<()> {
        match self.rollback.run([]) {
            // SQLite has rolled it back already: no transaction is open.
            Err(error) if code(&error) == Some(api::ERROR) => Ok(()),
            outcome => outcome,
        }
    }

    fn is_retryable(&self, error: &Error) -> bool {
        error.downcast_ref::<SqliteError>().is_some_and(SqliteError::is_retryable)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        // The lowest byte is the primary code.
        code(error).is_some_and(|code| code.to_string() == wanted || (code & 0xff).to_string() == wanted)
    }
}

fn code(error: &Error) -> Option<i32> {
    error.downcast_ref::<SqliteError>().map(|error| error.code)
}
