//! PostgreSQL, and what speaks its protocol, by libpq.
//!
//! `library` loads it, `api` is its table of functions, `connect` opens a connection as a server's URL says,
//! `connection` executes statements, `statement` and `pipeline` prepared ones, `copy` sends rows, `read` reads tables
//! back, `waiting` leaves the wait for an answer to a function, `values` knows what libpq's texts are, `errors` what the
//! server reports.

mod api;
mod connect;
mod connection;
mod copy;
mod errors;
mod library;
mod pipeline;
mod query;
mod quote;
mod read;
mod statement;
mod values;
mod waiting;

pub use api::Api;
pub use connect::{connect, maintenance};
pub use connection::Connection;
pub use copy::{Copy, copy_in};
pub use errors::ServerError;
pub use library::{file, load, version};
pub use pipeline::Pipeline;
pub use query::{Query, is_retryable};
pub use statement::Statement;
