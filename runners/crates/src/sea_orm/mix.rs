//! The model `mix`: each execution makes a `Statement` of a text and values, and sqlx keeps it prepared.

use std::str::from_utf8;

use anyhow::{Error, Result};
use dyno_protocol::{MixValue, MixWork, Purpose, Sink};
use dyno_runner::mix::{self, Prepared, Values, statements};
use dyno_runner::quote;
use dyno_runner_crates::postgres;
use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};
use sqlx::{AssertSqlSafe, SqlSafeStr};

use crate::pg::{self, BYTEA, FLOAT4, FLOAT8, INT2, INT4};
use crate::{Session, said};

/// The statements of a session.
pub struct Statements<'s> {
    session: &'s Session,
    /// Their texts, with where the value of each parameter comes from and the number of its type.
    statements: Vec<(String, Vec<(MixValue, Option<u32>)>)>,
}

impl<'s> Statements<'s> {
    /// Prepares all statements of a mix, whose parameters then have types.
    pub fn prepare(session: &'s Session, mix: &MixWork) -> Result<Statements<'s>> {
        let pool = session.connection.get_postgres_connection_pool();
        let all = statements(mix, |place| format!("${place}")).into_iter().map(|one| {
            let kinds = session.runtime.block_on(async {
                let mut connection = pool.acquire().await?;
                pg::kinds(&mut connection, AssertSqlSafe(one.sql.as_str()).into_sql_str()).await
            });
            let kinds = kinds.map_err(|error| pg::said(error).context(quote(&one.sql)))?;
            let places = one.parameters.into_iter().enumerate();
            Ok((one.sql, places.map(|(place, source)| (source, kinds.get(place).copied())).collect()))
        });
        Ok(Statements { session, statements: all.collect::<Result<_>>()? })
    }
}

/// The value of a parameter, of the type that a program has for its column.
pub fn value(value: mix::Value, kind: Option<u32>) -> Result<Value> {
    Ok(match (value, kind) {
        (mix::Value::Null, _) => Value::BigInt(None),
        (mix::Value::Integer(number), Some(INT4)) => Value::Int(Some(number.try_into()?)),
        (mix::Value::Integer(number), Some(INT2)) => Value::SmallInt(Some(number.try_into()?)),
        (mix::Value::Integer(number), Some(FLOAT8)) => Value::Double(Some(number as f64)),
        (mix::Value::Integer(number), _) => Value::BigInt(Some(number)),
        (mix::Value::Real(number), Some(FLOAT4)) => Value::Float(Some(number as f32)),
        (mix::Value::Real(number), _) => Value::Double(Some(number)),
        (mix::Value::Blob(bytes), _) | (mix::Value::Text(bytes), Some(BYTEA)) => bytes.into(),
        (mix::Value::Text(text), _) => from_utf8(text)?.into(),
    })
}

impl Prepared for Statements<'_> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        let (sql, parameters) = &self.statements[statement];
        let values = parameters.iter().map(|&(source, kind)| value(values.get(source), kind));
        let values = values.collect::<Result<Vec<Value>>>()?;
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        let Session { runtime, connection, transaction, .. } = self.session;
        let transaction = transaction.borrow();
        let rows = match &*transaction {
            Some(open) => runtime.block_on(open.query_all_raw(statement)),
            None => runtime.block_on(connection.query_all_raw(statement)),
        };
        for row in rows.map_err(said)? {
            row.try_as_pg_row().map_or(Ok(()), |row| pg::read(row, sink))?;
            sink.end_row();
        }
        Ok(())
    }

    fn begin(&mut self, _: Purpose) -> Result<()> {
        self.session.begin()
    }

    fn commit(&mut self) -> Result<()> {
        self.session.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.session.rollback()
    }

    fn is_retryable(&self, error: &Error) -> bool {
        postgres::is_retryable(error)
    }

    fn has_code(&self, error: &Error, wanted: &str) -> bool {
        postgres::code(error) == Some(wanted)
    }
}
