//! MariaDB and MySQL by sqlx. It answers no server that asks for a file: LOAD DATA LOCAL is not a part of it.

use std::str::from_utf8;
use std::time::Duration;

use anyhow::{Error, Result};
use dyno_protocol::{Secret, Server, Sink};
use dyno_runner_crates::{KEPT_STATEMENTS, mysql};
use sqlx::mysql::{
    MySqlConnectOptions, MySqlDatabaseError, MySqlRow, MySqlSslMode, MySqlTypeInfo, MySqlValueRef,
};
use sqlx::{Column, Decode, MySql, Row, Type, TypeInfo, ValueRef};

use crate::flavour::{Flavour, Remote, calls, plain_values};
use crate::variant::Variant;

impl Flavour for MySql {
    const VARIANTS: &'static [(&'static str, Variant)] =
        &[("multirow", Variant::MultiRow), ("insert", Variant::Insert)];

    fn placeholder(_: usize) -> String {
        "?".to_owned()
    }

    calls!(MySql);
    plain_values!(MySql);

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

    fn said(error: sqlx::Error) -> Error {
        match &error {
            sqlx::Error::Database(server) => match server.try_downcast_ref::<MySqlDatabaseError>() {
                Some(server) => {
                    mysql::server_error(server.number(), server.code().unwrap_or_default(), server.message())
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

    fn is_retryable(error: &Error) -> bool {
        mysql::is_retryable(error)
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
        let options = options.statement_cache_capacity(KEPT_STATEMENTS);
        // Of the session it sets the character set alone: the rest is left to the job.
        let options = options.pipes_as_concat(false).no_engine_substitution(false).timezone(None);
        let options = match server.host.strip_prefix('/') {
            Some(_) => options.socket(&server.host),
            None => options.host(&server.host).port(server.port.unwrap_or(mysql::PORT)),
        };
        let password = server.password.as_ref().map(Secret::reveal);
        Ok((password.map_or(options.clone(), |password| options.password(password)), patience))
    }

    fn within(options: &MySqlConnectOptions, _: &Server, database: Option<&str>) -> MySqlConnectOptions {
        database.map_or(options.clone(), |database| options.clone().database(database))
    }
}
