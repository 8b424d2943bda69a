//! Into a server: what PostgreSQL and MySQL have in common.

mod common;
mod mysql;
mod postgres;
mod sent;
mod text;
mod types;
mod watched;

pub use mysql::MySql;
pub use postgres::Postgres;
pub use text::TextParser;
