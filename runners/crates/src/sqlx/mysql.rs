//! MariaDB and MySQL by sqlx. It answers no server that asks for a file: LOAD DATA LOCAL is not a part of it.

use std::str::from_utf8;
use std::time::Duration;

use anyhow::{Error, Result};
use dyno_protocol::{Secret, Server, Sink};
use dyno_runner::mix::Value;
use dyno_runner_crates::mysql;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::mysql::{
    MySqlArguments, MySqlConnectOptions, MySqlDatabaseError, MySqlQueryResult, MySqlRow, MySqlSslMode,
    MySqlTypeInfo, MySqlValueRef,
};
use sqlx::{
    Arguments, Column, Connection, Decode, Execute, Executor, MySql, MySqlConnection, Row, SqlStr, Type,
    TypeInfo, ValueRef,
};

use crate::flavour::{Filled, Flavour, Remote, Steps};
use crate::rows::Variant;

impl Flavour for MySql {
    const VARIANTS: &'static [(&'static str, Variant)] =
        &[("multirow", Variant::MultiRow), ("insert", Variant::Insert)];

    fn placeholder(_: usize) -> String {
        "?".to_owned()
    }

    fn execute<'e, 'q: 'e, E: 'q + Execute<'q, MySql>>(
        connection: &'e mut MySqlConnection,
        what: E,
    ) -> Steps<'e, MySql> {
        connection.fetch_many(what)
    }

    fn prepare(connection: &mut MySqlConnection, sql: SqlStr) -> BoxFuture<'_, sqlx::Result<Vec<u32>>> {
        async move { Executor::prepare(connection, sql).await.map(|_| Vec::new()) }.boxed()
    }

    fn forget(connection: &mut MySqlConnection) -> BoxFuture<'_, sqlx::Result<()>> {
        connection.clear_cached_statements().boxed()
    }

    fn keep(query: Filled<'_, MySql>, is_kept: bool) -> Filled<'_, MySql> {
        query.persistent(is_kept)
    }

    fn add(arguments: &mut MySqlArguments, value: Value, _: Option<u32>) -> sqlx::Result<()> {
        let added = match value {
            Value::Null => arguments.add(None::<i64>),
            Value::Integer(number) => arguments.add(number),
            Value::Real(number) => arguments.add(number),
            Value::Text(text) => {
                arguments.add(from_utf8(text).map_err(|error| sqlx::Error::Encode(error.into()))?)
            }
            Value::Blob(bytes) => arguments.add(bytes),
        };
        added.map_err(sqlx::Error::Encode)
    }

    fn read<S: Sink>(row: &MySqlRow, sink: &mut S) -> Result<()> {
        for (place, column) in row.columns().iter().enumerate() {
            let value = row.try_get_raw(place)?;
            if value.is_null() {
                sink.null();
            } else {
                put(value, column.type_info(), sink).map_err(Error::from_boxed)?;
            }
        }
        Ok(())
    }

    fn changed(outcome: &MySqlQueryResult) -> u64 {
        outcome.rows_affected()
    }

    fn said(error: sqlx::Error) -> Error {
        match &error {
            sqlx::Error::Database(server) => match server.try_downcast_ref::<MySqlDatabaseError>() {
                Some(server) => {
                    mysql::says(server.number(), server.code().unwrap_or_default(), server.message())
                }
                None => error.into(),
            },
            sqlx::Error::Io(_) => mysql::lost(error),
            _ => error.into(),
        }
    }

    fn code(error: &Error) -> Option<String> {
        mysql::number(error).map(|number| number.to_string())
    }

    fn has_code(error: &Error, wanted: &str) -> bool {
        mysql::has_code(error, wanted)
    }

    fn may_pass(error: &Error) -> bool {
        mysql::may_pass(error)
    }
}

/// Reads a value by the type of its column.
#[inline]
fn put<S: Sink>(
    value: MySqlValueRef,
    kind: &MySqlTypeInfo,
    sink: &mut S,
) -> Result<(), sqlx::error::BoxDynError> {
    if <i64 as Type<MySql>>::compatible(kind) {
        sink.integer(Decode::<MySql>::decode(value)?);
    } else if <f64 as Type<MySql>>::compatible(kind) {
        sink.real(Decode::<MySql>::decode(value)?);
    } else if <u64 as Type<MySql>>::compatible(kind) {
        let number: u64 = Decode::<MySql>::decode(value)?;
        match i64::try_from(number) {
            Ok(number) => sink.integer(number),
            Err(_) => sink.real(number as f64),
        }
    } else if <str as Type<MySql>>::compatible(kind) {
        sink.text(Decode::<MySql>::decode(value)?);
    } else {
        let bytes = <&[u8] as Decode<MySql>>::decode(value)?;
        match kind.name() {
            "DECIMAL" => match from_utf8(bytes)?.parse() {
                Ok(number) => sink.integer(number),
                Err(_) => sink.real(from_utf8(bytes)?.parse()?),
            },
            "DATE" | "TIME" | "DATETIME" | "TIMESTAMP" | "JSON" => sink.text(bytes),
            _ => sink.blob(bytes),
        }
    }
    Ok(())
}

impl Remote for MySql {
    const SPEAKS: &'static str = "mysql";

    fn options(server: &Server) -> Result<(MySqlConnectOptions, Option<Duration>)> {
        let patience = mysql::patience("sqlx", &server.options)?;
        let options = MySqlConnectOptions::new().ssl_mode(MySqlSslMode::Disabled).username(&server.user);
        // What it would set of the session is left to the job, but for the character set.
        let options = options.pipes_as_concat(false).no_engine_substitution(false).timezone(None);
        let options = match server.host.strip_prefix('/') {
            Some(_) => options.socket(&server.host),
            None => options.host(&server.host).port(server.port.unwrap_or(mysql::PORT)),
        };
        let password = server.password.as_ref().map(Secret::reveal);
        Ok((password.map_or(options.clone(), |password| options.password(password)), Some(patience)))
    }

    fn within(options: &MySqlConnectOptions, _: &Server, database: Option<&str>) -> MySqlConnectOptions {
        database.map_or(options.clone(), |database| options.clone().database(database))
    }
}
