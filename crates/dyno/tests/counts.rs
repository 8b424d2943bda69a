//! `--counts` and `--gate`: what a section executes, to the digit, and limits that noise cannot trip.

mod functions;

use std::fs;

use serde_json::Value;

use crate::common::runner::program;
use crate::common::{Place, read_json, run_file};

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
    of_each_operation(&place, &verdict);
    assert_eq!(counts(&verdict, "system_calls").len(), 3);
    // One file is one build, whose functions need no comparison.
    assert!(verdict["verdict"]["functions"].is_null());
    place.dyno("show run.jsonl --format csv").exits(0).prints("count_instructions_per_operation");
    place.dyno("verify run.jsonl").exits(0);
    place.dyno("rerun run.jsonl --trust --quiet --out again.jsonl").exits(0);
    let again = place.dyno("show again.jsonl --format json").exits(0).json();
    assert_eq!(counts(&again, "instructions"), counts(&verdict, "instructions"));
    compared(&place);
    place.assert_clean();
}

/// The counts of a test divided by its operations, in the table, on the page and in JSON.
fn of_each_operation(place: &Place, verdict: &Value) {
    let test = &verdict["verdict"]["tests"][0];
    let instructions =
        test["counts"].as_array().unwrap().iter().find(|found| found["event"] == "instructions");
    let cell = &instructions.unwrap()["cells"][0];
    let number = |value: &Value| value.as_f64().unwrap();
    let operations = number(&test["cells"][0]["figures"]["costs"]["operations"]);
    assert!(operations > 1.0, "{test}");
    assert_eq!(number(&cell["per_operation"]), number(&cell["figures"]["summary"]["median"]) / operations);
    place.dyno("show run.jsonl").exits(0).prints("of each operation");
    place.dyno("show run.jsonl --format html").exits(0).prints("id=\"per-operation\"");
}

/// Compares two runs of one build by their counts, then with one that counted more in a test.
fn compared(place: &Place) {
    let result = place.dyno("compare run.jsonl again.jsonl --gate instructions<=+0%").exits(0);
    assert_eq!(result.stdout.lines().last(), Some("gate: 0 of 6 exceed instructions by more than 0 %"));
    result
        .prints("flushes, instructions, peak heap bytes, system calls, in 3 tests: equal in 3.")
        .prints("Answers, in 3 tests: compared within each run alone in 3 (2, 4, 5)");
    let mut more = read_json(&place.path("again.jsonl"));
    for trial in more["trials"].as_array_mut().unwrap() {
        let is_first = trial["contender"] == 0;
        let count = trial.pointer_mut("/samples/1/section/counts/instructions").filter(|_| is_first);
        if let Some(count) = count {
            let counted = count.as_u64().unwrap();
            *count = (counted + counted / 500).into();
        }
    }
    place.write("more.json", &run_file(&more));
    let result = place.dyno("compare run.jsonl more.json --gate instructions<=+0.1%").exits(1);
    result
        .prints("sqlite:memory, test 4: +0.200 % instructions; 0.1 % is allowed")
        .prints("sqlite:memory, instructions, in 3 tests: more in 1 (4), equal in 2.");
    place.dyno("compare more.json run.jsonl --gate instructions<=+0.1%").exits(0);
    place.dyno("compare run.jsonl more.json --format csv").exits(0).prints("event,old_count,new_count");
    let markdown = place.dyno("compare run.jsonl more.json --format markdown").exits(0);
    let first = markdown.stdout.lines().next().unwrap();
    assert!(first.starts_with("- sqlite:memory: slower in 0 of 3 tests"), "{first}");
    place.dyno("report more.json run.jsonl -o page.html").exits(0);
}

