//! `--why`: budgets that add up, and plans.

use serde_json::Value;

use crate::common::Place;

/// The parts of a budget, as files name them.
const PARTS: [&str; 7] =
    ["client_cpu_ns", "server_cpu_ns", "processor_ns", "flush_ns", "io_ns", "lock_ns", "unplaced_ns"];

/// The budgets of a run by test and contender; each adds up to its time.
fn lines(place: &Place) -> Vec<(String, Value)> {
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let tests = verdict["verdict"]["why"]["tests"].as_array().unwrap().clone();
    let of_test = |test: &Value| -> Vec<(String, Value)> {
        let id = test["test"].as_str().unwrap().to_owned();
        test["lines"].as_array().unwrap().iter().map(|line| (id.clone(), line.clone())).collect()
    };
    let lines: Vec<_> = tests.iter().flat_map(of_test).collect();
    for (test, line) in &lines {
        let sum: u64 = PARTS.iter().map(|part| line[part].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), line["wall_ns"].as_u64(), "{test}: {line}");
    }
    lines
}

#[test]
fn what_waits_for_the_disk_is_seen_where_it_waits() {
    let place = Place::new();
    let with = "--with sqlite,sqlite:memory --only 1,4 --trials 1 --no-warm-up --quiet -o run.jsonl";
    let shown = place.dyno(&format!("run speedtest --scale 0.3 --why {with}")).exits(0).without_panic();
    shown.prints("where the time went").prints("The parts add up to the time of the pass");
    let lines = lines(&place);
    assert_eq!(lines.len(), 4);
    let part = |place: usize, part: &str| lines[place].1[part].as_u64().unwrap();
    // Commits in memory have nothing to wait for, and a query of either has not.
    assert_eq!([part(1, "flush_ns"), part(2, "flush_ns"), part(3, "flush_ns")], [0, 0, 0]);
    assert!((0..4).all(|line| part(line, "client_cpu_ns") > 0 && part(line, "server_cpu_ns") == 0));
    let run = place.dyno("show run.jsonl --format csv").exits(0);
    assert!(run.stdout.lines().next().unwrap().contains("why_wall_ns,why_client_cpu_ns"));
    let run = crate::common::read_json(&place.path("run.jsonl"));
    let file_system = run["storage"]["file_system"].as_str().unwrap();
    assert_eq!(part(0, "flush_ns") > 0, file_system != "tmpfs", "{file_system}: {}", lines[0].1);
    // The pass is no measured trial.
    assert_eq!(run["trials"].as_array().unwrap().iter().filter(|trial| trial["watched"] == true).count(), 2);
    place.dyno("verify run.jsonl").exits(0);
    place.dyno("report run.jsonl -o page.html").exits(0);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("Where the time went") && page.contains("SCAN t2"));
    place.assert_clean();
}

const JOINED: &str = r#"
name = "joined"
title = "A join without an index"
story = "Two tables."
contenders = ["sqlite"]

[[test]]
id = "fill"
title = "Fill"
shows = "Two tables."
model = "statements"
prepares = true
statements = """
CREATE TABLE a(x INTEGER, y INTEGER);
CREATE TABLE b(x INTEGER, y INTEGER);
INSERT INTO a VALUES(1, 1), (2, 2), (3, 3);
INSERT INTO b VALUES(1, 1), (2, 2), (3, 3);
"""

[[test]]
id = "join"
title = "Join"
shows = "What the planner makes of it."
model = "statements"
statements = """
SELECT a.y, b.y FROM a JOIN b ON a.x = b.x ORDER BY 1;
SELECT a.y, b.y FROM a JOIN b ON a.x = b.x WHERE a.y > 2 ORDER BY 1;
SELECT count(*) FROM a;
"""
"#;

#[test]
fn plans_of_one_engine_that_differ_are_marked() {
    let place = Place::in_memory();
    place.write("joined.toml", JOINED);
    let with = "--with sqlite:memory,sqlite:memory,automatic_index=OFF --trials 1 --no-warm-up --quiet";
    let shown = place.dyno(&format!("run ./joined.toml --why {with} -o run.jsonl")).exits(0).without_panic();
    shown.prints("≠").prints("USING AUTOMATIC COVERING INDEX").prints("Plans: 3 statements");
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let plans = verdict["verdict"]["why"]["plans"].as_array().unwrap().clone();
    let differ: Vec<bool> = plans.iter().map(|plans| plans["differ"] == true).collect();
    assert_eq!(differ, [true, true, false], "{plans:?}");
    // A rerun asks for the same.
    place.dyno("rerun run.jsonl --trust --quiet --out again.jsonl").exits(0).prints("where the time went");
    place.assert_clean();
}

#[test]
fn clients_that_wait_for_one_another_wait_for_locks() {
    let place = Place::in_memory();
    let small = "--clients 4 --duration 1 --set warm_up=0.1 --trials 1 --no-warm-up --quiet -o run.jsonl";
    place.dyno(&format!("run bank --with sqlite:nosync --why {small}")).exits(0).without_panic();
    let lines = lines(&place);
    assert!(!lines.is_empty());
    assert!(lines.iter().any(|(_, line)| line["lock_ns"].as_u64() > Some(0)), "{lines:?}");
    let clients: Vec<(&str, u64)> =
        lines.iter().map(|(test, line)| (test.as_str(), line["clients"].as_u64().unwrap())).collect();
    assert_eq!(clients, [("open", 1), ("read", 4), ("transfer", 4)]);
    place.dyno("show run.jsonl").exits(0).prints("Of several clients each part is the mean");
    place.assert_clean();
}

#[test]
fn the_servers_time_is_its_own() {
    let place = Place::in_memory();
    // A test must be long enough for the looks that divide its time, also where the machine is busy.
    let small = "--scale 0.5 --only 4,6 --trials 1 --no-warm-up --quiet -o run.jsonl";
    place
        .dyno(&format!("run speedtest --with postgres:nosync,mariadb:nosync --why {small}"))
        .exits(0)
        .without_panic();
    let lines = lines(&place);
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|(_, line)| line["server_cpu_ns"].as_u64() > Some(0)), "{lines:?}");
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json().to_string();
    assert!(verdict.contains("Seq Scan on t2") && verdict.contains("SIMPLE | t2"), "{verdict}");
    place.assert_clean();
}

#[test]
fn clients_that_are_processes_are_refused_before_anything_runs() {
    let place = Place::in_memory();
    place.dyno("run bank --with sqlite:wal --why --processes --quiet").exits(2).without_panic();
    let refused = place.dyno("run bank --with sqlite:wal,processes=yes --why --quiet").exits(2);
    refused.without_panic().says("leave one of the two out");
}
