//! The rows go into a table of PostgreSQL, and the server commits them.

use std::ffi::CString;
use std::iter;

use anyhow::{Context, Error, Result, anyhow};
use dyno_client::Sql;
use dyno_client::postgres::{Connection, Copy, ServerError};

use super::super::common::{write, written};
use super::super::sent::Sent;
use super::losses::losses;
use super::refusal::{is_of_a_row, is_of_an_earlier_row, refused_row};
use super::statements::{Statements, UNHURRIED};
use super::{Postgres, catalog};
use crate::error::{BadInput, Input, Interrupted, Lost, Refused, shown};
use crate::pipeline::Rows;
use crate::safety::Reached;
use crate::target::check_same;

impl Postgres {
    pub(super) fn fill(
        &self,
        statements: &Statements,
        others: &[Connection],
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Reached, Option<String>)> {
        let executed = |sql: &String| {
            let done = self.connection.rows(sql);
            done.with_context(|| format!("cannot execute {}; nothing was loaded", shown(sql))).input()?;
            // From here on no other program changes the table.
            if statements.hold.as_ref() == Some(sql) { self.check_same() } else { Ok(()) }
        };
        statements.before.iter().try_for_each(executed)?;
        let taken = self.copy(statements, others, rows)?;
        let left_out = rows.leave_out(rows.loaded().saturating_sub(taken));
        check()?;
        for sql in &statements.after {
            rows.watch().doing("making indexes");
            executed(sql)?;
        }
        if rows.watch().stops() {
            return Err(Interrupted.into());
        }
        let reached = self.reached(1 + others.len())?;
        rows.watch().doing("committing");
        rows.seal()?;
        self.commit()?;
        Ok((reached, left_out))
    }

    fn commit(&self) -> Result<()> {
        let outcome = self.connection.rows("COMMIT").map(drop);
        outcome.map_err(|error| match error.is::<ServerError>() {
            true => error.context("cannot commit; nothing was loaded"),
            false => error.context(Lost),
        })
    }

    /// Deals the rows out, a batch to each connection in turn, and returns how many came to the table.
    fn copy(&self, statements: &Statements, others: &[Connection], rows: &mut Rows) -> Result<u64> {
        let sql = CString::new(statements.copy.as_str())?;
        let into = if statements.is_staged { &self.staged } else { &self.place.table };
        let connections = iter::once(&self.connection).chain(others);
        let copies: Vec<Copy> = connections.map(|each| Copy::begin(each, &sql)).collect::<Result<_>>()?;
        let mut sent: Vec<Sent> = copies.iter().map(|_| Sent::new(rows.memory, copies.len())).collect();
        let mut room = Vec::new();
        for place in (0..copies.len()).cycle() {
            let Some(batch) = rows.batch()? else { break };
            sent[place].add(&batch.lines, &batch.records);
            write(&batch, &mut room);
            let put = copies[place].put(written(&batch, &room));
            rows.recycle(batch);
            put.map_err(|error| self.refusal(error, &sent[place], into))?;
        }
        let ended = copies.into_iter().zip(&sent);
        ended.map(|(copy, sent)| copy.finish().map_err(|error| self.refusal(error, sent, into))).sum()
    }

    /// The server's message on rows that it was sent by a COPY into a table, with the line of the file in place of the
    /// server's own line number.
    fn refusal(&self, error: Error, sent: &Sent, into: &str) -> Error {
        let Some(server) = error.downcast_ref::<ServerError>() else { return error };
        let reason = server.message.replace(&self.staged, &self.place.table);
        let code = &server.code;
        if !is_of_a_row(code) {
            return anyhow!(
                "the server cannot take the rows; nothing was loaded: {reason} (PostgreSQL error {code})"
            );
        }
        let refused = refused_row(&server.context, into)
            .filter(|_| !is_of_an_earlier_row(code, &server.message))
            .and_then(|(row, column)| sent.row(row).map(|place| (place, column)));
        match refused {
            Some(((line, record), column)) => {
                Refused { line, record, reason: format!("{}{column}", reason.trim_end_matches('.')) }.into()
            }
            None => BadInput(anyhow!("the server refuses the rows; nothing was loaded: {reason}")).into(),
        }
    }

    /// Refuses a table that is not the one for which the import was planned.
    fn check_same(&self) -> Result<()> {
        let found = catalog::existing(&self.connection, &self.place)?;
        let lost = self.lost.as_ref().map(|_| losses(&self.connection, &self.place)).transpose()?;
        check_same(&self.place.table, found == self.planned && lost == self.lost)
    }

    /// Leaves everything as it was.
    pub(super) fn undo(&self, others: Vec<Connection>) {
        drop(others);
        // Without a connection the server takes back what was not committed; a staged table stays behind, and
        // its name says whose it is. The file may be loaded once more by this connection, and by it alone.
        let drop_staged = format!("DROP TABLE IF EXISTS {}", self.place.beside(&self.staged));
        for sql in ["ROLLBACK", UNHURRIED, &drop_staged] {
            let _ = self.connection.rows(sql);
        }
    }
}
