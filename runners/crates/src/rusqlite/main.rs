//! The runner for rusqlite, with the SQLite that it compiles. <https://docs.rs/rusqlite>

mod mix;
mod rows;

use std::ffi::CStr;
use std::mem::replace;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Error, Result};
use dyno_protocol::{MixWork, RowCollector, Value};
use dyno_runner::{Answer, JobSql, NoStore, Session};
use dyno_runner_crates::sqlite::{self, BUSY_TIMEOUT, Opening, Sqlite, sqlite_error};
use rusqlite::Connection;

use mix::Statements;

/// The error of a call: SQLite's own words and code where it has some.
fn said(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            sqlite_error(failure.extended_code, message.unwrap_or_else(|| failure.to_string()))
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => sqlite_error(error.extended_code, msg),
        other => other.into(),
    }
}

/// A client, which has one connection.
struct Client {
    connection: Connection,
    opening: Arc<Opening>,
}

impl sqlite::Client for Client {
    const NAME: &'static str = "rusqlite";
    const VERSION: &'static str = concat!("rusqlite ", env!("DYNO_RUSQLITE"));

    fn open(opening: &Arc<Opening>) -> Result<Client> {
        let connection = Connection::open(&opening.location).map_err(said)?;
        let client = Client { connection, opening: opening.clone() };
        client.set()?;
        Ok(client)
    }
}

impl Client {
    /// Applies the settings. Others may be about to write, or to close the database: their locks are waited for.
    fn set(&self) -> Result<()> {
        self.connection.busy_timeout(BUSY_TIMEOUT).map_err(said)?;
        self.opening.settings.apply(self)
    }
}

impl JobSql for Client {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        let mut collector = RowCollector::default();
        rows::execute(&self.connection, sql, &mut collector)?;
        Ok(collector.rows)
    }

    fn code(error: &Error) -> Option<String> {
        sqlite::code(error).map(|code| code.to_string())
    }
}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_>> {
        Statements::prepare(&self.connection, mix)
    }

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        rows::execute(&self.connection, sql.to_str()?, answer).map(|()| 0)
    }

    fn changes(&mut self) -> u64 {
        self.connection.total_changes()
    }

    /// The last connection that closes copies the log into the database and removes it, which is a part of what short
    /// sessions cost.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let nothing = Connection::open_in_memory().map_err(said)?;
        drop(replace(&mut self.connection, nothing));
        meanwhile();
        self.connection = Connection::open(&self.opening.location).map_err(said)?;
        self.set()
    }

    fn close(self) -> Result<()> {
        self.connection.close().map_err(|(_, error)| said(error))
    }
}

fn main() -> ExitCode {
    dyno_runner::run::<Sqlite<Client>>()
}
