//! Clients that come and go: each session connects, does a few operations and leaves.

use serde_json::Value;

use crate::clients::samples;
use crate::common::{Place, read_json};

const SMALL: &str = "--set warm_up=0.1 --duration 0.5s --trials 1 --no-warm-up --quiet";

#[test]
fn sessions_connect_do_what_was_planned_and_leave() {
    let place = Place::new();
    let with = "sqlite,sqlite:wal,postgres,mariadb,sqlite/sqlite3:wal,postgres/psycopg,mariadb/pymysql,\
                postgres/asyncpg,mariadb/mysqlclient,sqlite/sqlalchemy:wal,sqlite/mattn:wal,sqlite/modernc,sqlite/gosqlite:wal,postgres/pgx,postgres/pq,mariadb/go-sql-driver";
    let run = format!(
        "run app {SMALL} --set users=50 --clients 3 --rate 200 --sessions 5 --with {with} -o run.jsonl --report run.html"
    );
    let result = place.dyno(&run).exits(0).without_panic().prints("sessions=5");
    let result = result.prints("Operations arrived in sessions").prints("postgres, connect");
    assert!(!result.stdout.contains("wrong") && !result.stdout.contains("failed"), "{}", result.stdout);
    let record = read_json(&place.path("run.jsonl"));
    assert_eq!(record["tests"][1]["load"], "sessions");
    let found = samples(&record, "use");
    // The null runner does it too.
    assert_eq!(found.len(), 17);
    for (label, sample) in found {
        let classes = sample["classes"].as_array().unwrap();
        let done = |class: &Value| class["done"].as_u64().unwrap();
        let (connect, pages) = classes.split_last().unwrap();
        assert_eq!(connect["class"], "connect", "{label}");
        // To connect is no operation. On average 100 operations arrive in 20 sessions; a busy machine does fewer.
        assert_eq!(sample["operations"].as_u64().unwrap(), pages.iter().map(done).sum::<u64>(), "{label}");
        let most = sample["section"]["nanoseconds"].as_u64().unwrap() / 1_000_000_000 * 90 + 45;
        assert!((1..=most).contains(&done(connect)), "{label}: {connect}");
        for part in ["response", "service", "wait", "late"] {
            assert!(connect[part].as_str().unwrap().starts_with("HISTFAAA"), "{label}: {part}");
        }
        assert!(pages.iter().all(|page| page["wait"].is_null()), "{label}");
    }
    let verdict = place.dyno("show run.jsonl --format json").exits(0).json();
    let rankings = verdict["verdict"]["rankings"].as_array().unwrap();
    assert!(rankings.iter().all(|ranking| ranking["load"] == "sessions"), "{rankings:?}");
    let csv = place.dyno("show run.jsonl --format csv").exits(0).stdout;
    assert!(csv.contains(",sessions,threads,"), "{csv}");
    assert!(std::fs::read_to_string(place.path("run.html")).unwrap().contains("connect"));
    place.assert_clean();
}

#[test]
fn one_kind_of_load_is_not_held_against_another() {
    let place = Place::new();
    let bank = format!("run bank {SMALL} --set accounts=50 --only read --clients 2 --with sqlite:wal");
    for (load, file) in [("", "closed"), ("--rate 200", "open"), ("--rate 200 --sessions 2", "sessions")] {
        place.dyno(&format!("{bank} {load} -o {file}.jsonl")).exits(0).without_panic();
    }
    for (one, other) in [("closed", "open"), ("closed", "sessions"), ("open", "sessions")] {
        let message = format!("the load of one run is {one} and that of another {other}");
        place.dyno(&format!("compare {one}.jsonl {other}.jsonl")).exits(2).without_panic().says(&message);
        let result = place.dyno(&format!("scaling {one}.jsonl {other}.jsonl"));
        result.exits(2).without_panic().says("one says nothing of the other");
    }
    place.assert_clean();
}

#[test]
fn a_history_has_one_load() {
    let place = Place::new();
    std::fs::create_dir(place.path("results")).unwrap();
    let text = std::fs::read_to_string(crate::common::repository().join("suites/bank.toml")).unwrap();
    let small =
        "--set warm_up=0.1 --duration 0.3s --set accounts=50 --only transfer --with sqlite:wal --quiet";
    // The last two ask for the same, and none of the others does. How many clients there are stands in the text of some
    // suites, and is no parameter.
    let runs = [
        ("--clients 2 --trials 1 --no-warm-up", None),
        ("--clients 2 --trials 3 --sustain p99<=10ms", None),
        ("--clients 2 --trials 3 --sustain p99<=11ms", None),
        ("--trials 1 --no-warm-up", Some(2)),
        ("--trials 1 --no-warm-up", Some(3)),
        ("--trials 1 --no-warm-up", Some(3)),
    ];
    for (number, (load, fixed)) in runs.into_iter().enumerate() {
        let clients = fixed.map_or("\"clients\"".to_owned(), |clients: u32| clients.to_string());
        place.write("own.toml", &text.replace("clients = \"clients\"", &format!("clients = {clients}")));
        place
            .dyno(&format!("run ./own.toml {small} {load} -o results/{number}.jsonl"))
            .exits(0)
            .without_panic();
        let result = place.dyno("history bank --test transfer").exits(0).without_panic();
        let others = runs[..number].iter().filter(|other| **other != (load, fixed)).count();
        if others > 0 {
            result
                .says(&format!("{others} runs of other suites, with other parameters or under another load"));
        }
    }
    place.assert_clean();
}

#[test]
fn sessions_that_cannot_be_are_refused_before_anything_starts() {
    let place = Place::new();
    let refused = |arguments: &str, words: &str| {
        place.dyno(&format!("run {arguments}")).exits(2).without_panic().says(words);
    };
    refused("bank --sessions 0 --rate 10 --with sqlite", "0 is not in 1..");
    refused(
        "bank --sessions 5 --with sqlite",
        "needs a `rate`, as of --rate 100: the operations of all sessions that arrive in a second",
    );
    refused("bank --sessions 20000 --rate 10 --with sqlite", "a session has 1 to 10000 operations");
    refused("bank --set sessions=-1 --rate 10 --with sqlite", "the least allowed is 0");
    refused("speedtest --sessions 5 --with sqlite", "no parameter 'sessions'");
    refused("bank --sessions 5 --sustain p99<=10ms --with sqlite", "'--sustain <TARGET>'");
    refused("bank --set sessions=5 --sustain p99<=10ms --set rate=1 --with sqlite", "use only one of them");
    refused("ycsb --sessions 5 --rate 10 --with lmdb", "the clients of lmdb cannot come and go");
    refused("ycsb --sessions 5 --rate 10 --with pebble", "the clients of pebble cannot come and go");
    let text = std::fs::read_to_string(crate::common::repository().join("suites/bank.toml")).unwrap();
    place.write("mine.toml", &text.replacen("name = \"look-up\"", "name = \"connect\"", 1));
    refused("./mine.toml --sessions 5 --rate 10 --with sqlite", "so no class has that name");
    place.write("mine.toml", &text.replacen("sessions = \"sessions\"", "sessions = 3", 1));
    refused("./mine.toml --rate 10 --with sqlite", "take a run for each (--only)");
    place.assert_clean();
}
