//! MariaDB, MySQL and what speaks their protocol, by libmariadb or libmysqlclient.
//!
//! `library` loads it, `api` is its table of functions, `options` reads those of a URL and `connect` opens a connection
//! by them through `login`, `errors` says what its errors mean, `connection` executes statements, `statement` and `insert` prepared ones, `column` knows
//! what values are, `load_data` sends rows as the file that LOAD DATA reads, by `infile`, `read` reads tables back,
//! and `calls` leaves the wait for an answer to a function by `waiting`.

mod api;
mod calls;
mod column;
mod connect;
mod connection;
mod errors;
mod greeting;
mod infile;
mod insert;
mod library;
pub mod load_data;
mod login;
mod options;
mod query;
mod quote;
mod read;
mod statement;
mod waiting;

pub use api::Api;
pub use connect::connect;
pub use connection::{Connection, ServerError};
pub use errors::{NO_LOCAL, is_retryable};
pub use insert::{ArrayInsert, CellInsert, FieldInsert};
pub use library::{file, load, version};
pub use query::Query;
pub use statement::Statement;
