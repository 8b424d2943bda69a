//! Every command, as a person types it, on the real SQLite at a small scale.

mod compared;
mod help;
mod listed;
mod terminal;

use crate::common::{Place, read_json};

const SMALL: &str = "run speedtest --scale 0.02 --quiet";

#[test]
fn a_run_prints_a_table_of_at_most_100_columns_and_keeps_a_file() {
    let place = Place::new();
    let result = place.dyno(&format!("{SMALL} --trials 2 --seed 7")).exits(0).without_panic();
    let result = result.prints("25000".replace("25000", "500 INSERTs in a transaction").as_str());
    let result = result.prints("power-loss").prints("process-crash").prints("Seed 7");
    let widest = result.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{}", result.stdout);
    let run = place.run_file();
    assert_eq!((&run["schema"], &run["ended"]), (&"dyno-run/2".into(), &"trials".into()));
    // Two contenders and the harness, in a warm-up block and two measured ones.
    assert_eq!(run["trials"].as_array().unwrap().len(), 9);
    place.assert_clean();
}

#[test]
fn more_contenders_than_fit_go_into_more_tables() {
    let place = Place::new();
    let contenders =
        "sqlite,sqlite:nosync,sqlite:wal,sqlite:wal-normal,sqlite:extra,sqlite:memory,sqlite:tuned";
    let result = place.dyno(&format!("{SMALL} --trials 1 --only 1-2 --with {contenders}")).exits(0);
    let widest = result.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 100, "{widest} columns:\n{}", result.stdout);
    for label in contenders.split(',') {
        assert!(result.stdout.contains(label), "{label} is not shown");
    }
}

#[test]
fn show_says_again_what_run_said() {
    let place = Place::new();
    for format in ["table", "json", "csv", "markdown", "html"] {
        let file = format!("{format}.json");
        let run = place.dyno(&format!("{SMALL} --trials 1 --only 3 --format {format} -o {file}")).exits(0);
        let show = place.dyno(&format!("show {file} --format {format}")).exits(0);
        assert_eq!(run.stdout, show.stdout, "{format}");
    }
}

#[test]
fn show_takes_the_newest_run() {
    let place = Place::new();
    place.dyno("show").exits(2).says("there is no folder results");
    place.dyno("run speedtest --trials 1 --only 15 --with sqlite:memory --quiet -o results/a.json").exits(0);
    place.dyno("show --published").exits(0).prints("SQLite 2.7.0").prints("other hardware");
    // Figures of another size would be compared with other work.
    place.dyno(&format!("{SMALL} --trials 1 --only 15 -o results/b.json")).exits(0);
    let result = place.dyno("show --published").exits(0).prints("no published figures for these parameters");
    assert!(!result.stdout.contains("SQLite 2.7.0"), "{}", result.stdout);
}

#[test]
fn rerun_does_the_same_again() {
    let place = Place::new();
    place
        .dyno(&format!("{SMALL} --trials 1 --only 2-3 --with sqlite:wal,cache_size=-512 -o a.json"))
        .exits(0);
    place.dyno("rerun a.json -o b.json --quiet").exits(0);
    let (a, b) = (read_json(&place.path("a.json")), read_json(&place.path("b.json")));
    for key in ["suite", "schedule", "contenders", "tests", "baseline", "answers"] {
        assert_eq!(a[key], b[key], "{key}");
    }
    let order = |run: &serde_json::Value| -> Vec<_> {
        run["trials"].as_array().unwrap().iter().map(|trial| trial["contender"].clone()).collect()
    };
    assert_eq!(order(&a), order(&b));
}

#[test]
fn rerun_runs_where_it_ran_before_and_elsewhere_when_asked() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 1 --only 15 --with sqlite:memory -o first.json")).exits(0);
    // A CPU that dyno may use and would not choose for the measured process.
    let other = read_json(&place.path("first.json"))["placement"]["dyno_cpus"][0].clone();
    let asked = format!("--cpus {other} --nice 3 --placement split --timeout 77s");
    place.dyno(&format!("{SMALL} --trials 1 --only 15 --with sqlite:memory {asked} -o a.json")).exits(0);
    place.dyno("rerun a.json -o b.json --quiet").exits(0);
    let (a, b) = (read_json(&place.path("a.json")), read_json(&place.path("b.json")));
    assert_eq!(a["wanted"], serde_json::json!({"cpus": other.to_string(), "nice": 3, "pairing": "split"}));
    for key in ["wanted", "placement", "schedule"] {
        assert_eq!(a[key], b[key], "{key}");
    }
    place.dyno("rerun a.json -o c.json --quiet --nice 5 --timeout 78s").exits(0);
    let c = read_json(&place.path("c.json"));
    assert_eq!((&c["wanted"]["nice"], &c["wanted"]["cpus"]), (&5.into(), &b["wanted"]["cpus"]));
    assert_eq!(
        (&c["placement"]["nice"], &c["schedule"]["timeout_ns"]),
        (&5.into(), &78_000_000_000u64.into())
    );
}

