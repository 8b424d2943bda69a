//! Loads into PostgreSQL by COPY. A new table is filled by several connections at the same time, since a server's
//! process splits and converts the rows of one COPY on one processor; it has another name until it is whole. Rows for
//! an existing table go over one connection, in one transaction.

mod cancel;
mod catalog;
mod clean;
mod statements;

use std::ffi::CString;
use std::iter;
use std::sync::Arc;

use anyhow::{Context, Error, Result, anyhow};
use dyno_client::Sql;
use dyno_client::postgres::{self, Api, Connection, Copy, ServerError};
use dyno_protocol::{Build, Server};

use super::common::{LOST, check_names, said_removed, staged_name, write, written};
use super::sent::{Sent, number_behind};
use crate::error::{BadInput, Input, Interrupted, Refused, shown};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::Program;
use crate::target::{Existing, Target, said_losses};

use catalog::SPELLING;
use statements::{HURRIED, Place, Statements, UNHURRIED, quoted};

/// Bytes of a name that PostgreSQL keeps; it cuts longer ones.
const LONGEST_NAME: usize = 63;

/// A database of a PostgreSQL server.
pub struct Postgres {
    api: Arc<Api>,
    server: Server,
    connection: Connection,
    safety: Safety,
    /// The number of connections that fill a new table.
    connections: usize,
    /// Its name until it is whole.
    staged: String,
    place: Place,
    notes: Vec<String>,
}

impl Postgres {
    /// Connects. A new table is filled by `connections` connections; a single one does all in one transaction.
    pub fn connect(server: &Server, safety: Safety, connections: usize) -> Result<Postgres> {
        let api = Arc::new(postgres::load(&Build::System)?);
        let connection = open(&api, server)?;
        let (staged, place, notes) = (staged_name(), Place::default(), Vec::new());
        Ok(Postgres { api, server: server.clone(), connection, safety, connections, staged, place, notes })
    }

    /// The connections in addition to the first, as many as the server accepts.
    fn others(&self, existing: Existing) -> Vec<Connection> {
        let wanted = if existing == Existing::Append { 1 } else { self.connections };
        let hurried = |connection: Connection| connection.rows(HURRIED).is_ok().then_some(connection);
        (1..wanted).map_while(|_| open(&self.api, &self.server).ok().and_then(hurried)).collect()
    }

    fn statements(&self, table: &Table, existing: Existing, connections: usize) -> Statements {
        if table.merge.is_some() {
            Statements::merged(table, &self.place.quoted(), &quoted(&self.staged), self.safety)
        } else if existing == Existing::Append || connections == 1 {
            Statements::in_one(table, &self.place.quoted(), existing, self.safety)
        } else {
            Statements::staged(table, &self.place, existing, self.safety, &self.staged)
        }
    }

    fn fill(
        &self,
        statements: &Statements,
        others: &[Connection],
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<(Reached, Option<String>)> {
        let executed = |sql: &String| {
            let done = self.connection.rows(sql);
            done.with_context(|| format!("cannot execute {}; nothing was loaded", shown(sql))).input()
        };
        statements.before.iter().try_for_each(|sql| executed(sql).map(drop))?;
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
            false => error.context(LOST),
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
            sent[place].add(&batch.lines);
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
            Some(Refused {
                line: sent.line(number)?,
                reason: format!("{}{field}", reason.trim_end_matches('.')),
            })
        };
        match number_behind(&server.message, ", line ").and_then(of_copy) {
            Some(refused) => refused.into(),
            None => {
                let message = server.message.replace(&self.staged, &self.place.table);
                BadInput(anyhow!("the server refuses the rows; nothing was loaded: {message}")).into()
            }
        }
    }

    /// Leaves everything as it was.
    fn undo(&self, others: Vec<Connection>) {
        drop(others);
        // Without a connection the server takes back what was not committed; a staged table stays behind, and
        // its name says whose it is. The file may be loaded once more by this connection, and by it alone.
        let drop_staged = format!("DROP TABLE IF EXISTS {}", self.place.beside(&self.staged));
        for sql in ["ROLLBACK", UNHURRIED, &drop_staged] {
            let _ = self.connection.rows(sql);
        }
    }

