//! The model `mix`: statements of a client, prepared beforehand or sent as text with values apart.

use std::sync::Arc;

use anyhow::{Error, Result};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{Prepared, Values, statements};
use dyno_runner::quote;
use dyno_runner::server::Client;
use dyno_runner_crates::postgres;
use tokio_postgres::Statement;
use tokio_postgres::types::Type;

use crate::values::Parameter;
use crate::{Session, said};

/// The statements of a session.
pub struct Statements<'s> {
    session: &'s Session,
    statements: Vec<(MixedStatement, Vec<MixValue>)>,
}

/// A statement of a class.
enum MixedStatement {
    /// Prepared once.
    Prepared(Statement),
    /// Parsed at each execution, with the types of its parameters.
    Simple(String, Arc<[Type]>),
}

impl<'s> Statements<'s> {
    /// Prepares all statements of a mix.
    pub fn prepare(session: &'s Session, mix: &MixWork) -> Result<Statements<'s>> {
        let each = |one: dyno_runner::mix::Statement| {
            if one.is_simple {
                let types = types(session, &one).map_err(|error| error.context(quote(&one.sql)))?;
                return Ok((MixedStatement::Simple(one.sql, types), one.parameters));
            }
            let prepared = session.runtime.block_on(session.client.prepare(&one.sql));
            let prepared = prepared.map_err(|error| said(error).context(quote(&one.sql)))?;
            Ok((MixedStatement::Prepared(prepared), one.parameters))
        };
        let all = statements(mix, |place| format!("${place}")).into_iter();
        Ok(Statements { session, statements: all.map(each).collect::<Result<_>>()? })
    }
}

/// The types of a statement's parameters, if it has any.
fn types(session: &Session, statement: &dyno_runner::mix::Statement) -> Result<Arc<[Type]>> {
    if statement.parameters.is_empty() {
        return Ok(Arc::default());
    }
    session.types.of(session, &statement.sql)
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let (statement, parameters) = &self.statements[statement];
        let values = parameters.iter().map(|&source| Parameter(values.get(source)));
        match statement {
            MixedStatement::Prepared(statement) => self.session.fetch(statement, values, sink),
            MixedStatement::Simple(sql, types) => {
                self.session.text(sql, values.zip(types.iter().cloned()), sink)
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
        postgres::is_retryable(error)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        postgres::code(error) == Some(wanted)
    }
}
