//! The new table takes the place of the old one in MariaDB or MySQL, and no change that another program makes to the old
//! one meanwhile is lost.
//!
//! MariaDB takes no RENAME from a connection that has locked tables, so three connections do it: one locks the old table, a
//! second asks for the RENAME and waits for that lock, and the import's own compares the table with the plan. When the
//! first lets go, the server executes the waiting RENAME before all statements that came later.

use std::time::Duration;
use std::{iter, thread};

use anyhow::{Error, Result, anyhow};
use dyno_client::Sql;
use dyno_client::mysql::{self, Connection, ServerError};

use super::MySql;
use super::catalog;
use super::load::{committed, said_refused};
use super::statements::{Statements, name_of_old, quoted};
use crate::error::{Input, Interrupted, Locked};
use crate::pipeline::ImportObserver;
use crate::safety::Reached;
use crate::server::common::STAGED;
use crate::target::check_same;

/// The interval between two looks whether the RENAME waits.
const LOOK: Duration = Duration::from_millis(5);

/// Seconds for which a RENAME waits for the lock, which is held while the table is compared.
const PATIENCE: &str = "SET SESSION lock_wait_timeout = 60";

/// Error: another program did not let go of the table.
const LOCK_WAIT_TIMEOUT: u32 = 1205;

/// Errors by which a server refuses to drop a table to which others refer (ER_ROW_IS_REFERENCED, ER_ROW_IS_REFERENCED_2,
/// ER_FK_CANNOT_DROP_PARENT).
const REFERRED_TO: [u32; 3] = [1217, 1451, 3730];

/// The beginning of the name of a table that was replaced and is kept: no later import takes it for what a killed one left.
const KEPT: &str = "dyno_replaced_";

impl MySql {
    /// Puts the new table in the place of the old one, after `seal`. The old one is dropped if it is still the one for
    /// which the import was planned, and kept otherwise.
    pub(super) fn replace(
        &self,
        table: &str,
        statements: &Statements,
        reached: Reached,
        watch: &dyn ImportObserver,
        seal: impl FnOnce() -> Result<()>,
    ) -> Result<(Reached, Vec<String>)> {
        let mut notes = Vec::new();
        match self.lock(table, watch) {
            Ok((holder, renamer)) => self.swap(table, &statements.commit, (holder, renamer), seal)?,
            Err(_) if watch.stops() => return Err(Interrupted.into()),
            Err(error) if is_timeout(&error) || error.is::<Locked>() => return Err(error),
            Err(error) => {
                self.check_unchanged(table)?;
                notes.push(format!("The table {table} was replaced without locking it before: {error:#}."));
                seal()?;
                committed(&statements.commit, self.connection.rows(&statements.commit).map(drop))?;
            }
        }
        let may_drop = self.may_drop(table);
        if !may_drop {
            notes.push(self.keep_old(table));
        }
        let (reached, failed) = self.tidy(&statements.last, reached);
        notes.extend(failed);
        if may_drop {
            notes.extend(self.drop_old(table, statements)?);
        }
        Ok((reached, notes))
    }

    /// Drops the table that was moved away, and returns a note if the server refuses. That may be due to a foreign key of a
    /// table which the server hides from this user, and to which no check before could object. Such a key follows the old
    /// table, so this takes its place again.
    ///
    /// # Errors
    /// The old table is in its place.
    fn drop_old(&self, table: &str, statements: &Statements) -> Result<Option<String>> {
        let (Some(drop_old), Some(take_back)) = (&statements.drop_old, &statements.take_back) else {
            return Ok(None);
        };
        let Err(error) = self.connection.rows(drop_old) else { return Ok(None) };
        let is_referred_to = number(&error).is_some_and(|number| REFERRED_TO.contains(&number));
        let took_back =
            || self.connection.rows(PATIENCE).and_then(|_| self.connection.rows(take_back)).is_ok();
        if !is_referred_to || !took_back() {
            return Ok(Some(said_refused(drop_old, &error)));
        }
        // Has the server sync these names, too. Whatever becomes of that, nothing is loaded.
        let _ = statements.last.iter().try_for_each(|sql| self.connection.rows(sql).map(drop));
        self.check_referring(table).input()?;
        let reason = format!("{error:#}").replace(&name_of_old(&self.staged), table);
        Err(anyhow!(
            "--replace would leave a foreign key that the server does not show to this user without the table {table} that \
             it refers to: drop it first and make it again afterwards, or delete the rows and use --append; nothing was \
             loaded: {reason}"
        ))
        .input()
    }

