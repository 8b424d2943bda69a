//! PostgreSQL by sqlx, for sqlx and for what is above it.

use std::time::Duration;

use anyhow::{Error, Result, anyhow};
use dyno_protocol::{Secret, Server, Sink};
use dyno_runner_crates::{KEPT_STATEMENTS, postgres};
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgRow, PgSslMode, PgValueFormat};
use sqlx::{Column, Either, Executor, PgConnection, Row, SqlStr, Statement, ValueRef};

/// Numbers of types: a parameter may have one of them although its value has another.
pub const INT2: u32 = 21;
/// As [`INT2`].
pub const INT4: u32 = 23;
/// As [`INT2`].
pub const FLOAT4: u32 = 700;
/// As [`INT2`].
pub const FLOAT8: u32 = 701;
/// As [`INT2`].
pub const BYTEA: u32 = 17;

/// The options of connections to a server, and how long to wait for one.
///
/// # Errors
/// The URL has options that the driver has not.
pub fn options(driver: &str, server: &Server) -> Result<(PgConnectOptions, Option<Duration>)> {
    let (patience, application) = postgres::options(driver, &server.options)?;
    // The environment and the file of passwords belong to dyno, which has read them.
    let mut options = PgConnectOptions::new_without_pgpass().ssl_mode(PgSslMode::Disable);
    options = options.statement_cache_capacity(KEPT_STATEMENTS);
    options = options.username(&server.user).application_name(application);
    options = options.port(server.port.unwrap_or(5432));
    options = match server.host.strip_prefix('/') {
        Some(_) => options.socket(&server.host),
        None => options.host(&server.host),
    };
    let password = server.password.as_ref().map(Secret::reveal);
    Ok((password.map_or(options.clone(), |password| options.password(password)), patience))
}

/// Has the server prepare a statement, and returns the numbers of its parameters' types.
///
/// # Errors
/// The server refuses it.
pub async fn kinds(connection: &mut PgConnection, sql: SqlStr) -> sqlx::Result<Vec<u32>> {
    let statement = Executor::prepare(connection, sql).await?;
    Ok(match statement.parameters() {
        Some(Either::Left(kinds)) => {
            kinds.iter().map(|kind| kind.oid().map_or(0, |number| number.0)).collect()
        }
        _ => Vec::new(),
    })
}

/// Reads every value of a row.
///
/// # Errors
/// A value is of a type that no suite has.
#[inline]
pub fn read<S: Sink>(row: &PgRow, sink: &mut S) -> Result<()> {
    for (place, column) in row.columns().iter().enumerate() {
        let value = row.try_get_raw(place)?;
        if value.is_null() {
            sink.null();
            continue;
        }
        let kind = column.type_info().oid().map_or(0, |number| number.0);
        let bytes = value.as_bytes().map_err(Error::from_boxed)?;
        match value.format() {
            PgValueFormat::Binary => postgres::read(kind, bytes, sink)?,
            PgValueFormat::Text => postgres::read_text(kind, bytes, sink)?,
        }
    }
    Ok(())
}

/// The error of a call: the server's own words and code where it has some.
pub fn said(error: sqlx::Error) -> Error {
    match error {
        sqlx::Error::Database(_) | sqlx::Error::Io(_) => explain(&error),
        error => error.into(),
    }
}

/// The same of an error that another one holds.
pub fn explain(error: &sqlx::Error) -> Error {
    let server = error.as_database_error().and_then(|said| said.try_downcast_ref::<PgDatabaseError>());
    match (server, error) {
        (Some(server), _) => {
            postgres::server_error(server.code(), [Some(server.message()), server.detail(), server.hint()])
        }
        (None, sqlx::Error::Io(_)) => postgres::lost(error),
        (None, error) => anyhow!("{error}"),
    }
}
