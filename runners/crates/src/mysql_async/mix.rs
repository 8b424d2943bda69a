//! The model `mix`: statements of a client, prepared, or sent as text with their values in it.

use anyhow::{Error, Result};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, TextStatement, Values, statements};
use dyno_runner::quote;
use dyno_runner::server::Client;
use dyno_runner_crates::mysql;
use mysql_async::prelude::Queryable;
use mysql_async::{Params, Value};

use crate::values::value;
use crate::{Session, drain, said};

/// The statements of a session.
pub struct Statements<'s> {
    session: &'s Session,
    statements: Vec<MixedStatement>,
}

/// A statement of a class.
enum MixedStatement {
    /// Prepared, with the sources of its values.
    Prepared(mysql_async::Statement, Vec<MixValue>),
    /// Sent as text.
    Text(TextStatement),
}

impl<'s> Statements<'s> {
    /// Prepares all statements of a mix.
    pub fn prepare(session: &'s Session, mix: &MixWork) -> Result<Statements<'s>> {
        let all = statements(mix, |_| "?".to_owned()).into_iter().map(|one| {
            if one.is_simple {
                return Ok(MixedStatement::Text(TextStatement::new(&one)));
            }
            let prepared = session.with_connection(async |connection| {
                connection.prep(&one.sql).await.map_err(|error| said(error).context(quote(&one.sql)))
            })?;
            Ok(MixedStatement::Prepared(prepared, one.parameters))
        });
        Ok(Statements { statements: all.collect::<Result<_>>()?, session })
    }
}

/// The bytes as a literal, as the library's own `as_sql` writes it.
fn literal(bytes: &[u8], sql: &mut Vec<u8>) {
    sql.extend_from_slice(Value::Bytes(bytes.to_vec()).as_sql(false).as_bytes());
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        match &mut self.statements[statement] {
            MixedStatement::Prepared(statement, parameters) => {
                let all = parameters.iter().map(|&source| value(values.get(source)));
                let all = match parameters.is_empty() {
                    true => Params::Empty,
                    false => Params::Positional(all.collect()),
                };
                self.session.with_connection(async |connection| {
                    drain(connection.exec_iter(&*statement, all).await.map_err(said)?, sink).await
                })
            }
            MixedStatement::Text(statement) => {
                let text = |text: &[u8], sql: &mut Vec<u8>| Ok(literal(text, sql));
                let sql = statement.fill(values, text, literal)?;
                self.session.text(sql.to_bytes(), sink)
            }
        }
        .map(drop)
    }

    fn begin(&mut self, _: Purpose) -> Result<()> {
        self.session.command(c"BEGIN")
    }

    fn commit(&mut self) -> Result<()> {
        self.session.command(c"COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        self.session.command(c"ROLLBACK")
    }

    fn is_retryable(&self, error: &Error) -> bool {
        mysql::is_retryable(error)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        mysql::has_code(error, wanted)
    }
}