#[test]
fn only_runs_what_is_needed() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 1 --only 6")).exits(0).prints("geometric mean, 1 test");
    let run = place.run_file();
    let ids: Vec<_> = run["tests"].as_array().unwrap().iter().map(|test| test["id"].clone()).collect();
    assert_eq!(ids, ["2", "5", "6"]);
}

#[test]
fn rates_stand_beside_no_ratio_of_times() {
    let place = Place::new();
    let run = "run kv --n 300 --trials 2 --only insert-int,select-int --quiet --with sqlite:memory,lmdb -o run.json";
    let table = place.dyno(run).exits(0).stdout;
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("/s")).collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows.iter().all(|row| row.contains("× slower") || row.contains("× faster")), "{table}");
    let page = place.dyno("show run.json --format markdown").exits(0).stdout;
    assert!(page.contains("× slower") || page.contains("× faster"), "{page}");
}

#[test]
fn notes_that_most_readers_do_not_need_are_shown_when_asked_for() {
    let place = Place::new();
    let brief = place.dyno(&format!("{SMALL} --trials 1 --only 15 -o run.json")).exits(0);
    let settings = "journal_mode=DELETE";
    assert!(!brief.stdout.contains(settings), "{}", brief.stdout);
    let brief = brief.prints("dyno show --notes").prints("Measured: sqlite 3.");
    let full = place.dyno("show run.json --notes").exits(0).prints(settings).prints("Survives power-loss");
    assert!(full.stdout.lines().count() > brief.stdout.lines().count(), "{}", full.stdout);
    // The page keeps all of it.
    place.dyno("show run.json --format markdown").exits(0).prints("Measuring itself takes at most");
}

#[test]
fn settings_of_ones_own_are_asked_for_and_decide_the_level() {
    let place = Place::new();
    let contenders = "sqlite:wal,synchronous=OFF,page_size=8192";
    place
        .dyno(&format!("{SMALL} --trials 1 --only 15 --with {contenders}"))
        .exits(0)
        .prints("page_size=8192");
    let run = place.run_file();
    let contender = &run["contenders"][0];
    assert_eq!(contender["safety"]["level"], "process-crash");
    assert_eq!(contender["safety"]["standing"], "read-back");
    let settings = contender["hello"]["settings"].as_array().unwrap();
    assert!(settings.iter().any(|s| s["name"] == "page_size" && s["value"] == "8192"), "{settings:?}");
}

#[test]
fn bad_input_is_reported_and_exits_with_2() {
    let place = Place::new();
    let typo = "name = \"x\"\ntitle = \"X\"\nstory = \"\"\ncontenders = [\"sqlite\"]\n[[tets]]\n";
    place.write("typo.toml", typo);
    place.write("not-a-run.json", "{}");
    for (arguments, message) in [
        ("run nosuch", "there is no suite 'nosuch'"),
        ("run ./typo.toml", "typo.toml:5:"),
        ("run ./missing.toml", "missing.toml"),
        ("run speedtest --with oracle", "there is no engine 'oracle'"),
        ("run speedtest --with sqlite:wall", "no profile 'wall'"),
        ("run speedtest --with sqlite/go", "no driver 'go'"),
        ("run speedtest --with sqlite@/no/such/lib.so", "/no/such/lib.so"),
        ("run speedtest --with sqlite,sqlite", "named twice"),
        ("run speedtest --with sqlite --baseline sqlite:wal", "not among the contenders"),
        ("run speedtest --only 16", "no test '16'"),
        ("run speedtest --scale huge", "'huge'"),
        ("run speedtest --scale 0", "0.01"),
        ("run speedtest --set colour=red", "no parameter 'colour'"),
        ("run speedtest --set colour", "name=value"),
        ("run speedtest --cpus 4096", "4096"),
        ("run speedtest --trials 0", "0"),
        ("run speedtest --budget soon", "90s"),
        ("run speedtest --dir /no/such/folder", "/no/such/folder"),
        ("conformance sqlite --dir typo.toml", "it is no folder"),
        ("show missing.json", "missing.json"),
        ("show typo.toml", "not a run file"),
        ("show not-a-run.json", "names no schema"),
        ("compare not-a-run.json not-a-run.json", "names no schema"),
        ("conformance oracle", "there is no engine 'oracle'"),
        ("frobnicate", "frobnicate"),
        ("speedtest", "`dyno run speedtest` runs that suite"),
        ("typo.toml", "`dyno run typo.toml` runs that suite"),
        ("sqlite:wal", "`dyno run speedtest --with sqlite:wal` measures it"),
        ("lmdb", "`dyno run kv --with lmdb` measures it"),
        ("run sqlite/c", "`dyno run speedtest --with sqlite/c` measures it"),
        ("run sqlite:wal", "`dyno run speedtest --with sqlite:wal` measures it"),
    ] {
        let result = place.dyno(arguments).without_panic().says(message);
        assert_eq!(result.code, Some(2), "{arguments}: {}", result.stderr);
        assert_eq!(result.stdout, "", "{arguments}");
    }
    place.assert_clean();
}
