//! The rows go into a table of PostgreSQL, and the server commits them.

use std::ffi::CString;
use std::iter;

use anyhow::{Context, Error, Result, anyhow};
use dyno_client::Sql;
use dyno_client::postgres::{Connection, Copy, ServerError};

use super::super::common::{write, written};
use super::super::sent::{Sent, number_behind};
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
        let taken = self.copy(&statements.copy, others, rows)?;
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
    fn copy(&self, sql: &str, others: &[Connection], rows: &mut Rows) -> Result<u64> {
        let sql = CString::new(sql)?;
        let connections = iter::once(&self.connection).chain(others);
        let copies: Vec<Copy> = connections.map(|each| Copy::begin(each, &sql)).collect::<Result<_>>()?;
        let mut sent: Vec<Sent> = copies.iter().map(|_| Sent::default()).collect();
        let mut room = Vec::new();
        for place in (0..copies.len()).cycle() {
            let Some(batch) = rows.batch()? else { break };
            sent[place].add(&batch.lines, &batch.records);
            write(&batch, &mut room);
            let put = copies[place].put(written(&batch, &room));
            rows.recycle(batch);
            put.map_err(|error| self.refusal(error, &sent[place]))?;
        }
        let ended = copies.into_iter().zip(&sent);
        ended.map(|(copy, sent)| copy.finish().map_err(|error| self.refusal(error, sent))).sum()
    }

    /// The server's message on rows that it was sent, with the line of the file in place of the server's own line
    /// number.
    fn refusal(&self, error: Error, sent: &Sent) -> Error {
        let Some(server) = error.downcast_ref::<ServerError>() else { return error };
        let of_copy = |(number, rest): (u64, String)| {
            let (reason, context) = rest.rsplit_once(" (COPY ")?;
            let field = context.split_once(", column ").map(|(_, field)| field.trim_end_matches(')'));
            let field = field.map_or(String::new(), |field| format!(", column {field}"));
            let (line, record) = sent.row(number)?;
            Some(Refused { line, record, reason: format!("{}{field}", reason.trim_end_matches('.')) })
        };
        match number_behind(&server.message, ", line ").and_then(of_copy) {
            Some(refused) => refused.into(),
            None => {
                let message = server.message.replace(&self.staged, &self.place.table);
                BadInput(anyhow!("the server refuses the rows; nothing was loaded: {message}")).into()
            }
        }
    }

    /// Refuses a table that is not the one for which the import was planned.
    fn check_same(&self) -> Result<()> {
        let found = catalog::existing(&self.connection, &self.place)?;
        let lost = self.lost.as_ref().map(|_| catalog::losses(&self.connection, &self.place)).transpose()?;
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
