//! Reads the data that tests left once more, after the database was closed and opened again: an engine that kept it in
//! memory only, or wrote something else to its files than it showed, is found out here. All of it is outside the clock.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use dyno_protocol::{Test, Value, Work};

use crate::engine::Lasting;
use crate::trial::TestContext;
use crate::{Engine, Session};

/// The rows of an answer.
pub type Rows = Vec<Vec<Value>>;

/// The tests, by their places, whose answers must be the same at the end, because nothing later changes what they are
/// about: the last that wrote to each store or table. Statements may change anything, so only a check of the last of
/// them counts, and what was written before them does not.
pub fn lasting(tests: &[Test]) -> Vec<usize> {
    let mut lasting = Vec::new();
    let mut seen = BTreeSet::new();
    for (place, test) in tests.iter().enumerate().rev() {
        if matches!(test.work, Work::Statements { .. } | Work::Mix(_)) {
            lasting.extend((seen.is_empty() && test.check.is_some()).then_some(place));
            break;
        }
        let names: Vec<&str> = match &test.work {
            Work::KvPut { store, .. } | Work::KvDelete { store, .. } => vec![&store.name],
            Work::KvSettle { stores } => stores.iter().map(|store| store.name.as_str()).collect(),
            Work::InsertRows(load) | Work::BulkLoad(load) => vec![&load.table],
            Work::ImportFile(import) => vec![&import.table],
            _ => Vec::new(),
        };
        let is_new = names.iter().filter(|name| seen.insert(name.to_owned().to_owned())).count() > 0;
        lasting.extend(is_new.then_some(place));
    }
    lasting
}

/// Closes the database and opens it again; of a server, whose trial is one connection, that is the connection. None
/// where the database ends with its process. What was opened before is gone in each case.
pub fn open<'a, E: Engine>(bench: TestContext<'a, E>) -> Result<Option<TestContext<'a, E>>> {
    let lasts = bench.engine.lasts();
    let TestContext { session, mut engine, job, clock, answer, ends, latency } = bench;
    session.close().context("the database did not close")?;
    match lasts {
        Lasting::Process => {
            engine.close().context("the database did not close")?;
            return Ok(None);
        }
        Lasting::Server => {}
        Lasting::Files => {
            engine.close().context("the database did not close")?;
            engine = E::open(job).context("the database was closed and does not open again")?.0;
        }
    }
    let session = engine.session().context("the database was closed and does not open again")?;
    Ok(Some(TestContext { session, engine, job, clock, answer, ends, latency }))
}

/// Holds what a test's answer is now against what it was.
pub fn compare(test: &Test, before: &Rows, now: &Rows) -> Result<()> {
    let differs = || before.iter().zip(now).find(|(before, now)| before != now);
    ensure!(
        before == now,
        "the database was closed and opened again, and what test {} had left is not there: {}. What a commit survives \
         is not what its settings say, or the engine shows what it did not write",
        test.id,
        match differs() {
            Some((before, now)) => format!("{} was read before and {} now", text(before), text(now)),
            None => format!("{} rows were read before and {} now", before.len(), now.len()),
        }
    );
    Ok(())
}

/// A row for a message.
fn text(row: &[Value]) -> String {
    serde_json::to_string(row).unwrap_or_default().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Commits, KeyKind, Store};

    use super::*;

    fn store(name: &str) -> Store {
        Store { name: name.into(), key: KeyKind::Blob }
    }

    fn keys() -> dyno_protocol::Cells {
        dyno_protocol::Cells { file: "keys".into(), count: 1, bytes: 8 }
    }

    fn delete(name: &str) -> Work {
        Work::KvDelete { store: store(name), keys: keys(), commits: Commits::default() }
    }

    fn statements() -> Work {
        Work::Statements { file: "1.statements".into(), count: 1 }
    }

    fn lasting(works: Vec<(Work, Option<&str>)>) -> Vec<usize> {
        let test = |(work, check): (Work, Option<&str>)| Test {
            id: "1".into(),
            setup: Vec::new(),
            work,
            check: check.map(str::to_owned),
        };
        super::lasting(&works.into_iter().map(test).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_that_wrote_to_a_store_counts() {
        let scan = Work::KvScan { store: store("a") };
        let works = vec![(delete("a"), None), (delete("b"), None), (delete("a"), None), (scan, None)];
        assert_eq!(lasting(works), [2, 1]);
        let settle = Work::KvSettle { stores: vec![store("a"), store("b")] };
        assert_eq!(lasting(vec![(delete("a"), None), (settle, None), (delete("b"), None)]), [2, 1]);
    }

    #[test]
    fn statements_may_have_changed_whatever_was_before() {
        let check = Some("SELECT 1");
        assert_eq!(lasting(vec![(delete("a"), None), (statements(), check)]), [1]);
        assert_eq!(lasting(vec![(statements(), check), (statements(), None)]), [] as [usize; 0]);
        assert_eq!(lasting(vec![(statements(), check), (delete("a"), None)]), [1]);
    }

    #[test]
    fn what_differs_is_told() {
        let test = Test { id: "7".into(), setup: Vec::new(), work: statements(), check: None };
        let row = |number| vec![vec![Value::Integer(number)]];
        assert!(compare(&test, &row(1), &row(1)).is_ok());
        let said = compare(&test, &row(1), &row(2)).unwrap_err().to_string();
        assert!(said.contains("test 7") && said.contains("[1] was read before and [2] now"), "{said}");
        assert!(compare(&test, &row(1), &Vec::new()).unwrap_err().to_string().contains("1 rows"));
    }
}