    /// Gives the table that was moved away a name to stay, and says which one it has.
    fn keep_old(&self, table: &str) -> String {
        let (old, kept) = (name_of_old(&self.staged), self.staged.replacen(STAGED, KEPT, 1));
        let renamed = self.connection.rows(&format!("RENAME TABLE {} TO {}", quoted(&old), quoted(&kept)));
        let name = match renamed {
            Ok(_) => kept,
            // No later import drops it under this name either.
            Err(error) => format!("{old}, which the server refuses to rename to {kept}: {error:#}"),
        };
        format!(
            "Another program changed the table {table} right before it was replaced, so it is kept as {name}."
        )
    }

    /// Connects twice, and locks the table with the first connection: no other has an open transaction on it then, and none
    /// can change it.
    fn lock(&self, table: &str, watch: &dyn ImportObserver) -> Result<(Connection, Connection)> {
        let connect = || -> Result<Connection> {
            let connection = mysql::connect(&self.api, &self.server, false)?;
            let database = self.server.database.as_deref().unwrap_or_default();
            connection.rows(&format!("USE {}", quoted(database)))?;
            Ok(connection)
        };
        let (holder, renamer) = (connect()?, connect()?);
        renamer.rows(PATIENCE)?;
        let lock = format!("LOCK TABLES {} WRITE", quoted(table));
        self.watched(&holder, table, watch, || holder.rows(&lock).map(drop))?;
        Ok((holder, renamer))
    }

    /// Has the RENAME wait, compares the table, and lets the RENAME go or ends it.
    fn swap(
        &self,
        table: &str,
        rename: &str,
        (holder, renamer): (Connection, Connection),
        seal: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let id = renamer.value("SELECT CONNECTION_ID()")?.unwrap_or_default();
        let waiting = format!(
            "SELECT 1 FROM information_schema.processlist WHERE id = {id} AND state = 'Waiting for table metadata lock'"
        );
        thread::scope(|scope| {
            let renaming = scope.spawn(move || renamer.rows(rename).map(drop));
            let waits = || Ok::<_, Error>(self.connection.value(&waiting)?.is_some());
            let looks = iter::repeat_with(waits).take_while(|_| !renaming.is_finished());
            let looked =
                looks.inspect(|_| thread::sleep(LOOK)).find(|is_waiting| !matches!(is_waiting, Ok(false)));
            let agreed = looked.transpose().and_then(|_| self.check_unchanged(table)).and_then(|()| seal());
            if agreed.is_err() {
                // If the server does not end it, it ends when its patience does, before the table is unlocked.
                let _ = self.connection.rows(&format!("KILL QUERY {id}"));
            } else {
                drop(holder);
            }
            let renamed =
                renaming.join().unwrap_or_else(|_| Err(anyhow!("the thread of the RENAME panicked")));
            agreed?;
            committed(rename, renamed)
        })
    }

    /// Refuses to replace a table that is not the one for which the import was planned, or to which others refer.
    fn check_unchanged(&self, table: &str) -> Result<()> {
        check_same(table, self.is_as_planned(table, table)?)?;
        self.check_referring(table)
    }

    /// True if the table now called `name` has the columns, keys and triggers of the one for which the import was planned. A
    /// server names what was not named after its table, and renames it with the table.
    fn is_as_planned(&self, name: &str, table: &str) -> Result<bool> {
        let losses = catalog::losses(&self.connection, name)?;
        let mut losses: Vec<String> = losses.iter().map(|loss| loss.replace(name, table)).collect();
        losses.sort();
        Ok(catalog::existing(&self.connection, name)? == self.planned && losses == self.lost)
    }

    /// True if nothing is lost with the table that was moved away.
    fn may_drop(&self, table: &str) -> bool {
        let old = name_of_old(&self.staged);
        let is_free = || -> Result<bool> {
            Ok(self.is_as_planned(&old, table)? && catalog::referring(&self.connection, &old)?.is_empty())
        };
        is_free().unwrap_or(false)
    }
}

fn is_timeout(error: &Error) -> bool {
    number(error) == Some(LOCK_WAIT_TIMEOUT)
}

/// The server's number of an error, if it is one of the server.
fn number(error: &Error) -> Option<u32> {
    error.downcast_ref::<ServerError>().map(|server| server.number)
}
