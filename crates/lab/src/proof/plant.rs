//! The marker, and the work that puts it where data can go: a table, an index, a journal or a log, temporary
//! tables and sorts; or, where there is no SQL, a store and its log.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_protocol::{Cells, Commits, KeyKind, Pairs, Store, Test, Work};
use dyno_suite::NO_SQL;

use crate::run::fresh_seed;

/// The number of rows that carry the marker.
pub const ROWS: i64 = 4000;

/// A text that stands nowhere else. It has no meaning: the key has nothing to do with it.
pub fn marker() -> Result<String> {
    Ok(format!("dyno marker {:016x}", fresh_seed()?))
}

/// The qualified name of the table: on a server it must outlive the trial's own database, which the runner removes.
fn table(dialect: &str) -> &'static str {
    if dialect == "mysql" { "dyno_proof.marked" } else { "marked" }
}

/// The width of a key and of a value of theirs, in bytes.
const KEY: usize = 24;
const VALUE: usize = 100;

/// The work that puts the marker into the data; its input goes into `folder`.
pub fn put(dialect: &str, marker: &str, folder: &Path) -> Result<Test> {
    if dialect != NO_SQL {
        return test("plant", &statements(dialect, marker), folder);
    }
    let array = |name: &str, bytes: usize, cell: &dyn Fn(i64) -> String| -> Result<Cells> {
        let file = folder.join(name);
        let text: String = (0..ROWS).map(|n| format!("{:.<bytes$}", cell(n))).collect();
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Cells { file, count: ROWS as u64, bytes: bytes as u64 })
    };
    // Keys come in no order, as a user's do.
    let keys = array("keys", KEY, &|n| format!("{:08}", n * 7919 % ROWS))?;
    let values = Some(array("values", VALUE, &|n| format!("{marker} {n}"))?);
    let commits = Commits { per_commit: Some(1000), timed: None };
    let work = Work::KvPut { store: store(), pairs: Pairs { keys, values }, overwrite: false, commits };
    Ok(Test { id: "plant".to_owned(), setup: Vec::new(), work, check: None })
}

/// The work that reads what is marked: the first value of its answer is how many there are.
pub fn read(dialect: &str, folder: &Path) -> Result<Test> {
    if dialect != NO_SQL {
        return test("read", &[format!("SELECT count(*) FROM {}", table(dialect))], folder);
    }
    let work = Work::KvScan { store: store() };
    Ok(Test { id: "read".to_owned(), setup: Vec::new(), work, check: None })
}

fn store() -> Store {
    Store { name: "marked".to_owned(), key: KeyKind::Blob }
}

/// The statements. The transaction goes on for a while after it has changed rows, so that its journal is seen.
fn statements(dialect: &str, marker: &str) -> Vec<String> {
    let table = table(dialect);
    let joined = if dialect == "mysql" { "concat(m, '.')" } else { "m || '.'" };
    let mut statements = Vec::new();
    if dialect == "mysql" {
        statements.push("CREATE DATABASE dyno_proof".to_owned());
        // So small that a sort goes through a file.
        statements.push("SET SESSION sort_buffer_size=32768".to_owned());
    }
    statements.push(format!("CREATE TABLE {table}(n INTEGER, m VARCHAR(200))"));
    statements.push("BEGIN".to_owned());
    statements.extend((0..ROWS).map(|n| format!("INSERT INTO {table} VALUES({n}, '{marker} {n}')")));
    statements.push("COMMIT".to_owned());
    statements.push(format!("CREATE INDEX marked_m ON {table}(m)"));
    statements.push("BEGIN".to_owned());
    statements.push(format!("UPDATE {table} SET m={joined}"));
    statements.push(format!("SELECT count(*) FROM {table} a, {table} b WHERE a.n<400 AND b.m>a.m"));
    statements.push("COMMIT".to_owned());
    let temporary = if dialect == "mysql" { "dyno_proof.sorted" } else { "sorted" };
    statements
        .push(format!("CREATE TEMPORARY TABLE {temporary} AS SELECT n, m FROM {table} ORDER BY m DESC"));
    statements.push(format!("SELECT count(*) FROM {temporary} a, {temporary} b WHERE a.n<200 AND b.m>a.m"));
    statements.push(format!("SELECT m FROM {table} ORDER BY m, n DESC"));
    if dialect == "mysql" {
        // Every page goes to its file before the server ends, and not only to the log.
        statements.push("SET GLOBAL innodb_fast_shutdown=1".to_owned());
    }
    statements
}

/// Statements as a test of a job, their file in `folder`.
fn test(id: &str, statements: &[String], folder: &Path) -> Result<Test> {
    let file = folder.join(format!("{id}.statements"));
    let text: String = statements.iter().map(|statement| format!("{statement}\0")).collect();
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    let work = Work::Statements { file, count: statements.len() as u64 };
    Ok(Test { id: id.to_owned(), setup: Vec::new(), work, check: None })
}
