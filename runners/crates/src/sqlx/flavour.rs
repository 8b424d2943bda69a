//! The differences between the databases of sqlx.

use std::ops::Range;

use anyhow::{Error, Result, bail};
use dyno_protocol::{Purpose, Sink};
use dyno_runner::Load;
use dyno_runner::mix::Value;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use futures_util::stream::BoxStream;
use sqlx::query::Query;
use sqlx::{Connection, Database, Either, Execute, IntoArguments, SqlStr};

use crate::variant::Variant;

/// The options of a connection.
pub type Options<D> = <<D as Database>::Connection as Connection>::Options;
/// The steps of a statement's execution: rows, and outcomes.
pub type Steps<'e, D> =
    BoxStream<'e, sqlx::Result<Either<<D as Database>::QueryResult, <D as Database>::Row>>>;
/// A query with values for its parameters.
pub type Filled<'q, D> = Query<'q, D, <D as Database>::Arguments>;

/// A database of sqlx.
pub trait Flavour: Database<Arguments: IntoArguments<Self>, Connection: Send> {
    /// The ways of loading rows, the usual one first.
    const VARIANTS: &'static [(&'static str, Variant)];

    /// The placeholder of a parameter, by its number from 1.
    fn placeholder(place: usize) -> String;

    /// The statement that begins a transaction.
    fn begin(_purpose: Purpose) -> &'static str {
        "BEGIN"
    }

    /// Executes a statement.
    fn execute<'e, 'q: 'e, E: 'q + Execute<'q, Self>>(
        connection: &'e mut Self::Connection,
        what: E,
    ) -> Steps<'e, Self>;

    /// Has the server prepare a statement, and returns the numbers of its parameters' types, if it has any.
    fn prepare(connection: &mut Self::Connection, sql: SqlStr) -> BoxFuture<'_, sqlx::Result<Vec<u32>>>;

    /// Forgets the statements that were prepared.
    fn forget(connection: &mut Self::Connection) -> BoxFuture<'_, sqlx::Result<()>>;

    /// Lets a query be parsed at each execution, where `is_kept` is false.
    fn keep(query: Filled<'_, Self>, is_kept: bool) -> Filled<'_, Self>;

    /// Adds the value of a parameter whose type has this number.
    ///
    /// # Errors
    /// A text is not one.
    fn add(arguments: &mut Self::Arguments, value: Value, kind: Option<u32>) -> sqlx::Result<()>;

    /// Reads every value of a row.
    ///
    /// # Errors
    /// A value is of a type that no suite has.
    fn read<S: Sink>(row: &Self::Row, sink: &mut S) -> Result<()>;

    /// The number of rows that a statement has changed.
    fn changed(outcome: &Self::QueryResult) -> u64;

    /// The error of a call.
    fn said(error: sqlx::Error) -> Error;

    /// The code of an error of the database.
    fn code(error: &Error) -> Option<String>;

    /// Returns true if an error has this code.
    fn has_code(error: &Error, wanted: &str) -> bool;

    /// Returns true if another try may succeed.
    fn is_retryable(error: &Error) -> bool;

    /// The statement that makes waits for locks as short as a mix says, where it is the client that waits.
    fn patience(_nanoseconds: u64) -> Option<String> {
        None
    }

    /// Loads some of the rows in the transaction under way, by a way that this database alone has, and returns how many
    /// they were.
    ///
    /// # Errors
    /// The database refuses a row, or has no such way.
    fn copy<'c>(
        _connection: &'c mut Self::Connection,
        _load: &'c Load,
        _rows: Range<u64>,
    ) -> LocalBoxFuture<'c, Result<u64>> {
        Box::pin(async { bail!("rows go into this database by INSERT alone: this is an error in dyno") })
    }
}

/// The calls of [`Flavour`] that are the same for each database and differ in its types alone.
macro_rules! calls {
    ($database:ty) => {
        fn execute<'e, 'q: 'e, E: 'q + sqlx::Execute<'q, $database>>(
            connection: &'e mut <$database as sqlx::Database>::Connection,
            what: E,
        ) -> crate::flavour::Steps<'e, $database> {
            sqlx::Executor::fetch_many(connection, what)
        }

        fn forget(
            connection: &mut <$database as sqlx::Database>::Connection,
        ) -> futures_util::future::BoxFuture<'_, sqlx::Result<()>> {
            Box::pin(sqlx::Connection::clear_cached_statements(connection))
        }

        fn keep(
            query: crate::flavour::Filled<'_, $database>,
            is_kept: bool,
        ) -> crate::flavour::Filled<'_, $database> {
            query.persistent(is_kept)
        }

        fn changed(outcome: &<$database as sqlx::Database>::QueryResult) -> u64 {
            outcome.rows_affected()
        }
    };
}
pub(crate) use calls;

/// The calls of [`Flavour`] for values where parameters have no types of the database's.
macro_rules! plain_values {
    ($database:ty) => {
        fn prepare(
            connection: &mut <$database as sqlx::Database>::Connection,
            sql: sqlx::SqlStr,
        ) -> futures_util::future::BoxFuture<'_, sqlx::Result<Vec<u32>>> {
            Box::pin(async move { sqlx::Executor::prepare(connection, sql).await.map(|_| Vec::new()) })
        }

        fn add(
            arguments: &mut <$database as sqlx::Database>::Arguments,
            value: dyno_runner::mix::Value,
            _: Option<u32>,
        ) -> sqlx::Result<()> {
            use dyno_runner::mix::Value;
            let added = match value {
                Value::Null => sqlx::Arguments::add(arguments, None::<i64>),
                Value::Integer(number) => sqlx::Arguments::add(arguments, number),
                Value::Real(number) => sqlx::Arguments::add(arguments, number),
                Value::Text(text) => {
                    let text = std::str::from_utf8(text);
                    sqlx::Arguments::add(arguments, text.map_err(|error| sqlx::Error::Encode(error.into()))?)
                }
                Value::Blob(bytes) => sqlx::Arguments::add(arguments, bytes),
            };
            added.map_err(sqlx::Error::Encode)
        }
    };
}
pub(crate) use plain_values;

/// A database that is reached by a server's URL.
pub trait Remote: Flavour {
    /// The protocol, as contenders name it.
    const SPEAKS: &'static str;

    /// The options of connections to a server, and how long to wait for one.
    ///
    /// # Errors
    /// The URL has options that the driver has not.
    fn options(server: &dyno_protocol::Server) -> Result<(Options<Self>, Option<std::time::Duration>)>;

    /// The same with a database.
    fn within(
        options: &Options<Self>,
        server: &dyno_protocol::Server,
        database: Option<&str>,
    ) -> Options<Self>;
}
