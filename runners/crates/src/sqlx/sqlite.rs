//! SQLite by sqlx, which hands each call to a thread of the connection.

use std::sync::Arc;

use anyhow::{Error, Result};
use dyno_protocol::{Purpose, Sink};
use dyno_runner_crates::KEPT_STATEMENTS;
use dyno_runner_crates::sqlite::{self, BUSY_TIMEOUT, Opening};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{Decode, Row, Sqlite, TypeInfo, ValueRef};

use crate::VERSION;
use crate::flavour::{Flavour, calls, plain_values};
use crate::session::Session;
use crate::variant::Variant;

impl sqlite::Client for Session<Sqlite> {
    const NAME: &'static str = "sqlx";
    const VERSION: &'static str = VERSION;

    /// `foreign_keys`, which sqlx sets by default, stays as SQLite has it.
    fn open(opening: &Arc<Opening>) -> Result<Session<Sqlite>> {
        let options = SqliteConnectOptions::new().filename(&opening.location).create_if_missing(true);
        let options = options.statement_cache_capacity(KEPT_STATEMENTS);
        let options = options.foreign_keys(false).busy_timeout(BUSY_TIMEOUT);
        Session::new(options, None, Variant::Insert)?.with(opening)
    }
}

impl Flavour for Sqlite {
    const VARIANTS: &'static [(&'static str, Variant)] = &[("insert", Variant::Insert)];

    fn placeholder(place: usize) -> String {
        format!("?{place}")
    }

    /// One that writes takes the lock at once: a transaction that read first could not wait for it
    /// (<https://www.sqlite.org/lang_transaction.html>).
    fn begin(purpose: Purpose) -> &'static str {
        match purpose {
            Purpose::Read => "BEGIN",
            Purpose::Write => "BEGIN IMMEDIATE",
        }
    }

    calls!(Sqlite);
    plain_values!(Sqlite);

    /// Reads them by their own types: a column of SQLite may hold any.
    fn read<S: Sink>(row: &SqliteRow, sink: &mut S) -> Result<()> {
        for place in 0..row.len() {
            let value = row.try_get_raw(place)?;
            if value.is_null() {
                sink.null();
                continue;
            }
            let kind = value.type_info().into_owned();
            let read = match kind.name() {
                "INTEGER" | "BOOLEAN" => Decode::<Sqlite>::decode(value).map(|number| sink.integer(number)),
                "REAL" | "NUMERIC" => Decode::<Sqlite>::decode(value).map(|number| sink.real(number)),
                "BLOB" => Decode::<Sqlite>::decode(value).map(|bytes| sink.blob(bytes)),
                _ => <&str as Decode<Sqlite>>::decode(value).map(|text| sink.text(text.as_bytes())),
            };
            read.map_err(Error::from_boxed)?;
        }
        Ok(())
    }

    fn said(error: sqlx::Error) -> Error {
        let code = error.as_database_error().and_then(|said| said.code()?.parse().ok());
        match (code, error.as_database_error()) {
            (Some(code), Some(said)) => sqlite::sqlite_error(code, said.message().to_owned()),
            _ => error.into(),
        }
    }

    fn code(error: &Error) -> Option<String> {
        sqlite::code(error).map(|code| code.to_string())
    }

    fn has_code(error: &Error, wanted: &str) -> bool {
        sqlite::has_code(error, wanted)
    }

    fn is_retryable(error: &Error) -> bool {
        sqlite::is_retryable(error)
    }

    fn patience(nanoseconds: u64) -> Option<String> {
        Some(format!("PRAGMA busy_timeout = {}", nanoseconds / 1_000_000))
    }
}