    /// The failures that a commit survives by the settings in force.
    fn reached(&self, connections: usize) -> Result<Reached> {
        let value = |name: &str| -> Result<String> {
            Ok(self.connection.value(&format!("SHOW {name}"))?.unwrap_or_default())
        };
        let (fsync, commit) = (value("fsync")?, value("synchronous_commit")?);
        let safety = match (fsync.as_str(), commit.as_str()) {
            (_, "off") => Safety::None,
            ("off", _) => Safety::ProcessCrash,
            _ => Safety::PowerLoss,
        };
        let how = match connections {
            1 => "one transaction".to_owned(),
            count => format!("{count} connections into a table that was then renamed in one transaction"),
        };
        Ok(Reached { safety, by: format!("{how}, fsync={fsync}, synchronous_commit={commit}") })
    }
}

fn open(api: &Arc<Api>, server: &Server) -> Result<Connection> {
    postgres::connect(api, server, postgres::maintenance(server))
}

impl Target for Postgres {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        self.place = catalog::find(&self.connection, table)?;
        catalog::existing(&self.connection, &self.place)
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        SPELLING.column(name, declared)
    }

    fn declare(&self, table: &mut Table) {
        for column in table.columns.iter_mut().filter(|column| column.declared.is_empty()) {
            column.declared = SPELLING.of(column.kind).to_owned();
        }
    }

    fn check(&self, table: &Table, _existing: Existing) -> Result<()> {
        let table = Table { name: self.place.table.clone(), ..table.clone() };
        check_names(&table, LONGEST_NAME, str::len, "bytes")
    }

    fn losses(&mut self, _table: &Table) -> Result<Vec<String>> {
        Ok(said_losses(&catalog::losses(&self.connection, &self.place)?))
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn clean(&mut self) -> Result<(Vec<String>, Vec<String>)> {
        let (removed, kept) = clean::clean(&self.connection)?;
        Ok((said_removed(&removed), kept))
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn statements(&self, table: &Table, existing: Existing) -> Vec<String> {
        let Statements { before, copy, after } = self.statements(table, existing, self.connections);
        before.into_iter().chain([copy]).chain(after).chain(["COMMIT".to_owned()]).collect()
    }

    fn reasons(&self, _table: &Table, _existing: Existing) -> Vec<String> {
        let many = match self.connections {
            1 => "a table that is made in the same transaction is loaded WITH FREEZE: no row need be written again later, and a failure leaves nothing".to_owned(),
            count => format!("{count} connections fill a new table, since the server splits and converts the rows of each on a processor of its own; it is renamed when it is whole, and that commit syncs all"),
        };
        vec![
            "COPY: one statement for all rows, whose fields go as the text that they are in the file".into(),
            many,
            "keys and indexes are made after the rows: sorting once is less than inserting in any order"
                .into(),
        ]
    }

    fn programs(&self) -> &'static [Program] {
        &[("SQL", include_str!("../../../templates/postgres.sql.j2"))]
    }

    fn context(&self, table: &Table, existing: Existing) -> minijinja::Value {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
        let is_text = |column: &&Column| !column.kind.empty_is_null();
        let texts: Vec<String> =
            table.columns.iter().filter(is_text).map(|column| quoted(&column.name)).collect();
        // One psql has one connection.
        let Statements { before, after, .. } =
            Statements::in_one(table, &self.place.quoted(), existing, self.safety);
        minijinja::context! {
            before,
            after,
            quoted_table => self.place.quoted(),
            column_list => columns.join(", "),
            texts => texts.join(", "),
            freeze => existing != Existing::Append,
        }
    }

    fn load(
        &mut self,
        table: &Table,
        existing: Existing,
        rows: &mut Rows,
        check: &dyn Fn() -> Result<()>,
    ) -> Result<Reached> {
        // Remains of a killed import do not concern this one; if they cannot be dropped, the rows are loaded all the
        // same.
        if let Ok((removed, kept)) = self.clean() {
            self.notes = [removed, kept].concat();
        }
        if existing != Existing::Append {
            clean::hold(&self.connection, &self.staged)?;
        }
        let others = self.others(existing);
        let statements = self.statements(table, existing, 1 + others.len());
        let process = self.connection.value("SELECT pg_backend_pid()")?.unwrap_or_default();
        let watch = rows.watch();
        let filled = cancel::cancellable((&self.api, &self.server), &process, watch, || {
            self.fill(&statements, &others, rows, check)
        });
        match filled {
            Ok((reached, left_out)) => {
                self.notes.extend(left_out);
                Ok(reached)
            }
            Err(error) => {
                self.undo(others);
                let is_known = error.to_string() != LOST;
                Err(if is_known && watch.stops() { Interrupted.into() } else { error })
            }
        }
    }
}
