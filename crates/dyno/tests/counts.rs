//! `--counts` and `--gate`: what a section executes, to the digit, and limits that noise cannot trip.

use std::fs;

use serde_json::Value;

use crate::common::Place;
use crate::common::runner::program;

const QUICK: &str = "run speedtest --scale 0.01 --only 2,4,5 --trials 1 --no-warm-up --quiet -o run.jsonl";

/// The counts of an event in each test, by contender.
fn counts(verdict: &Value, event: &str) -> Vec<Vec<f64>> {
    let tests = verdict["verdict"]["tests"].as_array().unwrap().iter();
    let of_test = |test: &Value| -> Vec<f64> {
        let measures = test["counts"].as_array().unwrap();
        let measure = measures.iter().find(|measure| measure["event"] == event);
        let cells = measure.unwrap_or_else(|| panic!("{test}"))["cells"].as_array().unwrap().clone();
        cells.iter().map(|cell| cell["figures"]["summary"]["median"].as_f64().unwrap()).collect()
    };
    tests.map(of_test).collect()
}

#[test]
fn one_build_under_two_names_executes_the_same_instructions() {
    let place = Place::in_memory();
    fs::copy(program("libdyno_sqlite3.so"), place.path("copy.so")).unwrap();
    let with = "--with sqlite:memory,sqlite@./copy.so:memory";
    let result = place.dyno(&format!("{QUICK} {with} --gate instructions<=+0%"));
    let result = result.exits(0).without_panic().prints("instructions");
    let last = result.stdout.lines().last().unwrap();
    assert_eq!(last, "gate: 0 of 3 exceed instructions by more than 0 %", "{}", result.stdout);
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    for test in counts(&verdict, "instructions") {
        assert!(test[0] > 10_000.0 && test[0] == test[1], "{test:?}");
    }
    assert_eq!(counts(&verdict, "system_calls").len(), 3);
    place.dyno("show run.jsonl --format csv").exits(0).prints("count_instructions");
    place.dyno("verify run.jsonl").exits(0);
    place.dyno("rerun run.jsonl --trust --quiet --out again.jsonl").exits(0);
    let again = place.dyno("show again.jsonl --format json").exits(0).json();
    assert_eq!(counts(&again, "instructions"), counts(&verdict, "instructions"));
    place.assert_clean();
}

#[test]
fn more_instructions_than_allowed_end_with_one() {
    let place = Place::in_memory();
    let with = "--with sqlite:memory,sqlite:memory,cell_size_check=ON,cache_size=10";
    let result = place.dyno(&format!("{QUICK} {with} --gate instructions<=+0.001%,time<=+300%")).exits(1);
    let result = result.without_panic().prints("% instructions; 0.001 % is allowed");
    let last = result.stdout.lines().last().unwrap();
    assert!(last.starts_with("gate: ") && last.contains("undecided"), "{last}");
    // One trial says nothing of time.
    place.dyno(&format!("{QUICK} {with} --gate time<=+300%")).exits(5).prints("3 undecided");
    place.assert_clean();
}

#[test]
fn what_cannot_be_counted_is_refused_before_anything_runs() {
    let place = Place::in_memory();
    let refused = |arguments: &str, words: &str| {
        place.dyno(arguments).exits(2).without_panic().says(words);
    };
    refused("run bank --with sqlite:nosync --counts --quiet", "fixed amount of work");
    refused("run speedtest --with sqlite:memory --gate time<3 --quiet", "is no limit");
    refused("run kv --n 10,20 --with lmdb --gate time<=1% --quiet", "--gate judges one run");
    let mut command = place.command();
    command
        .args(QUICK.split(' '))
        .args(["--with", "sqlite:memory", "--counts"])
        .env("PATH", place.path("none"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("apt-get install valgrind"), "{said}");
    assert!(!place.path("run.jsonl").exists());
}
