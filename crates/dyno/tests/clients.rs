//! Many clients at once, as a person lets them work, on real engines.

mod rates;
mod suites;
mod wrong;

use serde_json::Value;

use crate::common::{Place, read_json};

/// The suites at a size that takes no time.
const SMALL: &str = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet";

/// True if a sample is of 0.3 s to the nanosecond, or of as much more as [`Place::dyno`] takes on a busy machine, with
/// a tick for each second.
pub fn lasted_as_asked(sample: &Value) -> bool {
    let nanoseconds = sample["section"]["nanoseconds"].as_u64().unwrap();
    let ticks = sample["ticks"].as_array().unwrap().len() as u64;
    let is_asked = [1, 4, 16, 64].iter().any(|times| nanoseconds == times * 300_000_000);
    is_asked && ticks == nanoseconds.div_ceil(1_000_000_000)
}

/// The samples of a test by the contender's label.
pub fn samples(run: &Value, test: &str) -> Vec<(String, Value)> {
    let contenders = run["contenders"].as_array().unwrap();
    let samples = run["trials"].as_array().unwrap().iter().flat_map(|trial| {
        let label = contenders[trial["contender"].as_u64().unwrap() as usize]["label"].as_str().unwrap();
        trial["samples"].as_array().unwrap().iter().map(|sample| (label.to_owned(), sample.clone()))
    });
    samples.filter(|(_, sample)| sample["test"] == test).collect()
}

#[test]
fn money_moves_between_all_accounts_and_none_is_lost() {
    let place = Place::new();
    let with = "sqlite,sqlite:wal,postgres,mariadb";
    let result = place.dyno(&format!("run bank {SMALL} --clients 1,4 --with {with} -o run.jsonl")).exits(0);
    let result = result.without_panic().prints("transfer: latency").prints("clients=4").prints("p99");
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    for clients in [1, 4] {
        let run = read_json(&place.path(&format!("run.clients{clients}.jsonl")));
        let found = samples(&run, "transfer");
        // The null runner does it too.
        assert_eq!(found.len(), 5, "{found:?}");
        for (label, sample) in found {
            assert!(lasted_as_asked(&sample), "{label}: {sample}");
            assert!(sample["operations"].as_u64().unwrap() > 0, "{label}");
            assert_eq!(sample["classes"][0]["done"], sample["operations"], "{label}");
        }
        let verdict = place.dyno(&format!("show run.clients{clients}.jsonl --format json")).exits(0).json();
        let lines = &verdict["verdict"]["latency"]["tests"][0]["lines"];
        assert_eq!(lines.as_array().unwrap().len(), 4, "{lines}");
        let csv = place.dyno(&format!("show run.clients{clients}.jsonl --format csv")).exits(0).stdout;
        assert!(csv.contains("p50_ns"), "{csv}");
    }
    place.assert_clean();
}

#[test]
fn isolation_is_read_back_and_only_equals_are_ranked() {
    let place = Place::new();
    let with =
        "sqlite:wal,postgres,postgres:serializable,mariadb,mariadb:read-committed,mariadb:serializable";
    let run = format!("run bank {SMALL} --clients 2 --only transfer --with {with} -o run.jsonl");
    place.dyno(&run).exits(0).without_panic().prints("serializable").prints("read-committed");
    let run = read_json(&place.path("run.jsonl"));
    let levels = run["contenders"].as_array().unwrap().iter().filter(|contender| contender["named"] == true);
    let levels: Vec<_> = levels.map(|contender| contender["isolation"]["level"].as_str().unwrap()).collect();
    let serializable = "serializable";
    let expected =
        [serializable, "read-committed", serializable, "repeatable-read", "read-committed", serializable];
    assert_eq!(levels, expected);
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let classes = verdict["verdict"]["rankings"].as_array().unwrap().iter().map(|ranking| {
        let members =
            ranking["ranks"].as_array().unwrap().iter().map(|rank| rank["contender"].as_u64().unwrap());
        let mut members: Vec<u64> = members.collect();
        members.sort_unstable();
        (ranking["isolation"].as_str().unwrap(), members)
    });
    let expected =
        [(serializable, vec![0, 2, 5]), ("repeatable-read", vec![3]), ("read-committed", vec![1, 4])];
    assert_eq!(classes.collect::<Vec<_>>(), expected);
    place.assert_clean();
}

