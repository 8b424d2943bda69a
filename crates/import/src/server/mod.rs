//! Into a server: what PostgreSQL and MySQL have in common.

mod cancel;
mod common;
mod mysql;
mod postgres;
mod sent;
mod text;
mod types;

pub use mysql::MySql;
pub use postgres::Postgres;
pub use text::TextParser;
