//! `--delay`: the way between clients and servers, made longer by dyno's proxy.

use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::clients::samples;
use crate::common::{Place, read_json, wait_for};

const BANK: &str = "run bank --set accounts=50 --set warm_up=0.1 --set branches=1 --duration 0.5s --trials 1 \
                    --no-warm-up --quiet";

/// The fewest milliseconds that an operation of a test took in a run of three contenders. One may have begun before the
/// section.
fn least_ms(run: &Value, test: &str) -> f64 {
    let least = |sample: &Value| {
        let done = sample["operations"].as_f64().unwrap();
        assert!(done > 1.0, "{sample}");
        sample["section"]["nanoseconds"].as_f64().unwrap() / 1e6 / (done - 1.0)
    };
    let served = samples(run, test).into_iter().filter(|(label, _)| !label.starts_with("null"));
    let least: Vec<f64> = served.map(|(_, sample)| least(&sample)).collect();
    assert_eq!(least.len(), 3, "{run}");
    least.into_iter().fold(f64::INFINITY, f64::min)
}

#[test]
fn each_statement_waits_for_its_round_trip_on_sockets_of_both_protocols() {
    let place = Place::new();
    let with = "--with postgres,postgres/psycopg,mariadb --clients 1 --delay 8ms -o run.jsonl";
    let result = place.dyno(&format!("{BANK} {with}")).exits(0).without_panic();
    result.prints("each round trip to a server takes 8.00 ms longer");
    let run = read_json(&place.path("run.jsonl"));
    assert_eq!(run["limits"]["round_trip_ns"], 8_000_000);
    // A look-up is one round trip and a transfer at least six: five statements and the commit.
    assert!(least_ms(&run, "read") >= 8.0, "{run}");
    assert!(least_ms(&run, "transfer") >= 48.0, "{run}");
    place.dyno("verify run.jsonl").exits(0);
    place.dyno("rerun run.jsonl --quiet --out again.jsonl").exits(0);
    assert_eq!(read_json(&place.path("again.jsonl"))["limits"]["round_trip_ns"], 8_000_000);
    place.assert_clean();
}

#[test]
fn several_delays_are_a_curve_and_are_never_compared_as_one_network() {
    let place = Place::new();
    let with = "--with postgres,sqlite:wal --only read --clients 2 --delay 0,4ms";
    let result = place.dyno(&format!("{BANK} {with}")).exits(0).without_panic();
    let result = result.prints("delay_ms=0").prints("delay_ms=4");
    result.says("--delay delays nothing of sqlite:wal: its engine is within the client's process");
    let mut files: Vec<_> =
        fs::read_dir(place.path("results")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_by_key(|path| read_json(path)["limits"]["round_trip_ns"].as_u64());
    let [none, some] = &files[..] else { panic!("{files:?}") };
    let (none, some) = (none.display(), some.display());
    place.dyno(&format!("compare {none} {some}")).exits(2).says("different networks");
    place.dyno(&format!("scaling {none} {some} --format csv")).exits(0).prints("delay_ms");
    place.dyno(&format!("report {none} {some} -o page.html")).exits(0);
    place.dyno("history bank").exits(0).says("1 runs of other suites");
    // A network whose clients reach servers directly is another than one that adds nothing.
    place.dyno(&format!("{BANK} --with postgres --only read --clients 2 -o direct.jsonl")).exits(0);
    place.dyno(&format!("scaling direct.jsonl {none}")).exits(2).says("reached their servers directly");
    place.assert_clean();
}

#[test]
fn a_delay_that_nothing_would_meet_is_refused_before_anything_runs() {
    let place = Place::new();
    let refused = |arguments: &str, words: &str| {
        place.dyno(&format!("run bank --quiet {arguments}")).exits(2).without_panic().says(words);
    };
    refused("--with sqlite:wal --delay 1ms", "none of these contenders is a server");
    refused("--with postgres --delay 5", "write a unit, as in 5ms");
    refused("--with postgres --delay 11s", "at most 10 s");
    refused("--with postgres --clients 1,2 --delay 0,1ms", "several of one");
    refused("--with postgres --delay 0,1ms --gate time<=3%", "--gate judges one run");
    let url = "--url postgres://u@127.0.0.1:1/x?sslmode=verify-full";
    refused(&format!("{url} --delay 1ms"), "compare the host's name");
    assert!(!place.path("results").exists());
    place.assert_clean();
}

#[test]
fn an_interrupt_leaves_nothing_of_the_proxy() {
    let place = Place::new();
    let long = BANK.replace("--duration 0.5s", "--duration 60s");
    let child =
        place.start(&format!("{long} --with postgres --only read --clients 20 --delay 200ms -o run.jsonl"));
    wait_for("the run's first trial", 120, || {
        fs::read_to_string(place.path("run.jsonl")).is_ok_and(|text| !text.is_empty())
    });
    std::thread::sleep(Duration::from_secs(2));
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    place.assert_clean();
}
