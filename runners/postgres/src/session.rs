//! A connection to the trial's own database, and how rows come to its tables.

use std::ffi::CStr;

use anyhow::Result;
use dyno_client::Sql;
use dyno_client::postgres::{Connection, ServerError};
use dyno_protocol::MixWork;
use dyno_runner::server::Client;
use dyno_runner::{Answer, NoStore};

use crate::load::Variant;
use crate::mix::Statements;

/// A connection, and the driver's variant.
pub struct Session {
    pub connection: Connection,
    /// The driver's variant: how it loads many rows.
    pub variant: Variant,
}

impl Client for Session {
    type Refusal = ServerError;

    #[inline]
    fn execute(&self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        self.connection.execute(sql, answer)
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
}
