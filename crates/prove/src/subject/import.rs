//! `dyno import` on trial. Whatever happens to it, the table is there as a whole or not at all, and earlier data are
//! still there; once it reports that it is done, the table is there. Its one commit is number 1.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use dyno_engine::Protocol;
use dyno_launch::environment;
use dyno_protocol::{Server, Value};
use nix::unistd::Uid;

use super::link::Link;
use super::{Contents, Embedded, PrivateSubject, Subject, WorkMode, WorkOutcome, data};
use crate::history::Line;
use crate::process::{Ended, Late, Limit, Output, run};

/// The table.
const TABLE: &str = "imported";
/// The words by which the command reports that it is done.
const DONE: &str = "rows into table";
/// The numbers that stand for the earlier data and for the imported rows.
const BEFORE: u64 = 0;
const IMPORTED: u64 = 1;
/// The number of rows: more than PostgreSQL writes to its log where it need not (`wal_skip_threshold`).
const ROWS: u64 = 24_000;

/// A file, and the command that imports it.
#[derive(Debug)]
pub struct Import {
    /// dyno itself.
    pub program: PathBuf,
    /// The file, which is made.
    pub file: PathBuf,
    /// Further arguments of the command line.
    pub arguments: Vec<String>,
}

/// An import into a SQLite database.
#[derive(Debug)]
pub struct SqliteImport {
    /// The command.
    pub import: Import,
    /// The engine that looks at the database.
    pub look: Embedded,
    /// True if the database exists before.
    pub is_existing: bool,
}

/// An import into a server's database.
#[derive(Debug)]
pub struct ServerImport {
    /// The command.
    pub import: Import,
    /// The server, with a separate table.
    pub server: PrivateSubject,
}

impl Import {
    /// Writes the file.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn new(program: PathBuf, folder: &Path, arguments: &[&str]) -> Result<Import> {
        let file = folder.join("imported.csv");
        let rows: String = (1..=ROWS).map(|number| format!("{number},{}\n", text(number))).collect();
        fs::write(&file, format!("n,v\n{rows}")).context("cannot write the file to import")?;
        Ok(Import { program, file, arguments: arguments.iter().map(|&text| text.to_owned()).collect() })
    }

    fn command(&self, into: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("import").arg(&self.file).args(["--into", into, "--table", TABLE, "--header"]);
        command.args(&self.arguments);
        environment::clean(&mut command);
        command
    }

    fn run(&self, into: &str, output: File, limit: Limit, who: &Embedded) -> Result<Ended> {
        run(&mut self.command(into), &[], Output::Recorder(output), limit, &who.interrupts)
    }
}

/// The text of a row.
fn text(number: u64) -> String {
    format!("{:.<120}", format!("row {number} "))
}

/// The query for what a table holds, in a row.
fn sums() -> String {
    format!("SELECT count(*), sum(n), min(v), max(v), sum(length(v)) FROM {TABLE}")
}

/// True if this is the query's answer for the whole table; of any other table only the content is known.
fn is_whole(row: &[Value]) -> bool {
    let numbers: Vec<Option<u64>> =
        [0, 1, 4].iter().map(|&place| row.get(place).and_then(data::number)).collect();
    let sum = |of: fn(u64) -> u64| Some((1..=ROWS).map(of).sum());
    let ends = [text(1), text(ROWS)].map(Value::Text);
    // As texts, the first row is the smallest.
    let largest = (1..=ROWS).map(text).max().map(Value::Text);
    numbers == [Some(ROWS), sum(|number| number), sum(|_| 120)]
        && row.get(2) == Some(&ends[0])
        && row.get(3) == largest.as_ref()
}

/// Adds to `found` the state of the import whose table holds this; nothing if there is no table.
fn judge(found: &mut Contents, row: Option<&[Value]>) {
    match row {
        None => {}
        Some(row) if is_whole(row) => drop(found.commits.insert(IMPORTED)),
        Some(row) => found.troubles.push(format!("a part of the table is there: {}", data::shown(&row))),
    }
}

fn read(line: &str) -> Line {
    if line.contains(DONE) { Line::Acknowledged(IMPORTED) } else { Line::Other }
}

fn worked(ended: &Ended, start: Instant) -> WorkOutcome {
    let failure = (!ended.is_success()).then(|| format!("the import {}", ended.describe()));
    WorkOutcome { failure, took: start.elapsed() }
}

