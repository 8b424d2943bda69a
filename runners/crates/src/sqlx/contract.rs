//! A session as the runner uses it, whatever its database is.

use std::ffi::CStr;

use anyhow::Result;
use dyno_protocol::{MixWork, Value};
use dyno_runner::server::Client;
use dyno_runner::{Answer, JobSql, NoStore};

use crate::flavour::Flavour;
use crate::mix::Statements;
use crate::session::Session;

impl<D: Flavour> dyno_runner::Session for Session<D> {
    type Store<'s> = NoStore;
    type Prepared<'s> = Statements<'s, D>;

    fn prepare(&mut self, mix: &MixWork) -> Result<Statements<'_, D>> {
        Statements::prepare(self, mix)
    }

    fn execute(&mut self, sql: &CStr, answer: &mut Answer) -> Result<u64> {
        let changed = Client::execute(self, sql, answer)?;
        Ok(if self.opening.is_some() { 0 } else { changed })
    }

    /// SQLite counts them, and says the same number again after a statement that changes none.
    fn changes(&mut self) -> u64 {
        let Some(_) = self.opening else { return 0 };
        let counted = self.rows("SELECT total_changes()").unwrap_or_default();
        match counted.concat().as_slice() {
            [Value::Integer(count)] => *count as u64,
            _ => 0,
        }
    }

    /// The last connection that closes a file of SQLite copies the log into it, which is a part of what short sessions
    /// cost.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        let Some(opening) = self.opening.clone() else { return Ok(meanwhile()) };
        self.disconnect()?;
        meanwhile();
        self.reconnect()?;
        opening.settings.apply(self)
    }

    fn close(self) -> Result<()> {
        let closed = self.disconnect();
        match self.opening {
            Some(_) => closed,
            // A server that has gone does not matter any more.
            None => Ok(()),
        }
    }
}
