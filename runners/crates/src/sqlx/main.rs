//! The runner for sqlx, above PostgreSQL, MariaDB or SQLite; its argument says which. <https://docs.rs/sqlx>
//!
//! A client has one connection and a runtime of the current thread, which works while a call waits. sqlx makes a thread
//! for each connection to SQLite, whose calls wait.

mod contract;
mod flavour;
mod mix;
mod mysql;
mod pg;
mod postgres;
mod rows;
mod server;
mod session;
mod sqlite;
mod variant;

use std::env::args;
use std::process::ExitCode;

use dyno_runner::server::Scratch;
use dyno_runner_crates::sqlite::Sqlite;

use server::Server;
use session::Session;

/// The name and version of the driver.
pub const VERSION: &str = concat!("sqlx ", env!("DYNO_SQLX"));

fn main() -> ExitCode {
    match args().nth(1).as_deref() {
        Some("postgres") => dyno_runner::run::<Scratch<Server<sqlx::Postgres>>>(),
        Some("mysql") => dyno_runner::run::<Scratch<Server<sqlx::MySql>>>(),
        Some("sqlite") => dyno_runner::run::<Sqlite<Session<sqlx::Sqlite>>>(),
        _ => {
            eprintln!("dyno-runner-sqlx: the argument is postgres, mysql or sqlite; dyno gives it");
            ExitCode::FAILURE
        }
    }
}
