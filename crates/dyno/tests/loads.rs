//! What a mix asks of its clients over the time and of some of them alone, on real engines.

use serde_json::Value;

use crate::clients::samples;
use crate::common::{Place, Result, read_json};

/// A suite whose mix has these keys and classes.
fn suite(keys: &str, classes: &str) -> String {
    format!(
        r#"name = "own"
title = "A mix"
story = ""
figure = "rate"
contenders = ["sqlite:wal"]
parameters.clients = {{ default = 4, about = "how many" }}
parameters.rate = {{ default = 0, min = 0, over_time = true, about = "how many a second" }}
[[test]]
id = "make"
title = "Make"
shows = "A table."
model = "statements"
prepares = true
statements = """
CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO t VALUES(1,0),(2,0),(3,0);
"""
[[test]]
id = "mix"
title = "Mix"
shows = "Classes."
model = "mix"
needs = ["make"]
clients = "clients"
rate = "rate"
{keys}
check = "SELECT count(*) FROM t WHERE n < 0"
expect = [[0]]
values.id = {{ from = 1, to = 3 }}
{classes}
"#
    )
}

const READ: &str = "[[test.class]]\nname = \"read\"\nstatements = \"SELECT n FROM t WHERE id = :id\"\n";
const WRITE: &str =
    "[[test.class]]\nname = \"write\"\nstatements = \"UPDATE t SET n = n + 1 WHERE id = :id\"\n";
const RUN: &str = "--trials 1 --no-warm-up --quiet -o run.jsonl";

/// Runs dyno with arguments that may have spaces in them.
fn run(place: &Place, arguments: &[&str]) -> Result {
    let mut command = place.command();
    command.arg("run").args(arguments).args(RUN.split_whitespace());
    command.output().unwrap().into()
}

/// How many operations of a class were done in each second, by contender.
fn by_second(run_file: &Value, class: usize) -> Vec<(String, Vec<u64>)> {
    let done = |tick: &Value| tick["classes"][class]["done"].as_u64().unwrap();
    let found = samples(run_file, "mix").into_iter();
    found
        .map(|(label, sample)| (label, sample["ticks"].as_array().unwrap().iter().map(done).collect()))
        .collect()
}

#[test]
fn one_writer_writes_beside_readers() {
    let place = Place::new();
    // A mix of so many operations a client says who did what.
    let classes = format!("{READ}{WRITE}clients = 1\n");
    place.write("own.toml", &suite("count = 200", &classes));
    let with = "--with sqlite:wal,postgres,sqlite/sqlite3:wal,sqlite/mattn:wal";
    place.dyno(&format!("run ./own.toml {with} {RUN}")).exits(0).without_panic();
    let run_file = read_json(&place.path("run.jsonl"));
    let found = samples(&run_file, "mix");
    assert_eq!(found.len(), 4);
    for (label, sample) in found {
        let done = |class: usize| sample["classes"][class]["done"].as_u64().unwrap();
        assert_eq!((done(0), done(1)), (600, 200), "{label}");
    }
    // Refused with the line where nobody is left, and where operations come to whoever is free.
    place
        .dyno(&format!("run ./own.toml --clients 1 {RUN}"))
        .exits(2)
        .says("none is left for read: take --clients 2");
    place.write("own.toml", &suite("duration = 1", &classes));
    let refused = place.dyno(&format!("run ./own.toml --rate 50 {RUN}")).exits(2);
    refused.says("own.toml:").says("`clients` of write does not go with a `rate`");
    place.assert_clean();
}

#[test]
fn a_rate_and_weights_follow_their_course() {
    let place = Place::new();
    let classes = format!("{READ}weight = \"0s 1, 2s 1, 2s 0\"\n{WRITE}weight = \"0s 0, 2s 0, 2s 1\"\n");
    place.write("own.toml", &suite("duration = 3", &classes));
    let rate = "0s 100, 1s 100, 1s 400";
    run(&place, &["./own.toml", "--rate", rate, "--with", "sqlite:wal,postgres"]).exits(0);
    let run_file = read_json(&place.path("run.jsonl"));
    assert_eq!(run_file["tests"][1]["clients"]["course"], rate);
    assert!((run_file["tests"][1]["clients"]["rate"].as_f64().unwrap() - 300.0).abs() < 0.01);
    for (label, reads) in by_second(&run_file, 0) {
        // Within five standard deviations of a Poisson process.
        assert!(
            reads[0].abs_diff(100) < 50 && reads[1].abs_diff(400) < 100 && reads[2] < 5,
            "{label}: {reads:?}"
        );
    }
    for (label, writes) in by_second(&run_file, 1) {
        assert!(writes[0] + writes[1] == 0 && writes[2].abs_diff(400) < 100, "{label}: {writes:?}");
    }
    // Without a rate no operation has a moment.
    let refused = place.dyno(&format!("run ./own.toml {RUN}")).exits(2);
    refused.says("own.toml:").says("changes over time, which needs a `rate`");
    run(&place, &["bank", "--rate", "0s 100, 5x 2"]).exits(2).says("'5x' is no time");
    place.assert_clean();
}
