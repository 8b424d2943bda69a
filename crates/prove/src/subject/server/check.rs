//! Checks what a cut left: the server starts on it and says what it finds.

use std::path::Path;

use anyhow::Result;
use dyno_engine::Protocol;
use dyno_lab::server::NotReady;
use dyno_protocol::Value;

use super::PrivateSubject;
use super::folder::left;
use crate::subject::link::Link;
use crate::subject::{Contents, data};

/// Settings that make PostgreSQL read a table by an index.
const BY_INDEX: [&str; 2] = ["SET enable_seqscan = off", "SET enable_bitmapscan = off"];
impl PrivateSubject {
    /// The commits that a server found, and its complaints.
    pub fn look_with(&self, link: &Link) -> Result<Contents> {
        let rows = link.rows(&data::rows())?;
        let mut found = data::read_rows(&rows, self.parts());
        if self.speaks() == Protocol::Postgres {
            // Few rows are read from the table alone, which says nothing of its index.
            link.execute(&BY_INDEX.map(String::from))?;
            if link.rows(&data::rows())? != rows {
                found.troubles.push("the primary key finds other rows than the table holds".to_owned());
            }
        }
        if self.has_accounts() {
            data::read_balances(&link.rows(&data::balances())?, &mut found);
        }
        if self.speaks() == Protocol::MySql {
            let said = link.rows(&data::check_table())?;
            if said.last().and_then(|row| row.last()) != Some(&Value::Text("OK".to_owned())) {
                found.report(format!("the check of the table says: {}", data::shown(&said)));
            }
        }
        Ok(found)
    }

    /// Starts the server on what a cut left, and looks through a connection.
    ///
    /// # Errors
    /// As for [`Subject::check`].
    pub fn check_by(&self, folder: &Path, look: impl Fn(&Link) -> Result<Contents>) -> Result<Contents> {
        let trouble = |why: String| Ok(Contents::reported(why));
        let Some(data) = left(folder)? else { return trouble("the folder of the data is gone".to_owned()) };
        let mut server = match self.resume(folder, &data) {
            Ok(server) => server,
            Err(error) => {
                self.interrupts.check()?;
                return match error.is::<NotReady>() {
                    true => Ok(Contents::late(format!("{error:#}"))),
                    false => trouble(format!("{error:#}")),
                };
            }
        };
        let reached = self.reach(&mut server);
        let is_late = reached.is_err() && server.is_alive();
        let found = reached.and_then(|link| {
            self.enter(&link)?;
            look(&link)
        });
        self.interrupts.check()?;
        let is_late = is_late || found.is_err() && server.was_killed();
        // The server's unwritten data are no longer needed.
        server.kill();
        found.or_else(|error| match is_late {
            true => Ok(Contents::late(format!("the server did not answer in time: {error:#}"))),
            false => trouble(format!("{error:#}")),
        })
    }
}
