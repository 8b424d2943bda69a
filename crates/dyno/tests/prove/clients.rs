//! Proofs by several clients.

use serde_json::Value;

use super::{count, is_allowed, proved, repeated, subject};
use crate::common::{Place, is_thorough};

#[test]
fn several_clients_lose_nothing_and_their_sums_add_up() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let report =
        kept_by_clients(&place, "sqlite:wal,busy_timeout=20000,sqlite:nosync,busy_timeout=20000", 24);
    let careless = subject(&report, "sqlite:nosync,busy_timeout=20000");
    assert_eq!(count(careless, "strict", "lost"), count(careless, "strict", "tried"), "{careless}");
    place.dyno("prove --with bdb/c+hash --clients 2 --cuts 1 --kills 0 --quiet").exits(3);
    place.assert_clean();
}

#[test]
fn several_clients_of_a_server_lose_nothing_and_their_sums_add_up() {
    if is_allowed() {
        let place = Place::new();
        kept_by_clients(&place, "postgres", if is_thorough() { 24 } else { 16 });
        place.assert_clean();
    }
}

/// Proves that several clients of the first of some contenders lose none of this many commits.
fn kept_by_clients(place: &Place, contenders: &str, commits: u64) -> Value {
    let options = format!("--clients 4 --commits {commits} --cuts 8 --kills 2 --seed 7 --no-errors");
    let report = proved(place, &format!("--with {contenders} {options}"));
    let first = &report["subjects"][0];
    assert_eq!(first["proof"]["observed"]["commits"], commits, "{first}");
    assert_eq!(count(first, "cuts", "survived"), count(first, "cuts", "tried"), "{first}");
    assert_eq!(count(first, "kills", "survived"), 2, "{first}");
    report
}

#[test]
fn threads_of_one_process_lose_nothing_that_was_acknowledged_to_each() {
    if !is_allowed() {
        return;
    }
    let place = Place::new();
    let contenders = "lmdb,redb,fjall,pebble,fjall:persistent,sqlite:wal,busy_timeout=20000";
    let options = "--clients 3 --threads --commits 14 --cuts 10 --kills 2 --seed 7 --no-errors --keep kept";
    let report = proved(&place, &format!("--with {contenders} {options}"));
    for label in ["lmdb", "redb", "fjall", "pebble", "sqlite:wal,busy_timeout=20000"] {
        let subject = subject(&report, label);
        assert_eq!(subject["proof"]["observed"]["commits"], 14, "{label}: {subject}");
        assert_eq!(subject["proof"]["observed"]["bundled"], 0, "{label}: {subject}");
        assert_eq!(count(subject, "cuts", "survived"), count(subject, "cuts", "tried"), "{label}: {subject}");
        assert_eq!(count(subject, "kills", "survived"), 2, "{label}: {subject}");
        assert_eq!(subject["proof"]["notices_loss"], true, "{label}: {subject}");
    }
    let careless = subject(&report, "fjall:persistent");
    assert_eq!(count(careless, "strict", "lost"), count(careless, "strict", "tried"), "{careless}");
    assert_eq!(count(careless, "cuts", "broken"), 0, "{careless}");
    let repeat = repeated(&place, "fjall-persistent");
    assert!(repeat.status.success(), "{repeat:?}");
    place.assert_clean();
}