#[test]
fn what_goes_on_beside_the_clients_is_reported_second_by_second() {
    let place = Place::new();
    let small = "--set accounts=50 --set warm_up=0.1 --duration 5s --trials 1 --no-warm-up --only transfer --clients 2";
    let with = "sqlite:wal,wal_autocheckpoint=20 --with sqlite/mattn:wal,wal_autocheckpoint=20 --with postgres,mariadb";
    let run = place
        .dyno(&format!("run bank {small} --quiet --with {with} -o run.jsonl --report run.html"))
        .exits(0);
    run.without_panic().prints("transfer: during the test").prints("disk busy");
    let record = read_json(&place.path("run.jsonl"));
    let has_pressure = std::path::Path::new("/proc/pressure/io").exists();
    for (label, sample) in samples(&record, "transfer").iter().filter(|(label, _)| label != "null") {
        let around = sample["around"].as_array().unwrap_or_else(|| panic!("{label}: {}", sample["section"]));
        assert_eq!(around.len(), sample["ticks"].as_array().unwrap().len(), "{label}");
        for second in around {
            assert_eq!(second["pressure"].is_object(), has_pressure, "{label}: {second}");
            for part in ["cpu_some_ns", "io_some_ns", "io_full_ns"] {
                let waited = second["pressure"][part].as_u64().unwrap_or_default();
                // Of a second, or of as many as a busy machine comes late to look: never since the machine started.
                assert!(waited <= 60_000_000_000, "{label}: {part} {second}");
            }
        }
        // SQLite's log is set to begin anew after twenty pages, which a few transactions write on a busy disk too.
        let reported = around.iter().filter_map(|second| second["upkeep"]["checkpoints"].as_u64());
        let reported: Vec<u64> = reported.collect();
        assert!(!reported.is_empty(), "{label}: {around:?}");
        if label.starts_with("sqlite") {
            assert!(reported.iter().sum::<u64>() > 0, "{label}: {reported:?}");
        }
    }
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let line = &verdict["verdict"]["timelines"][0]["lines"][0];
    assert!(line["surroundings"]["upkeep"]["checkpoints"].as_u64().unwrap() > 0, "{line}");
    let csv = place.dyno("show run.jsonl --format csv").exits(0).stdout;
    assert!(csv.contains("longest_stall_ns,disk_busy,cpu_some"), "{csv}");
    assert!(std::fs::read_to_string(place.path("run.html")).unwrap().contains("the engine made"));
    place.assert_clean();
}

#[test]
fn how_long_operations_take_stands_beside_how_many_clients_do() {
    let place = Place::new();
    let small = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 2 --only read --quiet";
    let run =
        format!("run bank {small} --clients 1,3 --with sqlite:wal,postgres -o run.jsonl --report run.html");
    place.dyno(&run).exits(0).without_panic();
    let runs = "run.clients1.jsonl run.clients3.jsonl";
    let json = place.dyno(&format!("scaling {runs} --format json")).exits(0).json();
    let [done, took] = &json["tests"].as_array().unwrap()[..] else { panic!("{json}") };
    let title = "read, look-up: 99 % within";
    assert!(done["response"].is_null() && took["response"] == title, "{json}");
    // A server may do too few operations in this time for a figure of one in a hundred.
    let alone = &took["lines"][0]["points"][0];
    assert!(alone["per_second"].is_null() && alone["time"]["median"].as_f64().unwrap() > 0.0, "{json}");
    place.dyno(&format!("scaling {runs}")).exits(0).prints(title);
    let csv = place.dyno(&format!("scaling {runs} --format csv")).exits(0).stdout;
    assert!(csv.contains(&format!("\"{title}\",sqlite:wal,1,,")), "{csv}");
    assert!(std::fs::read_to_string(place.path("run.html")).unwrap().contains(title));
    place.assert_clean();
}
