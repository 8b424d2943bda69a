//! Operations that arrive at a rate, and the highest rate at which a target holds.

use serde_json::Value;

use super::{SMALL, samples};
use crate::common::{Place, read_json};

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
    // Each rate is that of one run, and a busy machine may sustain no rate.
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
