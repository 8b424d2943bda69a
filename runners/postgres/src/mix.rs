//! The model `mix`: statements on a connection of the client's own, prepared or sent as text.

use std::ffi::CStr;

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::postgres::{Connection, Query, ServerError, is_retryable};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, TextStatement, Value, Values, statements};
use dyno_runner::{Answer, mix, quote};

/// The statements of a connection. Those of transactions that the classes have are prepared like all others, as pgbench does
/// it, unless all classes send text: then nothing is prepared.
pub struct Statements<'c> {
    connection: &'c Connection,
    statements: Vec<Statement<'c>>,
    begin: Bracket<'c>,
    commit: Bracket<'c>,
    rollback: Bracket<'c>,
}

/// A statement of a class.
enum Statement<'c> {
    /// Prepared, with the sources of its values.
    Prepared(Query<'c>, Vec<MixValue>),
    /// Sent as text by the simple protocol (`PQsendQuery`), values included.
    Text(TextStatement),
}

/// A statement that begins or ends a transaction.
enum Bracket<'c> {
    Prepared(Query<'c>),
    Text(&'static CStr),
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, work: &MixWork) -> Result<Statements<'c>> {
        let prepare = |sql: &str, parameters| {
            Query::prepare(connection, sql, parameters).map_err(|error| error.context(quote(sql)))
        };
        let all = statements(work, |place| format!("${place}"));
        // A bracket that no class needs is not prepared: each would cost a session that comes and goes a round trip.
        let in_transactions =
            || work.classes.iter().filter(|one| one.transaction.is_some() && !one.statements.is_empty());
        let sends_text = in_transactions().next().is_none() || all.iter().all(|one| one.is_simple);
        let rolls_back = in_transactions().any(|one| one.rollback_if.is_some());
        let statement = |one: mix::Statement| {
            Ok(if one.is_simple {
                Statement::Text(TextStatement::new(&one))
            } else {
                Statement::Prepared(prepare(&one.sql, one.parameters.len())?, one.parameters)
            })
        };
        let bracket = |text: &'static CStr| -> Result<Bracket> {
            Ok(if sends_text {
                Bracket::Text(text)
            } else {
                Bracket::Prepared(prepare(&text.to_string_lossy(), 0)?)
            })
        };
        Ok(Statements {
            connection,
            statements: all.into_iter().map(statement).collect::<Result<_>>()?,
            begin: bracket(c"BEGIN")?,
            commit: bracket(c"COMMIT")?,
            rollback: if rolls_back { bracket(c"ROLLBACK")? } else { Bracket::Text(c"ROLLBACK") },
        })
    }
}

impl Bracket<'_> {
    #[inline]
    fn run(&mut self, connection: &Connection) -> Result<()> {
        match self {
            Bracket::Prepared(query) => query.run(&mut Answer::new()).map(drop),
            Bracket::Text(text) => connection.command(text),
        }
    }
}

/// Sends a statement as text.
fn send<S: Sink>(
    connection: &Connection,
    statement: &mut TextStatement,
    values: &Values,
    sink: &mut S,
) -> Result<()> {
    let text = |text: &[u8], sql: &mut Vec<u8>| connection.quote_text(text, sql);
    let blob = |bytes: &[u8], sql: &mut Vec<u8>| connection.quote_blob(bytes, sql);
    connection.execute(statement.fill(values, text, blob)?, sink).map(drop)
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let (statement, parameters) = match &mut self.statements[statement] {
            Statement::Prepared(statement, parameters) => (statement, parameters),
            Statement::Text(statement) => return send(self.connection, statement, values, sink),
        };
        for (place, &source) in parameters.iter().enumerate() {
            match values.get(source) {
                Value::Null => statement.set_null(place),
                Value::Integer(number) => statement.set_integer(place, number),
                Value::Real(number) => statement.set_real(place, number),
                Value::Text(text) => statement.set_text(place, text),
                Value::Blob(blob) => statement.set_blob(place, blob),
            }
        }
        statement.run(sink).map(drop)
    }

    #[inline]
    fn begin(&mut self, _purpose: Purpose) -> Result<()> {
        self.begin.run(self.connection)
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.commit.run(self.connection)
    }

    fn rollback(&mut self) -> Result<()> {
        self.rollback.run(self.connection)
    }

    fn is_retryable(&self, error: &Error) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| is_retryable(&error.code))
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| error.code == code)
    }
}
