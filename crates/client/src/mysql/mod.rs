//! MariaDB, MySQL and what speaks their protocol, by libmariadb or libmysqlclient.
//!
//! `library` loads it, `api` is its table of functions, `options` reads those of a URL and `connect` opens a connection
//! by them through `login`, `connection` executes statements, `statement` and `insert` prepared ones, `column` knows
//! what values are, `infile` is the file that LOAD DATA reads, `read` reads tables back, `waiting` leaves the wait for
//! an answer to a function.

mod api;
mod column;
mod connect;
mod connection;
mod greeting;
pub mod infile;
mod insert;
mod library;
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
pub use insert::{ArrayInsert, CellInsert, FieldInsert};
pub use library::{file, load, version};
pub use query::{Query, is_retryable};
pub use statement::Statement;
