//! The data that dyno's own subjects write: for each commit two rows of a table, or a pair of a store, whose content
//! follows from the commit's number.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result};
use dyno_inputs::StoreDigest;
use dyno_protocol::{Cells, Commits, KeyKind, Pairs, Store, Test, Value, Work};

use super::Contents;
use crate::judge::name;

/// The table, and the store.
pub const NAME: &str = "proof";
/// The table of accounts.
pub const ACCOUNT: &str = "account";
/// The rows of a commit where there are transactions.
pub const PARTS: u64 = 2;
/// The number of parts of a commit where each statement commits on its own.
pub const ONE: u64 = 1;
/// The numbers of the commits of one client; the next one's begin here.
pub const CLIENT: u64 = 100_000;
/// The number of commits after the recovery from a power cut.
const MORE: u64 = 5;
/// The number of accounts where several clients commit.
const ACCOUNTS: u64 = 64;
/// The width of a value, in bytes. Two rows of a commit are on different pages now and then.
pub const VALUE: usize = 600;

/// The value of a row: nothing that a wrong row could hold by luck.
pub fn value(commit: u64, part: u64) -> String {
    format!("{:.<VALUE$}", format!("commit {commit} part {part} "))
}

/// The statements of a commit of a number of rows.
pub fn statements(commit: u64, parts: u64) -> Vec<String> {
    let insert = |part| format!("INSERT INTO {NAME} VALUES({commit}, {part}, '{}')", value(commit, part));
    let inserts = (0..parts).map(insert);
    if parts == ONE {
        return inserts.collect();
    }
    ["BEGIN".to_owned()].into_iter().chain(inserts).chain(["COMMIT".to_owned()]).collect()
}

/// The numbers of the commits in a client's share.
pub fn numbers(client: u64, clients: u64, commits: u64) -> impl Iterator<Item = u64> {
    let share = commits / clients + u64::from(client < commits % clients);
    (1..=share).map(move |number| client * CLIENT + number)
}

/// The commits of a client that goes on after a power cut.
pub fn later(after: u64) -> RangeInclusive<u64> {
    after + 1..=after + MORE
}

/// True if upkeep follows a client's commit. The distance between upkeeps grows, so that it finds pages filled to
/// different degrees.
pub fn is_followed_by_upkeep(commit: u64) -> bool {
    let number = commit % CLIENT;
    (1..=number).any(|step| step * (step + 1) / 2 == number)
}

/// The accounts between which a commit of one of several clients moves a sum, and the sum.
fn transfer(commit: u64) -> (u64, u64, i64) {
    let from = commit * 31 % ACCOUNTS;
    (from, (from + 17) % ACCOUNTS, (commit % 97 + 1) as i64)
}

/// The accounts that such a commit changes, and what it adds to each: in the order of their numbers, so that no two
/// commits wait for each other.
pub fn moves(commit: u64) -> [(u64, i64); 2] {
    let (from, to, sum) = transfer(commit);
    let mut moves = [(from, -sum), (to, sum)];
    moves.sort_unstable();
    moves
}

/// The statements of a commit of one of several clients: rows that only this client writes, and a sum moved between
/// accounts that all share.
pub fn shared(commit: u64, begin: &str) -> Vec<String> {
    let update =
        |account, sum| format!("UPDATE {ACCOUNT} SET balance = balance + {sum} WHERE id = {account}");
    let mut statements = statements(commit, PARTS);
    begin.clone_into(&mut statements[0]);
    let end = statements.len() - 1;
    statements.splice(end..end, moves(commit).map(|(account, sum)| update(account, sum)));
    statements
}

/// Those that make the accounts.
pub fn accounts() -> Vec<String> {
    let rows: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, 0)")).collect();
    vec![
        format!("CREATE TABLE {ACCOUNT}(id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL)"),
        format!("INSERT INTO {ACCOUNT} VALUES {}", rows.join(", ")),
    ]
}

/// The query for all balances.
pub fn balances() -> String {
    format!("SELECT id, balance FROM {ACCOUNT} ORDER BY id")
}