impl SqliteImport {
    /// The state of the import.
    fn look_at(&self, folder: &Path) -> Result<Contents> {
        let mut found = Contents { commits: [BEFORE].into(), ..Contents::default() };
        if !self.is_existing && !Self::database(folder).exists() {
            return Ok(found);
        }
        if self.is_existing {
            found = self.look.check(folder)?;
        }
        let tables = format!("SELECT name FROM sqlite_schema WHERE name = '{TABLE}'");
        let answer = |sql: String| self.look.ask(folder, &[sql, "PRAGMA integrity_check".to_owned()]);
        let is_there =
            answer(tables)?.map(|rows| rows.iter().any(|row| row[0] == Value::Text(TABLE.to_owned())));
        match is_there {
            Err(why) => found.troubles.push(why),
            // A new database appears with its table, or not at all.
            Ok(false) if !self.is_existing => found.troubles.push("the database has no table".to_owned()),
            Ok(false) => {}
            Ok(true) => match answer(sums())? {
                Ok(rows) if rows.get(1) == Some(&vec![Value::Text("ok".to_owned())]) => {
                    judge(&mut found, rows.first().map(Vec::as_slice));
                }
                Ok(rows) => found.troubles.push(format!("the integrity check says: {}", data::shown(&rows))),
                Err(why) => found.troubles.push(why),
            },
        }
        Ok(found)
    }

    fn database(folder: &Path) -> PathBuf {
        folder.join(super::runner::DATABASE).join("dyno.db")
    }
}

impl Subject for SqliteImport {
    fn prepare(&self, folder: &Path) -> Result<()> {
        match self.is_existing {
            true => self.look.prepare(folder),
            false => Ok(fs::create_dir_all(folder.join(super::runner::DATABASE))?),
        }
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let limit = Limit { patience: self.look.patience, manner };
        let start = Instant::now();
        let into = Self::database(folder).display().to_string();
        Ok(worked(&self.import.run(&into, output, limit, &self.look)?, start))
    }

    fn read(&self, line: &str) -> Line {
        read(line)
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        self.look_at(folder).or_else(|error| match error.is::<Late>() {
            true => Ok(Contents::late(format!("{error:#}"))),
            false => Err(error),
        })
    }

    fn before(&self) -> Option<u64> {
        Some(BEFORE)
    }

    fn can_be_watched(&self) -> bool {
        false
    }

    fn is_in_order(&self) -> bool {
        true
    }
}

impl ServerImport {
    fn url(&self, server: &Server) -> String {
        let Server { host, user, port, database, .. } = server;
        match self.server.speaks() {
            Protocol::Postgres => {
                let port = port.map_or(String::new(), |port| format!("&port={port}"));
                format!("postgres://{user}@/{}?host={host}{port}", database.as_deref().unwrap_or("postgres"))
            }
            Protocol::MySql => format!(
                "{}://{user}@/{}?socket={host}",
                self.server.installation.engine.scheme(),
                super::server::DATABASE
            ),
        }
    }

    fn look(&self, link: &Link) -> Result<Contents> {
        let mut found = self.server.look_with(link)?;
        let tables = format!("SELECT table_name FROM information_schema.tables WHERE table_name = '{TABLE}'");
        match link.rows(&tables)?.is_empty() {
            true => {}
            false => judge(&mut found, link.rows(&sums())?.first().map(Vec::as_slice)),
        }
        Ok(found)
    }
}

impl Subject for ServerImport {
    fn prepare(&self, folder: &Path) -> Result<()> {
        self.server.prepare(folder)
    }

    fn work(&self, folder: &Path, output: File, manner: WorkMode) -> Result<WorkOutcome> {
        let PrivateSubject { patience, interrupts, .. } = &self.server;
        let mut server = self.server.begin(folder, &output, manner)?;
        let mut command = self.import.command(&self.url(&server.connection("").server));
        let limit = Limit { patience: *patience, manner };
        let start = Instant::now();
        let ended = run(&mut command, &[], Output::Recorder(output), limit, interrupts)?;
        let worked = worked(&ended, start);
        if manner.kill_after.is_some() {
            server.kill();
        }
        server.stop();
        super::server::keep(&server, folder)?;
        Ok(worked)
    }

    fn read(&self, line: &str) -> Line {
        read(line)
    }

    fn check(&self, folder: &Path) -> Result<Contents> {
        self.server.check_by(folder, |link| self.look(link))
    }

    fn before(&self) -> Option<u64> {
        Some(BEFORE)
    }

    fn accounts(&self) -> Option<Vec<Uid>> {
        self.server.accounts()
    }

    fn can_be_watched(&self) -> bool {
        false
    }

    fn is_in_order(&self) -> bool {
        true
    }
}
