//! The job after a trial, for a database that is opened again: which answers must be the same then.

use std::collections::BTreeSet;

use dyno_engine::Contender;
use dyno_protocol::{Job, Maintenance, Test, Work};

/// The job that opens the database of another job once more and asks for the answers that must not have changed. It
/// removes the database. `None` if there is nothing to ask, or nothing is left to open.
pub fn last_job(contender: &Contender, job: &Job) -> Option<Job> {
    if contender.engine.is_volatile(&contender.settings) {
        return None;
    }
    let tests = lasting(&job.tests);
    let maintenance =
        job.maintenance.clone().map(|maintenance| Maintenance { before: Vec::new(), ..maintenance });
    let (turns, latency, slowdown) = (false, false, 0.0);
    let last = Job { answers_only: true, turns, latency, slowdown, maintenance, tests, ..job.clone() };
    (!last.tests.is_empty()).then_some(last)
}

/// The tests whose answers must be the same at the end, because nothing later changes what they are about: the last that
/// wrote to each store or table. Statements may change anything, so only a check of the last of them counts, and what was
/// written before them does not.
fn lasting(tests: &[Test]) -> Vec<Test> {
    let mut lasting = Vec::new();
    let mut seen = BTreeSet::new();
    for test in tests.iter().rev() {
        if matches!(test.work, Work::Statements { .. } | Work::Mix(_)) {
            lasting.extend((seen.is_empty() && test.check.is_some()).then_some(test));
            break;
        }
        let names: Vec<&str> = match &test.work {
            Work::KvPut { store, .. } | Work::KvDelete { store, .. } => vec![&store.name],
            Work::KvSettle { stores } => stores.iter().map(|store| store.name.as_str()).collect(),
            Work::InsertRows(load) | Work::BulkLoad(load) => vec![&load.table],
            Work::ImportFile(import) => vec![&import.table],
            _ => Vec::new(),
        };
        // The answer of a settling is about all of its stores: where one was written to later, those before it count.
        if !names.is_empty() && names.iter().all(|&name| !seen.contains(name)) {
            seen.extend(names);
            lasting.push(test);
        }
    }
    lasting.into_iter().rev().cloned().collect()
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Cells, Commits, KeyKind, Store};

    use super::*;

    fn store(name: &str) -> Store {
        Store { name: name.into(), key: KeyKind::Blob }
    }

    fn delete(name: &str) -> Work {
        let keys = Cells { file: "keys".into(), count: 1, bytes: 8 };
        Work::KvDelete { store: store(name), keys, commits: Commits::default() }
    }

    fn statements() -> Work {
        Work::Statements { file: "1.statements".into(), count: 1 }
    }

    fn lasting(works: Vec<(Work, Option<&str>)>) -> Vec<String> {
        let test = |(place, (work, check)): (usize, (Work, Option<&str>))| Test {
            id: place.to_string(),
            setup: Vec::new(),
            work,
            check: check.map(str::to_owned),
        };
        let tests: Vec<Test> = works.into_iter().enumerate().map(test).collect();
        super::lasting(&tests).into_iter().map(|test| test.id).collect()
    }

    #[test]
    fn the_last_that_wrote_to_a_store_counts() {
        let scan = Work::KvScan { store: store("a") };
        let works = vec![(delete("a"), None), (delete("b"), None), (delete("a"), None), (scan, None)];
        assert_eq!(lasting(works), ["1", "2"]);
        let settle = Work::KvSettle { stores: vec![store("a"), store("b")] };
        let works = vec![(delete("a"), None), (settle.clone(), None), (delete("b"), None)];
        assert_eq!(lasting(works), ["0", "2"]);
        assert_eq!(lasting(vec![(delete("a"), None), (settle, None)]), ["1"]);
    }

    #[test]
    fn statements_may_have_changed_whatever_was_before() {
        let check = Some("SELECT 1");
        assert_eq!(lasting(vec![(delete("a"), None), (statements(), check)]), ["1"]);
        assert_eq!(lasting(vec![(statements(), check), (statements(), None)]), [] as [&str; 0]);
        assert_eq!(lasting(vec![(statements(), check), (delete("a"), None)]), ["1"]);
    }
}
