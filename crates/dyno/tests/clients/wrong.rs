//! Operations that fail, rows that are lost, and what is refused.

use super::SMALL;
use crate::common::Place;

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
