//! The checks of files that are imported: every record is in the table, whatever is in its fields.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use dyno_plan::truth;
use dyno_protocol::{Commits, FieldKind, FileColumn, ImportWork, Test, Value, Work};

use super::duty::{Duty, Needs};
use super::script::{Script, answered, failed, finished, stored};

/// Every check with the duty that it looks at.
pub const ALL: [Duty; 5] = [
    ("a file that is imported is in the table to the last byte", Needs::Stored(&["import-file"]), imports),
    ("records that are not timed are imported too", Needs::Stored(&["import-file"]), imports_the_rest),
    (
        "what comes before and after an import is done in its order",
        Needs::Stored(&["import-file"]),
        before_and_after,
    ),
    ("the runner reports a file of records that is cut short", Needs::Models(&["import-file"]), truncated),
    (
        "the runner reports a table to import into that is not there",
        Needs::Stored(&["import-file"]),
        missing_table,
    ),
];

/// The number of records: not a multiple of any usual batch size.
const COUNT: u64 = 1_003;

/// Records with a number, texts that mean something to SQL or to people, and empty ones.
fn work(folder: &Path, commits: Commits) -> Result<ImportWork> {
    let file = folder.join("records");
    let texts = ["plain", "O'Hare", "", "\"quoted\"", "a, b; c", "Ünïcödé 東京", "NULL", "%s $1 ?", "-- no"];
    let records = (0..COUNT).map(|row| {
        let text = texts[row as usize % texts.len()];
        format!(
            "{row}\t{text}\t{}\n",
            if row % 2 == 0 { row as i64 * 31 - 5000 } else { i64::from(i32::MAX) }
        )
    });
    fs::write(&file, records.collect::<String>())?;
    let column = |name: &str, kind| FileColumn { name: name.into(), kind };
    Ok(ImportWork {
        table: "imported".into(),
        columns: vec![
            column("n", FieldKind::Integer),
            column("words", FieldKind::Text),
            column("amount", FieldKind::Integer),
        ],
        bytes: fs::metadata(&file)?.len(),
        file,
        records: COUNT,
        delimiter: '\t',
        before: Vec::new(),
        after: Vec::new(),
        commits,
    })
}

fn test(script: &Script, work: ImportWork, check: Option<&str>) -> Test {
    let tail = if script.contender.engine.dialect == "mysql" { " CHARACTER SET utf8mb4" } else { "" };
    Test {
        id: "1".into(),
        setup: vec![format!("CREATE TABLE imported(n INTEGER, words TEXT, amount INTEGER){tail}")],
        work: Work::ImportFile(work),
        check: check.map(str::to_owned),
    }
}

/// Imports, and expects the digest of the table and this number of operations within the timed section.
fn stores(script: &Script, operations: u64, commits: Commits) -> Result<()> {
    let mut truth = Vec::new();
    let trial = script.run_tests(|folder| {
        let work = work(folder, commits)?;
        truth = truth::imported(&work)?;
        Ok(vec![test(script, work, None)])
    })?;
    stored(&trial, operations, &truth)
}

fn imports(script: &Script) -> Result<()> {
    stores(script, COUNT, Commits::default())
}

fn imports_the_rest(script: &Script) -> Result<()> {
    stores(script, 101, Commits { per_commit: Some(10), timed: Some(101) })
}

fn before_and_after(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let before = vec!["CREATE TABLE counted(records INTEGER)".to_owned()];
        let after = vec!["INSERT INTO counted SELECT count(*) FROM imported".to_owned()];
        let work = ImportWork { before, after, ..work(folder, Commits::default())? };
        Ok(vec![test(script, work, Some("SELECT records FROM counted"))])
    })?;
    finished(&trial)?;
    answered(&trial, 1, &[vec![Value::Integer(COUNT as i64)]])
}

fn truncated(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let work = work(folder, Commits::default())?;
        let bytes = fs::read(&work.file)?;
        fs::write(&work.file, &bytes[..bytes.len() - 7])?;
        Ok(vec![test(script, work, None)])
    })?;
    failed(&trial, Some("1"), &["records"])?;
    ensure!(trial.samples.is_empty(), "an import that failed has a sample");
    Ok(())
}

fn missing_table(script: &Script) -> Result<()> {
    let trial = script.run_tests(|folder| {
        let work = ImportWork { table: "nowhere".into(), ..work(folder, Commits::default())? };
        Ok(vec![test(script, work, None)])
    })?;
    failed(&trial, Some("1"), &["nowhere"])
}
