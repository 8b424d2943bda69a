//! A connection to the trial's own database, and how rows come to its tables.

use std::ffi::CStr;

use anyhow::{Error, Result};
use dyno_client::Sql;
use dyno_client::mysql::{Connection, ServerError};
use dyno_protocol::{MixWork, Value};
use dyno_runner::server::Client;
use dyno_runner::{Answer, JobSql, NoStore, SocketWait};

use crate::mix::Statements;
use crate::variant::Variant;

/// A connection, and the driver's variant.
pub struct Session {
    pub connection: Connection,
    /// The driver's variant: how it loads many rows.
    pub variant: Variant,
}

impl Client for Session {
    #[inline]
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.connection.execute(sql, answer)
    }
}

impl JobSql for Session {
    fn rows(&self, sql: &str) -> Result<Vec<Vec<Value>>> {
        self.connection.rows(sql)
    }

    fn code(error: &Error) -> Option<String> {
        error.downcast_ref().map(|error: &ServerError| error.number.to_string())
    }
}

impl dyno_runner::Session for Session {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_>> {
        Statements::prepare(&self.connection, mix)
    }

    #[inline]
    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.connection.execute(sql, answer)
    }

    fn wait_by(&mut self, wait: Option<SocketWait>) -> Result<bool> {
        self.connection.wait_by(wait)
    }
}