/// Holds the balances against the commits that are there.
pub fn read_balances(rows: &[Vec<Value>], found: &mut Contents) {
    let mut expected: BTreeMap<u64, i64> = (0..ACCOUNTS).map(|id| (id, 0)).collect();
    for &commit in found.commits.iter().filter(|&&commit| commit > 0) {
        let (from, to, sum) = transfer(commit);
        *expected.entry(from).or_default() -= sum;
        *expected.entry(to).or_default() += sum;
    }
    let read = |row: &Vec<Value>| Some((number(row.first()?)?, integer(row.get(1)?)?));
    let balances: BTreeMap<u64, i64> = rows.iter().filter_map(read).collect();
    let differs = |(id, sum): (&u64, &i64)| (balances.get(id) != Some(sum)).then_some((*id, *sum));
    if let Some((id, sum)) = expected.iter().find_map(differs) {
        let there = balances.get(&id).map_or("is not there".to_owned(), |balance| format!("has {balance}"));
        found.troubles.push(format!("the account {id} {there}, and its transfers come to {sum}"));
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Those that make the table.
pub fn table() -> String {
    format!(
        "CREATE TABLE {NAME}(n INTEGER NOT NULL, part INTEGER NOT NULL, v VARCHAR({VALUE}) NOT NULL, PRIMARY KEY(n, part))"
    )
}

/// The query by which an embedded engine checks the table itself, if it has one, and the answer if nothing is wrong.
pub fn integrity(dialect: &str) -> Option<(&'static str, Value)> {
    match dialect {
        "sqlite" => Some(("PRAGMA integrity_check", Value::Text("ok".to_owned()))),
        "derby" => Some(("VALUES SYSCS_UTIL.SYSCS_CHECK_TABLE('APP', 'PROOF')", Value::Integer(1))),
        _ => None,
    }
}

/// The check of the table where there is MySQL's.
pub fn check_table() -> String {
    format!("CHECK TABLE {NAME} EXTENDED")
}

/// The query for all rows.
pub fn rows() -> String {
    format!("SELECT n, part, v FROM {NAME} ORDER BY n, part")
}

/// The finding from the rows of the table, of which each commit has `parts`.
pub fn read_rows(rows: &[Vec<Value>], parts: u64) -> Contents {
    let mut found = Contents::default();
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let mut last = None;
    for row in rows {
        let [Some(commit), Some(part)] = [0, 1].map(|column| row.get(column).and_then(number)) else {
            found.troubles.push(format!("a row holds {}", shown(row)));
            continue;
        };
        if row.get(2) != Some(&Value::Text(value(commit, part))) || part >= parts {
            found
                .troubles
                .push(format!("the row {part} of {} is not the one that was written", name(commit, true)));
        }
        if last >= Some((commit, part)) {
            found
                .troubles
                .push(format!("the row {part} of {} is there twice, or out of order", name(commit, true)));
        }
        last = Some((commit, part));
        *seen.entry(commit).or_default() += 1;
    }
    for (commit, rows) in seen {
        match rows == parts {
            true => drop(found.commits.insert(commit)),
            false => found.troubles.push(format!("{} has {rows} rows of {parts}", name(commit, true))),
        }
    }
    found
}

/// A whole number, however it was sent.
pub fn number(value: &Value) -> Option<u64> {
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

/// A test that puts the pair of a commit, where a transaction has `per_commit` operations.
pub fn put(commit: u64, per_commit: Option<u64>, folder: &Path) -> Result<Test> {
    let values = write(folder, &format!("{commit}.values"), value(commit, 0).as_bytes())?;
    let pairs = Pairs {
        keys: keys(commit, folder)?,
        values: Some(Cells { file: values, count: 1, bytes: VALUE as u64 }),
    };
    let commits = Commits { per_commit, ..Commits::default() };
    let work = Work::KvPut { store: store(), pairs, overwrite: false, commits };
    Ok(Test { id: commit.to_string(), setup: Vec::new(), work, check: None })
}

/// A test that deletes the pair of a commit; its answer is the digest of the others.
pub fn delete(commit: u64, per_commit: Option<u64>, folder: &Path) -> Result<Test> {
    let commits = Commits { per_commit, ..Commits::default() };
    let work = Work::KvDelete { store: store(), keys: keys(commit, folder)?, commits };
    Ok(Test { id: "look".to_owned(), setup: Vec::new(), work, check: None })
}

/// The finding from the digest of a store that should hold the pairs of the first commits from 1 on.
pub fn read_digest(row: &[Value]) -> Contents {
    let many = row.first().and_then(number).unwrap_or_default();
    let mut digest = StoreDigest::default();
    (1..=many.min(CLIENT)).for_each(|commit| digest.add(&commit.to_be_bytes(), value(commit, 0).as_bytes()));
    if digest.answer() == row {
        return Contents { commits: (0..=many).collect(), ..Contents::default() };
    }
    Contents::trouble(format!("there are {many} pairs, which are not the first that were written"))
}

/// The store.
pub fn store() -> Store {
    Store { name: NAME.to_owned(), key: KeyKind::Integer }
}

fn keys(commit: u64, folder: &Path) -> Result<Cells> {
    let file = write(folder, &format!("{commit}.keys"), &commit.to_be_bytes())?;
    Ok(Cells { file, count: 1, bytes: 8 })
}

/// Writes a file of inputs.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<std::path::PathBuf> {
    let file = folder.join(name);
    fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Values of a database as JSON, for a sentence.
pub fn shown(values: &impl serde::Serialize) -> String {
    serde_json::to_string(values).unwrap_or_default()
}
