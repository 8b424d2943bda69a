//! The suites of many clients, on every engine.

use super::samples;
use crate::common::{Place, read_json};

#[test]
fn pages_are_read_and_written_by_every_engine() {
    let place = Place::new();
    let with = "sqlite,sqlite:wal,postgres,mariadb";
    let small = "--set users=50 --set warm_up=0.1 --clients 3 --duration 1s --trials 1 --no-warm-up --quiet";
    let result = place.dyno(&format!("run app {small} --with {with} -o run.jsonl")).exits(0).without_panic();
    let result = result.prints("postgres, front-page").prints("mariadb, comment");
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    place.assert_clean();
}

#[test]
fn orders_are_taken_paid_and_delivered_and_every_condition_holds() {
    let place = Place::new();
    let with = "sqlite:wal,postgres,mariadb";
    let small = "--scale 0.01 --set warm_up=0.1 --clients 4 --duration 1s --trials 1 --no-warm-up --quiet";
    let result =
        place.dyno(&format!("run orders {small} --with {with} -o run.jsonl")).exits(0).without_panic();
    assert!(!result.stdout.contains('✗') && !result.stdout.contains("failed"), "{}", result.stdout);
    let result = result.prints("12: a balance and payments are what was delivered held held held");
    result.prints("trade, new orders (no TPC result) a minute: sqlite:wal");
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let invariants = &verdict["verdict"]["invariants"][0];
    assert_eq!(invariants["says"].as_array().unwrap().len(), 17);
    assert_eq!(invariants["lines"][2][1][0], serde_json::json!({"trials": 1, "held": 1, "broken": 0}));
    for (label, sample) in samples(&read_json(&place.path("run.jsonl")), "trade") {
        for class in sample["classes"].as_array().unwrap() {
            assert!(class["failed"].is_null(), "{label}: {class}");
        }
    }
    place.assert_clean();
}

#[test]
fn records_are_read_changed_and_inserted_and_none_is_lost() {
    let place = Place::new();
    let with = "sqlite:wal,postgres,mariadb";
    let small = "--set records=300 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet";
    for load in ["--clients 3", "--clients 2 --rate 300"] {
        let result = place.dyno(&format!("run ycsb {small} {load} --with {with} -o run.jsonl")).exits(0);
        let result = result.without_panic().prints("no key that was inserted is lost held held held");
        assert!(!result.stdout.contains('✗') && !result.stdout.contains("failed"), "{}", result.stdout);
    }
    place.assert_clean();
}

#[test]
fn stores_are_read_changed_and_scanned_by_many_clients() {
    let place = Place::new();
    let with = "lmdb,redb,rocksdb,fjall,bdb,pebble,sqlite:wal";
    let small = "--set records=300 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet";
    for load in ["--clients 3", "--clients 2 --rate 300"] {
        let run = format!("run ycsb {small} {load} --with {with} -o run.jsonl --report run.html");
        let result = place.dyno(&run).exits(0).without_panic();
        assert!(!result.stdout.contains('✗') && !result.stdout.contains("failed"), "{}", result.stdout);
        let result = result.prints("no key that was inserted is lost held held held");
        result.prints("bdb, read-modify-write");
    }
    let run = read_json(&place.path("run.jsonl"));
    let named = run["contenders"].as_array().unwrap().iter().filter(|contender| contender["named"] == true);
    let levels: Vec<_> = named.map(|contender| contender["isolation"]["level"].as_str().unwrap()).collect();
    let (serializable, committed) = ("serializable", "read-committed");
    let expected = [serializable, serializable, committed, committed, serializable, committed, serializable];
    assert_eq!(levels, expected);
    // Each workload has a table of what held, for every contender.
    let page = std::fs::read_to_string(place.path("run.html")).unwrap();
    assert_eq!(page.matches("<h2 id=\"holds-").count(), 7);
    assert!(page.contains("no key of the beginning is lost"));
    place.assert_clean();
}

#[test]
fn a_mix_says_what_a_store_does() {
    let place = Place::new();
    let refused = |from: &str, to: &str, words: &str| {
        let text = std::fs::read_to_string(crate::common::repository().join("suites/ycsb.toml")).unwrap();
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        place.write("mine.toml", &changed);
        place.dyno("run ./mine.toml --with lmdb").exits(2).without_panic().says(words);
    };
    refused("@kv record(value) = GET record :key;", "@kv record(value) = GRT record :key;", "'GRT'");
    refused(
        "@kv PUT record :key :value;",
        "@kv PUT record :key;",
        "it is written as `PUT store :key :value`",
    );
    refused(
        "@kv PUT record :key :value;",
        "@kv PUT record :value :key;",
        "keys and lengths are whole numbers",
    );
    refused("@kv PUT record :key :value;", "@kv PUT other :key :value;", "are about one store");
    refused("@kv TORN record 10;", "@kv SELECT 1;", "is not one of `TORN store times`");
    let environment = "run ycsb --clients 2 --with bdb:persistent";
    place.dyno(environment).exits(2).says("those of one connection alone: take --clients 1");
    place.assert_clean();
}
