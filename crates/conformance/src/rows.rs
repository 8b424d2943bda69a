//! The checks of rows: what was loaded is what is there, to the last byte.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use dyno_plan::truth;
use dyno_protocol::{Column, Commits, LoadWork, RowFile, Test, Work};
use dyno_suite::NO_SQL;

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished, stored};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 6] = [
    ("rows that are inserted are there to the last byte", Needs::Stored(&["insert-rows"]), inserts),
    ("rows that are loaded are there to the last byte", Needs::Stored(&["bulk-load"]), loads),
    ("rows that are not timed are loaded too", Needs::Stored(&["bulk-load"]), loads_the_rest),
    ("a scan counts the rows that differ", Needs::Stored(&["bulk-load", "scan"]), scans),
    ("the runner reports a row file that is cut short", Needs::Models(&["bulk-load"]), truncated_rows),
    (
        "the runner reports a table that is not there",
        Needs::Stored(&["statements", "bulk-load"]),
        missing_table,
    ),
];

/// The number of rows: not a multiple of any usual batch size.
const COUNT: u64 = 1_003;

/// Rows whose first column is their number; in every tenth, the first two columns are equal.
fn row_file(folder: &Path) -> Result<RowFile> {
    let file = folder.join("rows");
    let rows = (0..COUNT).map(|row| {
        let second = if row % 10 == 0 { row } else { row * 7 + 1 };
        format!("a{row:07}{}{:07}c{:03}", if row % 10 == 0 { "a" } else { "b" }, second, row % 100)
    });
    fs::write(&file, rows.collect::<String>())?;
    let column = |name: &str, bytes| Column { name: name.into(), bytes };
    Ok(RowFile { file, count: COUNT, columns: vec![column("a1", 8), column("b2", 8), column("c3", 4)] })
}

fn load(rows: RowFile, commits: Commits) -> LoadWork {
    LoadWork { table: "loaded".into(), rows, commits }
}

fn test(script: &Script, id: &str, work: Work) -> Test {
    let dialect = script.contender.engine.dialect.as_str();
    let tail = if dialect == "mysql" { " CHARACTER SET ascii COLLATE ascii_bin" } else { "" };
    let create = format!("CREATE TABLE loaded(a1 VARCHAR(8), b2 VARCHAR(8), c3 VARCHAR(8)){tail}");
    let setup = if dialect == NO_SQL || id != "1" { Vec::new() } else { vec![create] };
    Test { id: id.into(), setup, work, check: None }
}

/// Loads, and expects the table's digest and this number of operations within the timed section.
fn stores(script: &Script, operations: u64, work: impl Fn(RowFile) -> Work) -> Result<()> {
    let mut truth = Vec::new();
    let trial = script.run_tests(|folder| {
        let rows = row_file(folder)?;
        truth = truth::table(&rows)?;
        Ok(vec![test(script, "1", work(rows))])
    })?;
    stored(&trial, operations, &truth)
}

pub(super) fn inserts(script: &Script) -> Result<()> {
    stores(script, COUNT, |rows| Work::InsertRows(load(rows, Commits::default())))
}

fn loads(script: &Script) -> Result<()> {
    stores(script, COUNT, |rows| Work::BulkLoad(load(rows, Commits::default())))
}

fn loads_the_rest(script: &Script) -> Result<()> {
    let commits = Commits { per_commit: Some(10), timed: Some(101) };
    stores(script, 101, |rows| Work::BulkLoad(load(rows, commits)))
}

fn scans(script: &Script) -> Result<()> {
    let mut truth = Vec::new();
    let trial = script.run_tests(|folder| {
        let rows = row_file(folder)?;
        truth = truth::scan(&rows, [0, 1])?;
        let scan = Work::Scan {
            table: "loaded".into(),
            columns: rows.columns.clone(),
            differ: [0, 1],
            sql: "SELECT COUNT(1) FROM loaded WHERE a1 <> b2".into(),
        };
        let load = test(script, "1", Work::BulkLoad(load(rows, Commits::default())));
        Ok(vec![load, test(script, "2", scan)])
    })?;
    finished(&trial)?;
    answered(&trial, 2, &truth)
}

fn truncated_rows(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let rows = row_file(folder)?;
        let bytes = fs::read(&rows.file)?;
        fs::write(&rows.file, &bytes[..bytes.len() - 7])?;
        Ok(vec![test(script, "1", Work::BulkLoad(load(rows, Commits::default())))])
    })?;
    failed(&trial, Some("1"), &["rows"])?;
    ensure!(trial.samples.is_empty(), "a load that failed has a sample");
    Ok(())
}

fn missing_table(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let work = LoadWork { table: "nowhere".into(), ..load(row_file(folder)?, Commits::default()) };
        Ok(vec![test(script, "1", Work::BulkLoad(work))])
    })?;
    failed(&trial, Some("1"), &["nowhere"])
}
