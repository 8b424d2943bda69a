//! The model `mix`: prepared statements on a connection of the client's own.

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::mysql::{Connection, Query, ServerError, may_pass};
use dyno_protocol::{MixWork, Purpose};
use dyno_runner::mix::{Prepared, Step, Value, statements};
use dyno_runner::{Answer, quote};

/// The statements of a connection. Those of transactions are sent as text: not every server prepares them.
pub struct Statements<'c> {
    connection: &'c Connection,
    statements: Vec<(Query<'c>, Vec<usize>)>,
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, mix: &MixWork) -> Result<Statements<'c>> {
        let all = statements(mix, |_| "?".to_owned()).into_iter().map(|one| {
            let fields =
                one.parameters.iter().map(|&field| (mix.fields[field].kind, mix.fields[field].bytes));
            let query = Query::prepare(connection, &one.sql, fields);
            Ok((query.map_err(|error| error.context(quote(&one.sql)))?, one.parameters))
        });
        Ok(Statements { statements: all.collect::<Result<_>>()?, connection })
    }
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run(&mut self, statement: usize, step: &Step, answer: &mut Answer) -> Result<()> {
        let (statement, parameters) = &mut self.statements[statement];
        for (place, &field) in parameters.iter().enumerate() {
            match step.value(field) {
                Value::Integer(number) => statement.set_integer(place, number),
                Value::Text(text) => statement.set_text(place, text),
            }
        }
        statement.run(answer)
    }

    #[inline]
    fn begin(&mut self, _purpose: Purpose) -> Result<()> {
        self.connection.command(c"BEGIN")
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        self.connection.command(c"COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        self.connection.command(c"ROLLBACK")
    }

    fn may_pass(&self, error: &Error) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| may_pass(error.number))
    }
}