#[test]
fn flushes_and_bytes_are_counted_as_system_calls_show_them() {
    let place = Place::in_memory();
    let quick = "run speedtest --scale 0.01 --only 1 --trials 1 --no-warm-up --quiet -o run.jsonl";
    let result = place.dyno(&format!("{quick} --with sqlite,sqlite:nosync --gate flushes<=+0%")).exits(0);
    assert_eq!(result.stdout.lines().last(), Some("gate: 0 of 1 exceed flushes by more than 0 %"));
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let [flushes, written, calls, allocations] = ["flushes", "bytes_written", "system_calls", "allocations"]
        .map(|event| counts(&verdict, event).remove(0));
    // Ten commits, each with a journal and a database to be flushed.
    assert!(flushes[0] >= 20.0 && flushes[1] == 0.0, "{flushes:?}");
    assert!(calls[0] >= calls[1] + flushes[0] && written[0] > 10.0 * 4096.0, "{calls:?} {written:?}");
    assert!(allocations[0] > 0.0, "{allocations:?}");
    // The kernel's counts are shown, and no difference of them is claimed.
    let faults = &verdict["verdict"]["tests"][0]["counts"].as_array().unwrap().clone();
    let faults = faults.iter().find(|measure| measure["event"] == "page_faults").unwrap();
    assert_eq!(faults["cells"][1]["difference"]["difference"], "none");
    // To none there is no ratio.
    let result = place.dyno(&format!("{quick} --with sqlite:nosync,sqlite --gate flushes<=+50%")).exits(1);
    result.prints("sqlite, test 1: more than no flushes; 50 % is allowed").without_panic();
    place.assert_clean();
}

#[test]
fn a_private_server_is_counted_within_the_sections_of_its_client() {
    let place = Place::in_memory();
    let with = "--with postgres,postgres:nosync,postgres/psycopg --counts";
    let quick = "run speedtest --scale 0.01 --only 1 --trials 1 --no-warm-up --quiet -o run.jsonl";
    let result = place.dyno(&format!("{quick} {with}")).exits(0).without_panic();
    result.says("without instructions, allocations and heap of the server of postgres:");
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let [calls, flushes, read, written] = ["system_calls", "flushes", "bytes_read", "bytes_written"]
        .map(|event| counts(&verdict, &format!("server_{event}")).remove(0));
    // Ten commits, each of which is flushed; without syncing none is.
    assert!(flushes[0] >= 10.0 && flushes[1] == 0.0 && flushes[2] >= 10.0, "{flushes:?}");
    // It reads what its client writes.
    let sent = counts(&verdict, "bytes_written").remove(0);
    assert!(read.iter().zip(&sent).all(|(read, sent)| *sent > 0.0 && read >= sent), "{read:?} {sent:?}");
    assert!(written[0] > 0.0 && calls[0] > flushes[0], "{written:?} {calls:?}");
    for event in ["cpu_nanoseconds", "context_switches"] {
        let counted = counts(&verdict, &format!("server_{event}")).remove(0);
        assert!(counted.len() == 3 && counted.iter().all(|count| *count > 0.0), "{event}: {counted:?}");
    }
    // A server also works by its own clock, so that no difference is claimed.
    let all = verdict["verdict"]["tests"][0]["counts"].as_array().unwrap();
    let flushes = all.iter().find(|measure| measure["event"] == "server_flushes").unwrap();
    assert_eq!(flushes["cells"][1]["difference"]["difference"], "none");
    place.dyno("show run.jsonl").exits(0).prints("server system calls");
    place.assert_clean();
}

#[test]
fn drivers_in_other_languages_are_counted_by_their_system_calls() {
    let place = Place::in_memory();
    let with = "--with sqlite:memory,sqlite/sqlite3:memory,sqlite/modernc:memory,sqlite/better-sqlite3:memory --counts";
    let result = place.dyno(&format!("{QUICK} {with}")).exits(0).without_panic();
    result.says("without instructions and allocations of sqlite/modernc:memory");
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    for calls in counts(&verdict, "system_calls") {
        assert_eq!(calls.len(), 4, "{calls:?}");
    }
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
    refused("run speedtest --memory 1MiB", "no runner starts with less than --memory 4MiB");
    refused("run speedtest --gate instruction<=+1%", "did you mean instructions?");
    refused(
        "compare a.jsonl b.jsonl --gate foo<=1%",
        "there is no quantity 'foo'; a limit holds time, response",
    );
    refused("run speedtest --with sqlite:memory --gate time<=3%", "sqlite:memory is the only one");
    refused("run kv --n 10,20 --with lmdb --gate time<=1% --quiet", "--gate judges one run");
    let mut command = place.command();
    command
        .args(QUICK.split(' '))
        .args(["--with", "sqlite:memory", "--counts"])
        .env("PATH", place.path("none"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("apt-get install valgrind"), "{said}");
    // Where the processor's counter can be had, it counts in callgrind's place.
    let why = "the processor's own counter of instructions cannot be had here either: perf_event_open: ";
    let is_refused = said.contains(why);
    assert_eq!(output.status.code() == Some(2), is_refused, "{said}");
    assert_eq!(said.contains("but with processor_instructions"), !is_refused, "{said}");
    assert_eq!(place.path("run.jsonl").exists(), !is_refused, "{said}");
}
