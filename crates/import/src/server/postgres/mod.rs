//! Loads into PostgreSQL by COPY. A new table is filled by several connections at the same time, since a server's
//! process splits and converts the rows of one COPY on one processor; it has another name until it is whole. Rows for
//! an existing table go over one connection, in one transaction.

mod catalog;
mod clean;
mod load;
mod losses;
mod refusal;
mod session;
mod statements;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_client::Sql;
use dyno_client::postgres::{self, Api, Connection};
use dyno_protocol::{Build, Server};

use super::common::{check_names, said_removed, staged_name};
use super::watched::{Patience, said_end, watched};
use crate::pipeline::Rows;
use crate::safety::{Reached, Safety};
use crate::table::{Column, Table};
use crate::target::Program;
use crate::target::{Existing, Target, said_losses};
use crate::value::Kind;

use catalog::SPELLING;
use session::ImportSession;
use statements::{HURRIED, Place, Statements, quoted};

/// Bytes of a name that PostgreSQL keeps; it cuts longer ones.
const LONGEST_NAME: usize = 63;

/// The most columns of a table (<https://www.postgresql.org/docs/current/limits.html>).
const MOST_COLUMNS: usize = 1600;

/// A database of a PostgreSQL server.
pub struct Postgres {
    api: Arc<Api>,
    server: Server,
    connection: Connection,
    safety: Safety,
    /// The number of connections that fill a new table.
    connections: usize,
    /// The time to wait for a lock of another program.
    wait: Option<Duration>,
    /// Its name until it is whole.
    staged: String,
    place: Place,
    /// What the server makes of types that the user names.
    kinds: RefCell<HashMap<String, Kind>>,
    /// The columns of the existing table as they were when the import was planned.
    planned: Option<Vec<Column>>,
    /// The parts of the existing table that would be lost then, if it is to be replaced.
    lost: Option<Vec<String>>,
    notes: Vec<String>,
}

impl Postgres {
    /// Connects. A new table is filled by `connections` connections; a single one does all in one transaction. `wait` is the
    /// time to wait for a lock of another program; without it, dyno waits for as long as the server does.
    ///
    /// # Errors
    /// The client's library is missing, or the server refuses the connection.
    pub fn connect(
        server: &Server,
        safety: Safety,
        connections: usize,
        wait: Option<Duration>,
    ) -> Result<Postgres> {
        let api = Arc::new(postgres::load(&Build::System)?);
        let connection = open(&api, server)?;
        Ok(Postgres {
            api,
            server: server.clone(),
            connection,
            safety,
            connections,
            wait,
            staged: staged_name(),
            place: Place::default(),
            kinds: RefCell::default(),
            planned: None,
            lost: None,
            notes: Vec::new(),
        })
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

    /// The failures that a commit survives by the settings in force.
    fn reached(&self, connections: usize) -> Result<Reached> {
        let value = |name: &str| -> Result<String> {
            Ok(self.connection.value(&format!("SHOW {name}"))?.unwrap_or_default())
        };
        let (fsync, commit, pages) =
            (value("fsync")?, value("synchronous_commit")?, value("full_page_writes")?);
        let safety = match (fsync.as_str(), commit.as_str(), pages.as_str()) {
            (_, "off", _) => Safety::None,
            // Without whole pages in the log a page that a power cut leaves half written cannot be restored.
            ("off", ..) | (.., "off") => Safety::ProcessCrash,
            _ => Safety::PowerLoss,
        };
        let how = match connections {
            1 => "one transaction".to_owned(),
            count => format!("{count} connections into a table that was then renamed in one transaction"),
        };
        let by = format!("{how}, fsync={fsync}, synchronous_commit={commit}, full_page_writes={pages}");
        Ok(match catalog::unlogged(&self.connection, &self.place)? {
            Some(table) => Reached {
                safety: Safety::None,
                by: format!("{by}, but the server's log does not hold the rows of {table}"),
            },
            None => Reached { safety, by },
        })
    }
}

fn open(api: &Arc<Api>, server: &Server) -> Result<Connection> {
    postgres::connect(api, server, postgres::maintenance(server))
}

impl Target for Postgres {
    fn existing(&mut self, table: &str) -> Result<Option<Vec<Column>>> {
        self.place = catalog::find(&self.connection, table)?;
        self.planned = catalog::existing(&self.connection, &self.place)?;
        Ok(self.planned.clone())
    }

    fn column(&self, name: &str, declared: &str) -> Result<Column> {
        let mut column = SPELLING.column(name, declared)?;
        let known = SPELLING.known(&column.declared);
        let known = known.or_else(|| self.kinds.borrow().get(&column.declared).copied());
        column.kind = match known {
            Some(kind) => kind,
            None => {
                let table = self.place.beside(&self.staged);
                let kind = catalog::declared(&self.connection, &table, name, &column.declared)
                    .with_context(|| format!("the server makes no column '{name}' of the type {declared}"))?;
                self.kinds.borrow_mut().insert(column.declared.clone(), kind);
                kind
            }
        };
        Ok(column)
    }

    fn declare(&self, table: &mut Table) {
        for column in table.columns.iter_mut().filter(|column| column.declared.is_empty()) {
            column.declared = SPELLING.of(column.kind).to_owned();
        }
    }

    fn most_columns(&self) -> usize {
        MOST_COLUMNS
    }

    fn check(&self, table: &Table, _existing: Existing) -> Result<()> {
        let table = Table { name: self.place.table.clone(), ..table.clone() };
        check_names(&table, LONGEST_NAME, str::len, "bytes")
    }

    fn losses(&mut self, _table: &Table) -> Result<Vec<String>> {
        let losses = losses::losses(&self.connection, &self.place)?;
        self.lost = Some(losses.clone());
        Ok(said_losses(&losses))
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
        let Statements { before, copy, after, .. } = self.statements(table, existing, self.connections);
        before.into_iter().chain([copy]).chain(after).chain(["COMMIT".to_owned()]).collect()
    }

    fn reasons(&self, _table: &Table, _existing: Existing) -> Vec<String> {
        let many = match self.connections {
            1 => "a table that is made in the same transaction is loaded WITH FREEZE: no row need be written again later, and a failure leaves nothing".to_owned(),
            count => format!("{count} connections fill a new table, since the server splits and converts the rows of each on its own processor; it is renamed when it is whole, and that commit syncs all"),
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
        let Statements { mut before, after, hold, .. } =
            Statements::in_one(table, &self.place.quoted(), existing, self.safety);
        before.retain(|sql| Some(sql) != hold.as_ref());
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
        let id = self.connection.value("SELECT pg_backend_pid()")?.unwrap_or_default();
        let session = ImportSession { api: &self.api, server: &self.server, id };
        let patience = Patience { table: &table.name, wait: self.wait };
        let watch = rows.watch();
        let filled = watched(watch, &patience, &session, || self.fill(&statements, &others, rows, check));
        match filled {
            Ok((reached, left_out)) => {
                self.notes.extend(left_out);
                Ok(reached)
            }
            Err(error) => {
                self.undo(others);
                Err(said_end(error, watch))
            }
        }
    }
}
