//! The isolation that transactions observe, held against the isolation level in force.

use serde_json::{Value, json};

use crate::common::{Place, read_json, run_file};

/// A run of a size that takes no time.
const SMALL: &str = "run bank --set accounts=50 --set warm_up=0.1 --duration 0.2s --trials 1 --no-warm-up --quiet \
                     --only transfer -o run.jsonl";

/// The anomalies of a contender, by its position, each with whether it is allowed.
fn seen(verdict: &Value, contender: usize) -> Vec<(String, bool)> {
    let probed = &verdict["verdict"]["probes"][contender];
    let probes = probed["probes"].as_array().unwrap();
    assert_eq!(probes.len(), 4, "{probed}");
    let seen = probes.iter().flat_map(|probe| {
        assert!(probe["failed"].is_null() && probe["committed"].as_u64().unwrap() > 0, "{probe}");
        probe["seen"].as_array().cloned().unwrap_or_default()
    });
    seen.map(|seen| (seen["anomaly"].as_str().unwrap().to_owned(), seen["allowed"] == true)).collect()
}

#[test]
fn nobody_shows_what_its_level_forbids_and_read_committed_what_it_allows() {
    let place = Place::new();
    let with = "sqlite:wal,postgres:serializable,mariadb:serializable,postgres,mariadb:read-committed";
    let result = place.dyno(&format!("{SMALL} --clients 2 --with {with} --report run.html")).exits(0);
    let result = result.without_panic().prints("transactions at once").prints("lost update");
    assert!(!result.stdout.contains('✗'), "{}", result.stdout);
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    for serializable in 0..3 {
        assert_eq!(seen(&verdict, serializable), []);
    }
    // A hundred transactions of four clients on one row.
    for committed in [3, 4] {
        let seen = seen(&verdict, committed);
        assert!(seen.contains(&("lost-update".to_owned(), true)), "{seen:?}");
    }
    let page = std::fs::read_to_string(place.path("run.html")).unwrap();
    assert!(page.contains("What transactions see of one another"));
    place.assert_clean();
}

#[test]
fn who_shows_what_its_level_forbids_is_not_ranked() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --clients 2 --with postgres,postgres:serializable")).exits(0);
    // PostgreSQL's behaviour at its default, said to be serializable.
    let mut run = read_json(&place.path("run.jsonl"));
    assert_eq!(run["contenders"][0]["isolation"]["level"], "read-committed");
    run["contenders"][0]["isolation"]["level"] = json!("serializable");
    place.write("run.jsonl", &run_file(&run));
    let shown = place.dyno("show run.jsonl").without_panic();
    let shown = shown.prints("Not isolated: postgres should be serializable, which forbids lost update");
    shown.prints("transactions read").prints("It is not ranked");
    let verdict = place.dyno("show run.jsonl --format json").json();
    let standing = &verdict["verdict"]["tests"][0]["cells"][0]["standing"];
    assert_eq!(standing["standing"], "not-isolated", "{standing}");
    place.assert_clean();
}

#[test]
fn a_probe_that_failed_is_named_in_the_table_and_on_the_page() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --clients 2 --with sqlite:wal")).exits(0);
    let mut run = read_json(&place.path("run.jsonl"));
    let failed = json!({"probe": "tables", "committed": 0, "failed": "there was no room"});
    run["contenders"][0]["probes"] = json!([failed]);
    place.write("run.jsonl", &run_file(&run));
    let said = "Not probed: sqlite:wal, no probe of isolation could begin: there was no room. dyno ranks it";
    place.dyno("show run.jsonl").without_panic().prints("not probed").prints(said);
    place.dyno("report run.jsonl -o run.html").exits(0).without_panic();
    let page = std::fs::read_to_string(place.path("run.html")).unwrap();
    assert!(page.contains(said));
    place.assert_clean();
}

#[test]
fn stores_are_probed_by_gets_and_puts() {
    let place = Place::new();
    let stores = ["lmdb", "redb", "bdb", "rocksdb", "fjall", "pebble", "bdb:persistent"];
    let run = "run ycsb --set records=100 --set warm_up=0.1 --duration 0.2s --trials 1 --no-warm-up --quiet --only a -o run.jsonl";
    let result = place.dyno(&format!("{run} --clients 2 --with {}", stores[..6].join(","))).exits(0);
    let result = result.without_panic().prints("transactions at once");
    assert!(!result.stdout.contains('✗'), "{}", result.stdout);
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    for (index, store) in stores[..6].iter().enumerate() {
        let seen = seen(&verdict, index);
        match *store {
            // One writer at a time, or locks on what was read.
            "lmdb" | "redb" | "bdb" => assert_eq!(seen, [], "{store}"),
            _ => assert!(seen.iter().all(|(_, allowed)| *allowed), "{store}: {seen:?}"),
        }
    }
    // The anomalies of a level that lets others change what was read, recorded as serializable.
    let mut run = read_json(&place.path("run.jsonl"));
    for contender in 3..6 {
        assert_eq!(run["contenders"][contender]["isolation"]["level"], "read-committed");
        run["contenders"][contender]["isolation"]["level"] = json!("serializable");
    }
    place.write("run.jsonl", &run_file(&run));
    place.dyno("show run.jsonl").without_panic().prints("which forbids lost update");
    place.assert_clean();
}

#[test]
fn one_client_is_not_probed() {
    let place = Place::new();
    let result = place.dyno(&format!("{SMALL} --clients 1 --with sqlite:wal")).exits(0);
    assert!(!result.stdout.contains("transactions at once"), "{}", result.stdout);
    let run = read_json(&place.path("run.jsonl"));
    assert_eq!(run["contenders"][0]["probes"], json!(null));
}

#[test]
fn what_reads_uncommitted_shows_dirty_reads() {
    let place = Place::new();
    let with = "mariadb,tx_isolation=READ-UNCOMMITTED";
    let result = place.dyno(&format!("{SMALL} --clients 2 --with {with}")).exits(0).without_panic();
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let seen = seen(&verdict, 0);
    assert!(seen.contains(&("dirty-read".to_owned(), true)), "{seen:?}\n{}", result.stdout);
    place.assert_clean();
}
