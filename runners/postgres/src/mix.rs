//! The model `mix`: prepared statements on a connection of the client's own.

use anyhow::{Error, Result};
use dyno_client::postgres::{Connection, Query, ServerError, is_retryable};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, Value, Values, statements};
use dyno_runner::{Answer, quote};

/// The statements of a connection, those of transactions prepared like all others, as pgbench does it.
pub struct Statements<'c> {
    statements: Vec<(Query<'c>, Vec<MixValue>)>,
    begin: Query<'c>,
    commit: Query<'c>,
    rollback: Query<'c>,
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, mix: &MixWork) -> Result<Statements<'c>> {
        let prepare = |sql: &str, parameters| {
            Query::prepare(connection, sql, parameters).map_err(|error| error.context(quote(sql)))
        };
        let all = statements(mix, |place| format!("${place}")).into_iter();
        let all = all.map(|one| Ok((prepare(&one.sql, one.parameters.len())?, one.parameters)));
        Ok(Statements {
            statements: all.collect::<Result<_>>()?,
            begin: prepare("BEGIN", 0)?,
            commit: prepare("COMMIT", 0)?,
            rollback: prepare("ROLLBACK", 0)?,
        })
    }
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let (statement, parameters) = &mut self.statements[statement];
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
        self.begin.run(&mut Answer::new()).map(drop)
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.commit.run(&mut Answer::new()).map(drop)
    }

    fn rollback(&mut self) -> Result<()> {
        self.rollback.run(&mut Answer::new()).map(drop)
    }

    fn is_retryable(&self, error: &Error) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| is_retryable(&error.code))
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| error.code == code)
    }
}
