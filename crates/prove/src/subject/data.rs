//! What dyno's own subjects write: for each commit two rows of a table, or a pair of a store, whose content follows from
//! the commit's number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_inputs::StoreDigest;
use dyno_protocol::{Cells, Commits, KeyKind, Pairs, Store, Test, Value, Work};

use super::Found;

/// The table, and the store.
const NAME: &str = "proof";
/// The rows of a commit where there are transactions.
pub const PARTS: u64 = 2;
/// Where each statement commits by itself.
pub const ONE: u64 = 1;
/// The width of a value, in bytes. Two rows of a commit are on different pages now and then.
const VALUE: usize = 600;

/// The value of a row: nothing that a wrong row could hold by luck.
fn value(commit: u64, part: u64) -> String {
    format!("{:.<VALUE$}", format!("commit {commit} part {part} "))
}

/// The statements of a commit of so many rows.
pub fn statements(commit: u64, parts: u64) -> Vec<String> {
    let insert = |part| format!("INSERT INTO {NAME} VALUES({commit}, {part}, '{}')", value(commit, part));
    let inserts = (0..parts).map(insert);
    if parts == ONE {
        return inserts.collect();
    }
    ["BEGIN".to_owned()].into_iter().chain(inserts).chain(["COMMIT".to_owned()]).collect()
}

/// Those that make the table.
pub fn table() -> String {
    format!(
        "CREATE TABLE {NAME}(n INTEGER NOT NULL, part INTEGER NOT NULL, v VARCHAR({VALUE}) NOT NULL, PRIMARY KEY(n, part))"
    )
}

/// The check of the table where there is MySQL's.
pub fn check_table() -> String {
    format!("CHECK TABLE {NAME} EXTENDED")
}

/// The query for all rows.
pub fn rows() -> String {
    format!("SELECT n, part, v FROM {NAME} ORDER BY n, part")
}

/// What the rows of the table say, of which each commit has so many.
pub fn read_rows(rows: &[Vec<Value>], parts: u64) -> Found {
    let mut found = Found::default();
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let mut last = None;
    for row in rows {
        let [Some(commit), Some(part)] = [0, 1].map(|column| row.get(column).and_then(number)) else {
            found.troubles.push(format!("a row holds {row:?}"));
            continue;
        };
        if row.get(2) != Some(&Value::Text(value(commit, part))) || part >= parts {
            found.troubles.push(format!("the row {part} of commit {commit} is not the one that was written"));
        }
        if last >= Some((commit, part)) {
            found.troubles.push(format!("the row {part} of commit {commit} is there twice, or out of order"));
        }
        last = Some((commit, part));
        *seen.entry(commit).or_default() += 1;
    }
    for (commit, rows) in seen {
        match rows == parts {
            true => drop(found.commits.insert(commit)),
            false => found.troubles.push(format!("commit {commit} has {rows} rows of {parts}")),
        }
    }
    found
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// A test of statements, whose file goes into `folder`.
pub fn test(id: &str, statements: &[String], folder: &Path) -> Result<Test> {
    let text: String = statements.iter().map(|statement| format!("{statement}\0")).collect();
    let file = write(folder, &format!("{id}.statements"), text.as_bytes())?;
    let work = Work::Statements { file, count: statements.len() as u64 };
    Ok(Test { id: id.to_owned(), setup: Vec::new(), work, check: None })
}

/// A test that puts the pair of a commit.
pub fn put(commit: u64, folder: &Path) -> Result<Test> {
    let values = write(folder, &format!("{commit}.values"), value(commit, 0).as_bytes())?;
    let pairs = Pairs {
        keys: keys(commit, folder)?,
        values: Some(Cells { file: values, count: 1, bytes: VALUE as u64 }),
    };
    let work = Work::KvPut { store: store(), pairs, overwrite: false, commits: Commits::default() };
    Ok(Test { id: commit.to_string(), setup: Vec::new(), work, check: None })
}

/// A test that deletes the pair of a commit; its answer is the digest of the others.
pub fn delete(commit: u64, folder: &Path) -> Result<Test> {
    let work = Work::KvDelete { store: store(), keys: keys(commit, folder)?, commits: Commits::default() };
    Ok(Test { id: "look".to_owned(), setup: Vec::new(), work, check: None })
}

/// What the digest of a store says that holds the pairs of the first commits from 1 on, of `count` at most.
pub fn read_digest(row: &[Value], count: u64) -> Found {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for last in 0..=count {
        if last > 0 {
            pairs.push((last.to_be_bytes().to_vec(), value(last, 0).into_bytes()));
        }
        let mut digest = StoreDigest::default();
        pairs.iter().for_each(|(key, value)| digest.add(key, value));
        if digest.answer() == row {
            return Found { commits: (0..=last).collect(), troubles: Vec::new() };
        }
    }
    let many = row.first().and_then(number).unwrap_or_default();
    Found {
        commits: BTreeSet::new(),
        troubles: vec![format!("there are {many} pairs, which are not the first that were written")],
    }
}

fn store() -> Store {
    Store { name: NAME.to_owned(), key: KeyKind::Integer }
}

fn keys(commit: u64, folder: &Path) -> Result<Cells> {
    let file = write(folder, &format!("{commit}.keys"), &commit.to_be_bytes())?;
    Ok(Cells { file, count: 1, bytes: 8 })
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<std::path::PathBuf> {
    let file = folder.join(name);
    fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(commit: i64, part: i64) -> Vec<Value> {
        let text = value(commit as u64, part as u64);
        vec![Value::Integer(commit), Value::Integer(part), Value::Text(text)]
    }

    #[test]
    fn whole_commits_are_found_and_halves_are_told() {
        let found = read_rows(&[row(0, 0), row(0, 1), row(2, 0), row(2, 1)], PARTS);
        assert_eq!(found, Found { commits: [0, 2].into(), troubles: Vec::new() });
        let found = read_rows(&[row(0, 0), row(0, 1), row(1, 1)], PARTS);
        assert_eq!((found.commits, found.troubles.len()), ([0].into(), 1));
        let found = read_rows(&[row(0, 0), row(1, 0)], ONE);
        assert_eq!(found, Found { commits: [0, 1].into(), troubles: Vec::new() });
        assert_eq!(statements(1, ONE).len() + 3, statements(1, PARTS).len());
        let mut wrong = row(0, 1);
        wrong[2] = Value::Text("torn".to_owned());
        assert_eq!(read_rows(&[row(0, 0), wrong], PARTS).troubles.len(), 1);
        assert_eq!(read_rows(&[row(0, 0), row(0, 1), row(0, 1)], PARTS).troubles.len(), 2);
    }

    #[test]
    fn a_digest_tells_how_many_commits_are_there() {
        let digest = |commits: &[u64]| {
            let mut digest = StoreDigest::default();
            commits.iter().for_each(|&commit| digest.add(&commit.to_be_bytes(), value(commit, 0).as_bytes()));
            digest.answer()
        };
        assert_eq!(read_digest(&digest(&[]), 3).commits, [0].into());
        assert_eq!(read_digest(&digest(&[1, 2]), 3).commits, [0, 1, 2].into());
        assert_eq!(read_digest(&digest(&[1, 3]), 3).troubles.len(), 1);
    }
}
