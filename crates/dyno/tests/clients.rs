//! Many clients at once, as a person lets them work, on real engines.

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
fn what_arrives_by_itself_is_timed_from_when_it_was_due() {
    let place = Place::new();
    let run = format!(
        "run bank {SMALL} --rate 200 --clients 3 --with sqlite:wal,postgres -o run.jsonl --report run.html"
    );
    place.dyno(&run).exits(0).without_panic().prints("waiting for a free client");
    let run = read_json(&place.path("run.jsonl"));
    // The judged figure is a percentile: of 60 arrivals the median.
    let shown = place.dyno("show run.jsonl --format json").exits(0).json();
    let figure = |test: usize| {
        let cell = &shown["verdict"]["tests"][test]["cells"][0];
        (
            cell["figures"]["summary"]["median"].as_f64().unwrap(),
            shown["verdict"]["tests"][test]["amount"].clone(),
        )
    };
    assert_eq!(figure(1).1, Value::Null);
    for (label, sample) in samples(&run, "read") {
        assert_eq!(sample["judged_percentile"], 0.5, "{label}");
        if label == "sqlite:wal" {
            let sample: dyno_record::SampleRecord = serde_json::from_value(sample.clone()).unwrap();
            assert_eq!(figure(1).0, sample.duration_ns());
        }
        // Within five standard deviations of a Poisson process, however busy the machine is. What is done was due, then
        // or in the warm-up of 0.1 s: twenty operations on average.
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_default();
        let planned = 200.0 * number(&sample["section"], "nanoseconds") / 1e9;
        assert!((number(&sample, "due") - planned).abs() < 5.0 * planned.sqrt(), "{label}: {sample}");
        let done = number(&sample, "operations");
        assert!(0.0 < done && done <= number(&sample, "due") + 45.0, "{label}: {sample}");
        for part in ["response", "service", "wait", "late"] {
            assert!(sample["classes"][0][part].as_str().unwrap().starts_with("HISTFAAA"), "{label}: {part}");
        }
    }
    place.assert_clean();
}

