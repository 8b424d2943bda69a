//! Statements that do not wait for each other's results.

use std::ffi::c_int;
use std::ops::Range;

use anyhow::{Error, Result, bail};

use super::api::{Conn, PIPELINE_SYNC};
use super::connection::Connection;
use super::library;
use super::statement::Statement;

/// libpq's pipeline mode, since PostgreSQL 14.
pub struct Pipeline<'a> {
    connection: &'a Connection,
    enter: unsafe extern "C" fn(*mut Conn) -> c_int,
    exit: unsafe extern "C" fn(*mut Conn) -> c_int,
    sync: unsafe extern "C" fn(*mut Conn) -> c_int,
}

impl<'a> Pipeline<'a> {
    /// That of a connection.
    ///
    /// # Errors
    /// The library is too old.
    pub fn of(connection: &'a Connection) -> Result<Pipeline<'a>> {
        let api = connection.api();
        match (api.enter_pipeline_mode, api.exit_pipeline_mode, api.pipeline_sync) {
            (Some(enter), Some(exit), Some(sync)) => Ok(Pipeline { connection, enter, exit, sync }),
            _ => bail!(
                "libpq {} has no pipeline mode: install that of PostgreSQL 14 or later",
                library::version(api)
            ),
        }
    }

    /// Executes a statement several times without waiting for the results of earlier executions, each time with the
    /// values that `bind` gives it, then reads the results. `refused` converts the server's error for the call at a
    /// place. libpq reads the server's answers meanwhile, so that client and server never wait for each other.
    pub fn execute<'v, E: From<Error>>(
        &self,
        statement: &mut Statement<'v>,
        calls: Range<u64>,
        mut bind: impl FnMut(&mut Statement<'v>, u64) -> Result<(), E>,
        refused: impl Fn(u64, Error) -> E,
    ) -> Result<(), E> {
        let (api, raw) = (self.connection.api(), self.connection.raw());
        let done = |code: c_int| if code == 1 { Ok(()) } else { Err(self.connection.trouble()) };
        // SAFETY: the connection is open; each result is one of this pipeline and cleared once.
        unsafe {
            done((self.enter)(raw))?;
            for call in calls.clone() {
                bind(statement, call)?;
                statement.send(self.connection)?;
            }
            done((self.sync)(raw))?;
            for call in calls {
                let outcome = self.connection.done((api.get_result)(raw), |_| ());
                self.connection.end(outcome).map_err(|error| refused(call, error))?;
            }
            // libpq returns a failure of the commit in the place of the pipeline's end.
            let last = (api.get_result)(raw);
            let status = (api.result_status)(last);
            let outcome =
                if status == PIPELINE_SYNC { Ok(()) } else { Err(self.connection.error(last, status)) };
            (api.clear)(last);
            outcome?;
            done((self.exit)(raw))?;
        }
        Ok(())
    }
}
