//! The output of `--progress` while a mix runs.

use crate::clients::samples;
use crate::common::{Place, read_json};

const BANK: &str =
    "run bank --set accounts=50 --set warm_up=0.1 --only transfer --trials 1 --no-warm-up -o run.jsonl";

/// The lines about intervals of a contender, each without what all have.
fn lines<'s>(text: &'s str, label: &str) -> Vec<&'s str> {
    let start = format!("block 1: {label}, transfer, ");
    text.lines().filter_map(|line| line.strip_prefix(&start)).collect()
}

#[test]
fn a_line_every_second_says_what_clients_do() {
    let place = Place::new();
    let with = "--with sqlite:wal,postgres,sqlite/mattn:wal,sqlite/sqlite3:wal,sqlite:wal,processes=yes";
    let result = place.dyno(&format!("{BANK} --clients 2 --duration 4s --progress 1s {with}")).exits(0);
    let result =
        result.without_panic().says("--progress prints nothing of sqlite/sqlite3:wal: its runner python");
    for label in ["sqlite:wal", "postgres", "sqlite/mattn:wal", "sqlite:wal,processes=yes"] {
        let found = lines(&result.stderr, label);
        assert_eq!(found.len(), 3, "{label}: {}", result.stderr);
        for (second, line) in (1..).zip(&found) {
            assert!(line.starts_with(&format!("{second} s: transfer ")), "{line}");
        }
        assert!(found.iter().any(|line| line.contains("/s, p99 ")), "{found:?}");
    }
    // The null runner is no contender, and one that reports nothing has no line.
    assert_eq!(result.stderr.matches(" s: transfer ").count(), 12, "{}", result.stderr);
    assert_eq!(samples(&read_json(&place.path("run.jsonl")), "transfer").len(), 6);
    place.assert_clean();
}

#[test]
fn operations_of_an_interval_are_those_that_arrived_in_it() {
    let place = Place::new();
    let rate = "--clients 2 --rate 200 --duration 5s --progress 2s --with sqlite:wal";
    let result = place.dyno(&format!("{BANK} {rate}")).exits(0).without_panic();
    let found = lines(&result.stderr, "sqlite:wal");
    assert_eq!(found.len(), 2, "{}", result.stderr);
    for (line, end) in found.iter().zip([2, 4]) {
        let rate = line.strip_prefix(&format!("{end} s: transfer ")).unwrap().split("/s").next().unwrap();
        // 400 are due on the average; those of a client that waits come with the next line.
        let rate: f64 = rate.parse().unwrap();
        assert!((1.0..=400.0).contains(&rate), "{line}");
    }
    place.assert_clean();
}

#[test]
fn where_no_mix_lasts_there_is_nothing_to_print() {
    let place = Place::new();
    let run = "run speedtest --scale 0.01 --only 1 --with sqlite:memory --trials 1";
    place
        .dyno(&format!("{run} --progress 1s"))
        .exits(2)
        .says("no test of this run is a mix that lasts a time");
    place.dyno(&format!("{run} --progress 0.5s")).exits(2).says("write whole seconds");
    place.dyno(&format!("{run} --progress 1s --quiet")).exits(2).says("--quiet");
}