#[test]
fn the_rate_of_each_trial_follows_from_those_before_and_is_kept() {
    let place = Place::new();
    let small = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 3 --only transfer --clients 3";
    let with = "--with sqlite:wal,postgres -o run.jsonl --report run.html";
    let run = place.dyno(&format!("run bank {small} --sustain p90<=400ms {with}")).exits(0).without_panic();
    let record = read_json(&place.path("run.jsonl"));
    // A machine that is busy with something else may sustain none.
    let sustained =
        |run: &Value| samples(run, "transfer").iter().any(|(_, one)| one["sought"]["held"] == true);
    let says = |run: &crate::common::Result| run.stdout.contains("transactions/s with p90 ≤ 400 ms");
    assert_eq!(says(&run), sustained(&record), "{}", run.stdout);
    // Trials at other rates have no percentiles.
    assert!(!run.stdout.contains("latency") && !run.stdout.contains("wrong"), "{}", run.stdout);
    assert_eq!(place.dyno("show run.jsonl").exits(0).stdout, run.stdout);
    assert_eq!(record["schedule"]["sustain"], serde_json::json!({"share": 0.9, "within_ns": 400_000_000}));
    let found = samples(&record, "transfer");
    assert_eq!(found.len(), 8, "the null runner sustains nothing");
    for (label, sample) in &found[..2] {
        assert!(sample["sought"].is_null(), "{label}: clients without a rate measure the scale");
    }
    for (label, sample) in &found[2..] {
        let number = |key: &str| sample["sought"][key].as_f64().unwrap();
        // As many as were planned, but for what chance does in a Poisson process.
        let planned = number("rate") * 0.3;
        assert!((number("due") - planned).abs() < 5.0 * planned.sqrt() + 5.0, "{label}: {sample}");
        assert!(number("late") >= number("left"), "{label}: {sample}");
        if sample["sought"]["held"] == true {
            assert!(number("late") <= 0.1 * number("due") + 1e-6, "{label}: {sample}");
        }
    }
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let lines = verdict["verdict"]["sustained"][0]["lines"].as_array().unwrap();
    assert_eq!(lines.iter().map(|line| line["tries"].as_array().unwrap().len()).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(verdict["verdict"]["tests"][0]["cells"][0]["standing"]["standing"], "sought");
    let csv = place.dyno("show run.jsonl --format csv").exits(0).stdout;
    assert!(csv.contains("sustained_per_second") && csv.contains(",sought,"), "{csv}");
    let page = std::fs::read_to_string(place.path("run.html")).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("what is sustained with p90 ≤ 400 ms"));

    // Again, at separate rates, and both at the same time.
    let options = "--quiet -o again.jsonl";
    let rerun = place.dyno(&format!("rerun run.jsonl {options}")).exits(0).without_panic();
    let again = read_json(&place.path("again.jsonl"));
    assert_eq!(says(&rerun), sustained(&again), "{}", rerun.stdout);
    assert_eq!(again["schedule"]["sustain"], record["schedule"]["sustain"]);
    assert_eq!(samples(&again, "transfer").len(), 8);
    let compared = place.dyno("compare run.jsonl again.jsonl").exits(0).without_panic();
    compared.prints("the ratio is the old rate over the new one");
    let compared = place.dyno("compare run.jsonl again.jsonl --format json").exits(0).json();
    for cell in compared["tests"][0]["cells"].as_array().unwrap() {
        assert!(cell["old_sustained"].is_object() && cell["new_sustained"].is_object(), "{cell}");
        // Three trials are too few for an interval.
        assert_ne!(cell["difference"]["difference"], "slower", "{cell}");
    }
    let csv = place.dyno("compare run.jsonl again.jsonl --format csv").exits(0).stdout;
    assert!(csv.starts_with("test,title,contender,old_ns,new_ns,old_per_second,new_per_second,"), "{csv}");
    place.dyno("report run.jsonl again.jsonl -o both.html").exits(0).without_panic();
    place.dyno("report run.jsonl again.jsonl -o both.md").exits(0).without_panic();
    let page = std::fs::read_to_string(place.path("both.md")).unwrap();
    assert!(page.contains("then | now"), "{page}");
    place.dyno("calibrate --again run.jsonl").exits(2).says("a run of --sustain searches for a rate");
    place.dyno("history bank --test transfer --results .").exits(0).prints("A rate was sought");
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

#[test]
fn what_is_sustained_stands_beside_what_closed_clients_do() {
    let place = Place::new();
    let small = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 3 --only transfer --quiet";
    let run = format!(
        "run bank {small} --clients 1,3 --sustain p90<=400ms --with sqlite:nosync -o run.jsonl --report run.html"
    );
    let shown = place.dyno(&run).exits(0).without_panic();
    assert!(shown.stdout.contains("transfer, p90 ≤ 400 ms"), "{}", shown.stdout);
    let runs = "run.clients1.jsonl run.clients3.jsonl";
    let json = place.dyno(&format!("scaling {runs} --format json")).exits(0).json();
    let tests = json["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 2, "closed and sustained: {json}");
    assert!(tests[0]["target"].is_null() && tests[1]["target"]["share"] == 0.9, "{json}");
    let rates = |test: usize| {
        let points = tests[test]["lines"][0]["points"].as_array().unwrap().iter();
        points.map(|point| point["per_second"].as_f64()).collect::<Vec<_>>()
    };
    // Each is that of its own run; a machine that is busy with something else may sustain none.
    let own = runs.split(' ').map(|run| {
        let verdict = place.dyno(&format!("show {run} --format json")).exits(0).json();
        verdict["verdict"]["sustained"][0]["lines"][0].clone()
    });
    let own: Vec<Value> = own.collect();
    let is_close = |shown: &Option<f64>, own: &Value| match (shown, own.as_f64()) {
        (Some(shown), Some(own)) => own > 0.0 && (shown / own - 1.0).abs() < 1e-6,
        (shown, own) => shown.is_none() && own.is_none(),
    };
    let closed = rates(0);
    assert!(closed.iter().zip(&own).all(|(rate, own)| is_close(rate, &own["closed"])), "{closed:?} {own:?}");
    let most = rates(1);
    let of_outcome = |own: &Value| match &own["outcome"] {
        Value::Object(outcome) if !outcome.contains_key("not-sustained") => {
            outcome.values().next().unwrap()["rate"].clone()
        }
        _ => Value::Null,
    };
    assert!(most.iter().zip(&own).all(|(rate, own)| is_close(rate, &of_outcome(own))), "{most:?} {own:?}");
    let text = place.dyno(&format!("scaling {runs}")).exits(0).stdout;
    let is_sustained = most.iter().any(Option::is_some);
    assert_eq!(text.contains("sustains") && text.contains(" at clients="), is_sustained, "{text}");
    // A target that held in every trial gives a bound, which is marked wherever it is shown.
    let points = tests[1]["lines"][0]["points"].as_array().unwrap();
    let bounds = points.iter().filter(|point| point["at_least"] == true).count();
    let csv = place.dyno(&format!("scaling {runs} --format csv")).exits(0).stdout;
    assert_eq!(csv.lines().filter(|line| line.ends_with(",at-least")).count(), bounds, "{csv}");
    assert_eq!(text.contains("≥ "), bounds > 0, "{text}");
    let page = std::fs::read_to_string(place.path("run.html")).unwrap().replace('\u{a0}', " ");
    assert!(page.contains("p90 ≤ 400 ms"));
    place.assert_clean();
}

#[test]
fn what_no_rate_sustains_is_said_without_a_percentile() {
    let place = Place::new();
    let small = "--set accounts=50 --set warm_up=0.1 --duration 0.3s --trials 2 --clients 2 --quiet";
    // No answer of a server comes within a microsecond.
    let run = format!("run bank {small} --only read --sustain p99<=1us --with postgres");
    let shown = place
        .dyno(&run)
        .exits(0)
        .without_panic()
        .prints("read: postgres held p99 ≤ 1 µs in none of 2 trials, the lowest at");
    assert!(!shown.stdout.contains(" p50 "), "{}", shown.stdout);
    place.assert_clean();
}

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
fn an_operation_without_its_row_has_failed_and_is_reported() {
    let place = Place::new();
    let text = std::fs::read_to_string(crate::common::repository().join("suites/bank.toml")).unwrap();
    let read = "SELECT abalance FROM accounts WHERE aid = :aid";
    let changed = text.replace(
        &format!("statements = \"{read}\""),
        &format!("statements = \"account(sum) = {read} AND aid > 25\""),
    );
    assert_ne!(changed, text);
    place.write("mine.toml", &changed);
    let run = format!("run ./mine.toml {SMALL} --set branches=1 --only read --with sqlite:wal,postgres");
    let result = place.dyno(&run).exits(0).without_panic();
    // Values stand as question marks, whatever the driver calls them.
    let reported = read.replace(":aid", "?");
    result.prints(&format!("the first of them because of this: no row came of {reported} AND aid > 25"));
    place.write("mine.toml", &changed.replace("aid > 25", "aid > 2500"));
    place
        .dyno(&run)
        .prints(&format!("no operation succeeded within the time: no row came of {reported} AND aid > 2500"));
    place.assert_clean();
}

#[test]
fn clients_that_think_do_less() {
    let place = Place::new();
    let with = "sqlite:wal,postgres";
    place
        .dyno(&format!("run bank {SMALL} --only read --clients 2 --think 20ms --with {with} -o run.jsonl"))
        .exits(0);
    for (label, sample) in samples(&read_json(&place.path("run.jsonl")), "read") {
        // A hundred in a second; as many in a few milliseconds without it.
        let done = sample["operations"].as_u64().unwrap();
        let most = sample["section"]["nanoseconds"].as_u64().unwrap() / 1_000_000;
        assert!((1..most).contains(&done), "{label}: {done}");
    }
    place.assert_clean();
}

#[test]
fn what_cannot_be_done_is_reported_before_anything_starts() {
    let place = Place::new();
    let refused = |arguments: &str, words: &str| {
        place.dyno(&format!("run {arguments}")).exits(2).without_panic().says(words);
    };
    refused("bank --clients 0 --with sqlite", "parameter clients is 0; the least allowed is 1");
    refused("bank --rate 1e9 --with sqlite", "take a lower rate");
    refused("bank --rate 100 --think 1s --with sqlite", "'--think <THINK>'");
    refused("bank --set rate=100 --think 1s --with sqlite", "use only one of them");
    refused("bank --sessions 5 --with sqlite", "needs a `rate`, as of --rate 100");
    refused("bank --clients 1,2 --n 3,4 --with sqlite", "take the one that yours has");
    refused("speedtest --clients 3 --with sqlite", "no parameter 'clients'");
    refused("bank --with lmdb", "LMDB has no SQL, and its mixes say nothing for stores of keys and values");
    refused("bank --sustain p99<10ms --with sqlite", "write what must hold as p99<=10ms");
    refused("bank --sustain p99<=10 --with sqlite", "10 has no unit: write 10ms or 10s");
    for (option, setting) in [("--rate 100", "rate=100"), ("--think 1s", "think=1")] {
        refused(&format!("bank --sustain p99<=10ms {option} --with sqlite"), "'--sustain <TARGET>'");
        refused(&format!("bank --sustain p99<=10ms --set {setting} --with sqlite"), "use only one of them");
    }
    refused("bank --sustain p99<=10ms --sessions 5 --with sqlite", "'--sustain <TARGET>'");
    refused("bank --sustain p99<=10ms --no-warm-up --with sqlite", "how much a contender does at most");
    place.dyno("calibrate bank --sustain p99<=10ms").exits(2).says("take a run without it");
    refused("speedtest --sustain p99<=10ms --with sqlite", "speedtest has none");
    refused("bank --clients 120 --with postgres", "postgres lets in 100 connections");
    refused("bank --clients 120 --with postgres", "postgres,max_connections=130");
    refused("bank --clients 60 --with mariadb,max_connections=50", "lets in 50 connections");
    refused("bank --clients 2 --with sqlite:memory", "those of one connection alone: take --clients 1");
    refused("app --with sqlite,locking_mode=EXCLUSIVE", "with locking_mode=EXCLUSIVE the data of");
    let suite = |from: &str, to: &str| {
        let text = std::fs::read_to_string(crate::common::repository().join("suites/bank.toml")).unwrap();
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        place.write("mine.toml", &changed);
    };
    suite("WHERE tid = :tid", "WHERE tid = :tiller");
    refused("./mine.toml --with sqlite", "no [test.values] has a source for the parameter 'tiller'");
    suite("WHERE tid = :tid", "WHERE tid = :teller.tid");
    refused("./mine.toml --with sqlite", "the parameter :teller.tid has no source");
    suite("delta = { from = -5000, to = 5000 }", "delta = { from = -5000, to = 5000, not = \"dleta\" }");
    refused(
        "./mine.toml --with sqlite",
        "no number of [test.values] that depends on no other is named 'dleta'",
    );
    suite(
        "[[test.class]]\nname = \"transfer\"",
        "[test.lists.leg]\nvalues.aid = { letters = 3 }\n[[test.class]]\nname = \"transfer\"",
    );
    refused("./mine.toml --with sqlite", "a list needs a `count`");
    suite("transaction = \"write\"", "weight = 0");
    refused("./mine.toml --with sqlite", "the weights of all classes are 0");
    suite("duration = \"duration\"", "");
    refused("./mine.toml --with sqlite", "a mix has one of the two");
    suite("to = \"branches\"", "to = \"branchs\"");
    refused("./mine.toml --with sqlite", "values.bid");
    suite("from = -5000", "from = 6000");
    refused("./mine.toml --with sqlite", "there is no number from 6000 to 5000");
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

#[test]
fn clients_that_may_not_open_their_files_are_reported() {
    let place = Place::new();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -n 200 && exec \"$0\" \"$@\""]).arg(place.command().get_program());
    limited.args(["run", "bank", "--clients", "64", "--with", "sqlite"]).current_dir(place.path(""));
    let result: crate::common::Result = limited.env("TMPDIR", place.path("data")).output().unwrap().into();
    result.exits(2).says("64 clients may need 292 open files, and this system allows a process 200");
    place.assert_clean();
}

/// The invariants of a test that did not hold with the first contender, in words.
fn broken(place: &Place, test: &str) -> Vec<String> {
    let verdict = place.dyno("show run.jsonl --format json").json();
    let all = verdict["verdict"]["invariants"].as_array().unwrap();
    let invariants = all.iter().find(|invariants| invariants["test"] == test).unwrap();
    let says = invariants["says"].as_array().unwrap().iter().map(|says| says.as_str().unwrap().to_owned());
    let line = invariants["lines"][0][1].as_array().unwrap();
    let broken = says.zip(line).filter(|(_, one)| one["held"] != one["trials"]);
    broken.map(|(says, _)| says).collect()
}

#[test]
fn rows_of_a_district_that_are_all_lost_are_missed() {
    let place = Place::new();
    let text = std::fs::read_to_string(crate::common::repository().join("suites/orders.toml")).unwrap();
    let lose = |table: &str, which: &str| {
        let delete = format!("DELETE FROM {table} WHERE {which}");
        format!("{delete};\nCREATE TRIGGER lose_{table} AFTER INSERT ON {table} BEGIN {delete}; END;\n")
    };
    let all = [
        ("orders", "o_d_id = 1"),
        ("order_line", "ol_d_id = 1"),
        ("new_order", "no_d_id = 1"),
        ("history", "1"),
    ];
    let lost: String = all.iter().map(|(table, which)| lose(table, which)).collect();
    let changed = text.replace(
        "COMMIT;\nCREATE INDEX customer_name",
        &format!("COMMIT;\n{lost}CREATE INDEX customer_name"),
    );
    assert_ne!(changed, text);
    place.write("mine.toml", &changed);
    let small = "--scale 0.01 --set warm_up=0 --clients 2 --duration 0.5s --trials 1 --no-warm-up --quiet";
    place.dyno(&format!("run ./mine.toml {small} --with sqlite:wal -o run.jsonl")).exits(3).without_panic();
    let broken = broken(&place, "trade");
    for begins in ["2:", "4:", "8:", "9:", "10:"] {
        assert!(broken.iter().any(|says| says.starts_with(begins)), "{begins} {broken:?}");
    }
}

#[test]
fn inserts_that_are_acknowledged_and_lost_are_missed() {
    let text = std::fs::read_to_string(crate::common::repository().join("suites/ycsb.toml")).unwrap();
    let upsert = "ON CONFLICT(id) DO UPDATE SET field = excluded.field;\n";
    let changed = text
        .replace(upsert, &format!("{upsert}@sqlite DELETE FROM record WHERE id = :new;\n"))
        .replace("@kv PUT record :new :value;", "@kv GET record :new;");
    assert_ne!(changed, text);
    let small =
        "--set records=300 --set warm_up=0.1 --duration 0.3s --trials 1 --no-warm-up --quiet --only d,e";
    for with in ["sqlite:wal", "lmdb", "pebble", "sqlite/sqlite3:wal"] {
        let place = Place::new();
        place.write("mine.toml", &changed);
        let run = format!("run ./mine.toml {small} --clients 2 --with {with} -o run.jsonl");
        let result = place.dyno(&run).exits(3).without_panic();
        for test in ["d", "e"] {
            assert_eq!(
                broken(&place, test),
                ["no key whose insert was acknowledged is lost"],
                "{with} {test}"
            );
        }
        result.prints("rows broke it");
    }
}

#[test]
fn a_check_without_an_expected_answer_is_compared_among_engines() {
    let place = Place::new();
    let mix = "name = \"mine\"\ntitle = \"Mine\"\nstory = \"\"\ncontenders = [\"sqlite:memory\"]\n[[test]]\nid = \"1\"\ntitle = \"T\"\n\
               shows = \"\"\nmodel = \"mix\"\nsetup = \"CREATE TABLE t(a INTEGER)\"\ncount = 3\n\
               check = \"SELECT count(*) FROM t\"\n[[test.class]]\nname = \"put\"\nstatements = \"INSERT INTO t VALUES(1)\"\n";
    place.write("mine.toml", mix);
    let run = "run ./mine.toml --trials 1 --no-warm-up --quiet --with sqlite:memory,sqlite:wal";
    let result = place.dyno(run).exits(0).without_panic();
    assert!(!result.stdout.contains("rong"), "{}", result.stdout);
    place.write(
        "mine.toml",
        &mix.replace("count(*)", "count(*), NULL").replace("count = 3", "count = 3\nclients = \"klients\""),
    );
    place.dyno("run ./mine.toml --trials 1").exits(2).says("there is no parameter 'klients'");
}
