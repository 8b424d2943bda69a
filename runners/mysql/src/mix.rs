//! The model `mix`: statements on a connection of the client's own, prepared or sent as text.

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::mysql::{Connection, Query, ServerError, is_retryable};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, TextStatement, Value, Values, statements};
use dyno_runner::quote;

/// The statements of a connection. Those of transactions are sent as text: not every server prepares them.
pub struct Statements<'c> {
    connection: &'c Connection,
    statements: Vec<Statement<'c>>,
}

/// A statement of a class.
enum Statement<'c> {
    /// Prepared, with the sources of its values.
    Prepared(Query<'c>, Vec<MixValue>),
    /// Sent as text by the text protocol (`mysql_real_query`), values included.
    Text(TextStatement),
}

impl<'c> Statements<'c> {
    /// Prepares all statements of a mix.
    pub fn prepare(connection: &'c Connection, mix: &MixWork) -> Result<Statements<'c>> {
        let all = statements(mix, |_| "?".to_owned()).into_iter().map(|one| {
            if one.is_simple {
                return Ok(Statement::Text(TextStatement::new(&one)));
            }
            let query = Query::prepare(connection, &one.sql, one.parameters.len());
            let query = query.map_err(|error| error.context(quote(&one.sql)))?;
            Ok(Statement::Prepared(query, one.parameters))
        });
        Ok(Statements { statements: all.collect::<Result<_>>()?, connection })
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
        statement.run(sink)
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

    fn is_retryable(&self, error: &Error) -> bool {
        error.downcast_ref::<ServerError>().is_some_and(|error| is_retryable(error.number))
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        has_code(error, code)
    }
}

/// Returns true if an error has this code: the server's number, or the five letters of the SQL standard.
fn has_code(error: &Error, code: &str) -> bool {
    let reported = error.downcast_ref::<ServerError>();
    reported.is_some_and(|error| error.state == code || error.number.to_string() == code)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use dyno_runner::JobSql;

    use super::*;
    use crate::session::Session;

    #[test]
    fn an_error_is_known_by_its_number_and_by_its_state() {
        let error = ServerError { number: 1062, state: "23000".into(), message: "Duplicate entry".into() };
        let error = Error::from(error);
        assert!(has_code(&error, "1062") && has_code(&error, "23000"));
        assert!(!has_code(&error, "1213") && !has_code(&anyhow!("1062"), "1062"));
        assert_eq!((Session::code(&error), Session::code(&anyhow!("1062"))), (Some("1062".into()), None));
    }
}
