//! PostgreSQL by sqlx.

use std::ops::Range;
use std::str::from_utf8;
use std::time::Duration;

use anyhow::{Error, Result};
use dyno_protocol::{Server, Sink};
use dyno_runner::mix::Value;
use dyno_runner::server::Lines;
use dyno_runner::{Load, column_list};
use dyno_runner_crates::postgres;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow};
use sqlx::{Arguments, PgConnection, Postgres, SqlStr};

use crate::flavour::{Flavour, Remote, calls};
use crate::pg::{self, BYTEA, FLOAT4, FLOAT8, INT2, INT4};
use crate::variant::Variant;

/// Bytes handed to the library at once in a COPY.
const BUFFER: usize = 1 << 16;

impl Flavour for Postgres {
    const VARIANTS: &'static [(&'static str, Variant)] =
        &[("copy", Variant::Own), ("multirow", Variant::MultiRow), ("insert", Variant::Insert)];

    fn placeholder(place: usize) -> String {
        format!("${place}")
    }

    calls!(Postgres);

    fn prepare(connection: &mut PgConnection, sql: SqlStr) -> BoxFuture<'_, sqlx::Result<Vec<u32>>> {
        pg::kinds(connection, sql).boxed()
    }

    /// Encodes it as the type of its parameter, as a program has a value of the column's type.
    fn add(arguments: &mut PgArguments, value: Value, kind: Option<u32>) -> sqlx::Result<()> {
        let added = match (value, kind) {
            (Value::Null, _) => arguments.add(None::<i64>),
            (Value::Integer(number), Some(INT4)) => {
                arguments.add(i32::try_from(number).map_err(|error| sqlx::Error::Encode(error.into()))?)
            }
            (Value::Integer(number), Some(INT2)) => {
                arguments.add(i16::try_from(number).map_err(|error| sqlx::Error::Encode(error.into()))?)
            }
            (Value::Integer(number), Some(FLOAT8)) => arguments.add(number as f64),
            (Value::Integer(number), _) => arguments.add(number),
            (Value::Real(number), Some(FLOAT4)) => arguments.add(number as f32),
            (Value::Real(number), _) => arguments.add(number),
            (Value::Blob(bytes), _) | (Value::Text(bytes), Some(BYTEA)) => arguments.add(bytes),
            (Value::Text(text), _) => {
                arguments.add(from_utf8(text).map_err(|error| sqlx::Error::Encode(error.into()))?)
            }
        };
        added.map_err(sqlx::Error::Encode)
    }

    fn read<S: Sink>(row: &PgRow, sink: &mut S) -> Result<()> {
        pg::read(row, sink)
    }

    fn said(error: sqlx::Error) -> Error {
        pg::said(error)
    }

    fn code(error: &Error) -> Option<String> {
        postgres::code(error).map(str::to_owned)
    }

    fn has_code(error: &Error, wanted: &str) -> bool {
        postgres::code(error) == Some(wanted)
    }

    fn is_retryable(error: &Error) -> bool {
        postgres::is_retryable(error)
    }

    /// COPY by `copy_in_raw`.
    fn copy<'c>(
        connection: &'c mut PgConnection,
        load: &'c Load,
        rows: Range<u64>,
    ) -> LocalBoxFuture<'c, Result<u64>> {
        let sql = format!("COPY {} ({}) FROM STDIN", load.table, column_list(load.names()));
        let mut lines = Lines::new(load, load.rows.slice(rows));
        let copied = async move {
            let mut buffer = vec![0; BUFFER];
            let mut copy = connection.copy_in_raw(&sql).await.map_err(Postgres::said)?;
            loop {
                match lines.read(&mut buffer) {
                    0 => return copy.finish().await.map_err(Postgres::said),
                    length => copy.send(&buffer[..length]).await.map_err(Postgres::said)?,
                };
            }
        };
        copied.boxed_local()
    }
}

impl Remote for Postgres {
    const SPEAKS: &'static str = "postgres";

    fn options(server: &Server) -> Result<(PgConnectOptions, Option<Duration>)> {
        pg::options("sqlx", server)
    }

    fn within(options: &PgConnectOptions, server: &Server, database: Option<&str>) -> PgConnectOptions {
        options.clone().database(database.unwrap_or(&server.user))
    }
}
