//! `--round-trips`: what clients and servers say to each other, counted by a recording proxy; and `conformance
//! --faults`, which lets the way between them fail.

use serde_json::Value;

use crate::common::{Place, read_json};

const BANK: &str = "run bank --set accounts=50 --set warm_up=0.1 --set branches=1 --duration 0.3s --trials 1 \
                    --no-warm-up --clients 3 --quiet";

/// The record of a contender's traffic in a class, with the counts of its passes, which must agree.
fn traffic<'r>(run: &'r Value, label: &str, class: &str) -> (&'r Value, &'r Value) {
    let contenders = run["contenders"].as_array().unwrap();
    let contender = contenders.iter().find(|known| known["label"] == label).unwrap();
    let records = contender["traffic"].as_array().unwrap();
    let record = records.iter().find(|record| record["class"] == class).unwrap();
    let passes = record["passes"].as_array().unwrap_or_else(|| panic!("{record}"));
    assert_eq!(passes.len(), 2, "{record}");
    assert_eq!(passes[0], passes[1], "{record}");
    (record, &passes[0])
}

#[test]
fn operations_are_counted_to_the_digit_in_both_protocols() {
    let place = Place::new();
    let with = "--with sqlite:wal,postgres,mariadb --round-trips -o run.jsonl";
    let result = place.dyno(&format!("{BANK} {with}")).exits(0).without_panic();
    let result =
        result.prints("transfer, transfer: for each operation").prints("read, look-up: for each operation");
    result.says("--round-trips counts nothing of sqlite:wal: its engine is within the client's process");
    let run = read_json(&place.path("run.jsonl"));
    for label in ["postgres", "mariadb"] {
        let (record, counts) = traffic(&run, label, "look-up");
        assert_eq!(record["operations"], 50, "{record}");
        // One statement that was prepared beforehand, and one wait for it.
        assert_eq!(
            (&counts["round_trips"], &counts["executed"]),
            (&Value::from(50), &Value::from(50)),
            "{record}"
        );
        assert!(counts["prepares"].is_null() || counts["prepares"] == 0, "{record}");
        let (record, counts) = traffic(&run, label, "transfer");
        // Five statements between BEGIN and COMMIT.
        assert_eq!(
            (&counts["round_trips"], &counts["executed"]),
            (&Value::from(350), &Value::from(350)),
            "{record}"
        );
        let statements = record["statements"].as_array().unwrap();
        let updates = |sent: &&Value| sent["text"].as_str().unwrap().starts_with("UPDATE accounts");
        assert_eq!(statements.iter().find(updates).unwrap()["count"], 50, "{record}");
        assert!(counts["sent_bytes"].as_u64() > Some(350 * 5), "{record}");
    }
    place.dyno("show run.jsonl --notes").exits(0).prints("UPDATE tellers");
    place.dyno("show run.jsonl --format json").exits(0).prints("\"round_trips\"");
    place.dyno("show run.jsonl --format csv").exits(0).prints("round_trips_each");
    place.dyno("report run.jsonl -o page.html").exits(0);
    place.dyno("verify run.jsonl").exits(0);
    place.assert_clean();
}

#[test]
fn tests_of_statements_are_counted_whole_and_delays_are_predicted() {
    let place = Place::new();
    let with = "--with postgres --only read --round-trips --delay 0,4ms";
    let bank = BANK.replace("--clients 3", "--clients 1");
    let result = place.dyno(&format!("{bank} {with}")).exits(0).without_panic();
    result.prints("read: predicted").prints("Predicted: the time at delay 0");
    let scale = "--scale 0.01 --only 2 --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run speedtest {scale} --with postgres --round-trips -o run.jsonl")).exits(0);
    let run = read_json(&place.path("run.jsonl"));
    let record = &run["contenders"][0]["traffic"][0];
    let counts = &record["passes"][0];
    assert_eq!((&record["test"], &record["class"]), (&Value::from("2"), &Value::Null), "{record}");
    assert_eq!(counts["executed"], record["operations"], "{record}");
    assert_eq!(counts["round_trips"], record["operations"], "{record}");
    // BEGIN, the INSERTs, whose values differ, and COMMIT.
    let statements = record["statements"].as_array().unwrap();
    assert!(statements.len() >= 3 && statements[0]["text"] == "BEGIN", "{record}");
    place.assert_clean();
}

#[test]
fn what_cannot_be_counted_or_broken_is_refused_before_anything_runs() {
    let place = Place::new();
    let refused = |arguments: &str, words: &str| {
        place.dyno(arguments).exits(2).without_panic().says(words);
    };
    refused("run bank --with sqlite:wal --round-trips --quiet", "none of these contenders is a server");
    refused("conformance --faults sqlite", "PostgreSQL's or MySQL's protocol, and sqlite has none");
    refused("conformance --faults postgres=postgres://u@127.0.0.1:1/x", "runs already is named by --url");
    refused("conformance --faults postgres --only import", "cannot be used with");
    refused("conformance --faults postgres/kysely", "go to pg past it: name postgres/pg");
    place.assert_clean();
}

#[test]
fn drivers_report_what_fails_and_lose_or_repeat_nothing() {
    let place = Place::new();
    let result = place.dyno("conformance --faults postgres mariadb").exits(0).without_panic();
    let found = |label: &str| -> Vec<String> {
        let line = result.stdout.lines().find(|line| line.starts_with(label)).unwrap();
        line.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    for label in ["postgres ", "mariadb "] {
        let cells = found(label);
        assert_eq!(cells.len(), 6, "{}", result.stdout);
        assert_eq!(
            cells[1..4],
            ["reports, not kept", "reports, not kept", "reports, kept"],
            "{}",
            result.stdout
        );
        assert_eq!(cells[4], "hangs, kept", "{}", result.stdout);
        assert_eq!(cells[5], "reports", "{}", result.stdout);
    }
    place.assert_clean();
}
