//! Every command, as a person types it, on the real SQLite at a small scale.

use std::fs;

use crate::common::{Place, is_thorough, read_json, run_file};

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
fn compare_reports_what_is_slower() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 6 --only 2-3 --with sqlite:memory -o run.json")).exits(0);
    // Durations as of a quiet machine, so that what is compared is known.
    let timed = |factor: u64| {
        let mut run = read_json(&place.path("run.json"));
        // The null runner's stay: they are the floor below which nothing is claimed.
        for trial in run["trials"].as_array_mut().unwrap().iter_mut().filter(|trial| trial["contender"] == 0)
        {
            let time = factor * (5_000_000 + 1000 * trial["block"].as_u64().unwrap());
            for sample in trial["samples"].as_array_mut().unwrap() {
                sample["section"]["nanoseconds"] = time.into();
                sample["section"]["client"]["wait_ns"] = 0.into();
            }
        }
        run_file(&run)
    };
    place.write("old.json", &timed(1));
    place.write("slow.json", &timed(3));
    let mut same = read_json(&place.path("old.json"));
    same["started"] = "2026-01-02T03:04:05Z".into();
    place.write("same.json", &run_file(&same));
    place.dyno("compare old.json old.json").exits(0).says("hold the same run, so that nothing can differ");
    place.dyno("compare old.json slow.json").exits(0).prints("slower");
    let gate = |arguments: &str, code: i32, last: &str| {
        let result = place.dyno(&format!("compare {arguments}")).exits(code);
        assert_eq!(result.stdout.lines().last(), Some(last), "{arguments}");
        assert_eq!(result.stderr, "", "{arguments}: it could come before the table");
        let csv = place.dyno(&format!("compare {arguments} --format csv")).exits(code);
        assert_eq!(csv.stderr.lines().last(), Some(last), "{arguments}: no line of the CSV");
        result
    };
    // 5 is 5 %, as 5% is.
    for share in ["5%", "5", "0.05"] {
        let slower = gate(
            &format!("old.json slow.json --fail-slower {share}"),
            1,
            "gate: 2 of 2 exceed time by more than 5 %",
        );
        slower
            .prints("sqlite:memory, test 2: +200.000 % time; 5 % is allowed")
            .prints("sqlite:memory: slower in 2 of 2 tests (2, 3), faster in 0 of 2");
    }
    gate("slow.json old.json --fail-slower 5%", 0, "gate: 0 of 2 exceed time by more than 5 %")
        .prints("faster");
    gate("old.json same.json --fail-slower 5%", 0, "gate: 0 of 2 exceed time by more than 5 %").prints("≈");
    let close = "gate: 0 of 2 exceed time by more than 0 %, 2 undecided (more trials or a quieter machine decide them)";
    gate("old.json same.json --fail-slower 0%", 5, close);
    let mut few = read_json(&place.path("slow.json"));
    few["trials"].as_array_mut().unwrap().retain(|trial| trial["block"].as_u64().unwrap() <= 2);
    place.write("few.json", &run_file(&few));
    // Three times as slow in both of two trials, which show nothing yet.
    let unknown = "gate: 0 of 2 exceed time by more than 5 %, 2 undecided (2 trials; take 6)";
    gate("old.json few.json --fail-slower 5%", 5, unknown).prints("too few samples in 2");
    gate("old.json few.json --gate time<=+5%", 5, unknown);
    // Neither run counted instructions: what was not compared does not pass.
    let idle = "gate: 0 of 2 exceed time by more than 5 %, or instructions by more than 1 %; undecided, because \
                there was nothing to compare in instructions";
    gate("old.json same.json --gate time<=+5%,instructions<=1%", 5, idle);
    for format in ["json", "csv", "markdown"] {
        place.dyno(&format!("compare old.json slow.json --format {format}")).exits(0).prints("slower");
    }
}

#[test]
fn a_gate_does_not_pass_what_is_not_measured_any_more() {
    let place = Place::new();
    let run = |rest: &str| place.dyno(&format!("{SMALL} --trials 1 --no-warm-up {rest}")).exits(0);
    run("--only 2,15 --with sqlite:memory,sqlite:memory,cache_size=-3000 -o both.json");
    run("--only 2,15 --with sqlite:memory -o one.json");
    run("--only 15 --with sqlite:memory,sqlite:memory,cache_size=-3000 -o short.json");
    let gate = |runs: &str, code: i32| place.dyno(&format!("compare {runs} --gate time<=+900%")).exits(code);
    gate("both.json one.json", 1)
        .prints("sqlite:memory,cache_size=-3000: only in the old run, so nothing holds it to a limit")
        .prints("gate: 1 of 3 exceed time by more than 900 %");
    gate("both.json short.json", 1).prints("test 2: only in the old run");
    // The old run has no figures of what is new, and one trial decides nothing.
    gate("one.json both.json", 5);
    gate("short.json both.json", 5);
}

#[test]
fn contenders_of_other_names_are_compared() {
    let place = Place::new();
    place.dyno(&format!("{SMALL} --trials 2 --only 15 --with sqlite,sqlite:wal -o run.json")).exits(0);
    place
        .dyno("compare run.json run.json --as sqlite=sqlite:wal")
        .exits(0)
        .prints("sqlite → sqlite:wal")
        .prints("only in the old run, and not compared: sqlite:wal (of the old run)");
    // Its place was taken on purpose, so that no limit holds for it; two trials decide nothing.
    place.dyno("compare run.json run.json --as sqlite=sqlite:wal --gate time<=+900%").exits(5);
    place
        .dyno("compare run.json run.json --as sqlite=lmdb")
        .exits(2)
        .says("'sqlite=lmdb' is not: the old run has sqlite, sqlite:wal, the new run sqlite, sqlite:wal");
}

#[test]
fn list_names_what_is_here_and_what_is_missing() {
    let place = Place::new();
    let list = place.dyno("list").exits(0).prints("speedtest").prints("wal-normal").prints("3.54");
    assert!(list.stdout.lines().count() <= 60, "more than a screen:\n{}", list.stdout);
    assert!(list.stdout.lines().all(|line| line.chars().count() <= 100), "{}", list.stdout);
    let listing = place.dyno("list --format json").exits(0).json();
    let engines = listing["engines"].as_array().unwrap();
    // Every engine and suite has its line, and what is missing its command: a driver that no engine has, by its name alone.
    let drivers: Vec<_> = engines.iter().flat_map(|engine| engine["drivers"].as_array().unwrap()).collect();
    let is_nowhere = |name: &serde_json::Value| {
        drivers.iter().all(|other| other["driver"] != *name || other["missing"].is_string())
    };
    for engine in engines.iter().filter(|engine| engine["harness"] == false) {
        let name = engine["name"].as_str().unwrap();
        assert!(list.stdout.contains(&format!("\n  {name} ")), "{name} is not in:\n{}", list.stdout);
        for driver in engine["drivers"].as_array().unwrap() {
            assert!(driver["version"].is_string() != driver["missing"].is_string(), "{driver}");
            let contender = driver["contender"].as_str().unwrap();
            let is_missing = list.stdout.split("\nMissing").nth(1).is_some_and(|missing| {
                let lone = Some(&driver["driver"])
                    .filter(|driver| is_nowhere(driver))
                    .and_then(|name| name.as_str());
                missing.split_whitespace().any(|word| [contender, name].contains(&word) || Some(word) == lone)
            });
            assert_eq!(is_missing, driver["missing"].is_string(), "{contender}:\n{}", list.stdout);
        }
    }
    for suite in listing["suites"].as_array().unwrap() {
        list.stdout.lines().find(|line| line.contains(suite["title"].as_str().unwrap())).unwrap();
    }
    let sqlite = engines.iter().find(|engine| engine["name"] == "sqlite").unwrap();
    assert!(sqlite["drivers"][0]["version"].is_string());
    // Every profile claims a level and says why.
    for profile in sqlite["profiles"].as_array().unwrap() {
        assert!(profile["level"].is_string() && !profile["reason"].as_str().unwrap().is_empty(), "{profile}");
        assert!(profile["link"].as_str().unwrap().starts_with("https://"), "{profile}");
    }
}

#[test]
fn list_checks_a_suite_without_running_it() {
    let place = Place::new();
    let text = fs::read_to_string(crate::common::repository().join("suites/speedtest.toml")).unwrap();
    place.write("my.toml", &text);
    place.dyno("list ./my.toml").exits(0).prints("What one small transaction costs").prints("scale=1");
    assert!(!place.path("results").exists());
    place.assert_clean();
    let bad = "name = \"my\"\ntitle = \"T\"\nstory = \"\"\ncontenders = [\"sqlite\"]\n[[test]]\nid = \"1\"\ntitle = \"T\"\n\
               shows = \"\"\nmodel = \"statements\"\nstatements = \"SELECT {{ wrods }};\"\n";
    place.write("my.toml", bad);
    place.dyno("list my.toml").exits(2).says("my.toml:10: test 1: ").says("wrods");
    place.write("my.toml", &bad.replace("wrods", "1").replace("sqlite", "sqlight"));
    place.dyno("list my.toml").exits(2).says("did you mean sqlite?");
    let more = "contenders = [\"sqlite:memory\"]\nmore_contenders = [\"sqlite:nosync\"]\n";
    let good = bad.replace("wrods", "1").replace("contenders = [\"sqlite\"]\n", more);
    place.write("my.toml", &good.replace("sqlite:nosync", "sqlight"));
    place.dyno("list my.toml").exits(2).says("did you mean sqlite?");
    place.write("my.toml", &good);
    place.dyno("list my.toml").exits(0).prints("Further contenders (dyno run my --all)\n  sqlite:nosync");
    place.assert_clean();
    let shown = |result: &crate::common::Result| result.stdout.contains("sqlite:nosync");
    assert!(!shown(&place.dyno("run ./my.toml --trials 1 --quiet").exits(0)));
    assert!(shown(&place.dyno("run ./my.toml --trials 1 --quiet --all").exits(0)));
    place.dyno("run ./my.toml --all --with sqlite").exits(2).says("cannot be used with");
    place.dyno("run speedtest --all").exits(2).says("speedtest has no further contenders");
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

/// The output of dyno on a terminal with a number of columns.
fn on_terminal(place: &Place, columns: usize, arguments: &str) -> String {
    let dyno = place.command().get_program().to_string_lossy().into_owned();
    let command = format!("stty rows 40 cols {columns}; {dyno} {arguments}");
    let output = std::process::Command::new("script").args(["-qec", &command, "/dev/null"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().replace('\r', "")
}

#[test]
fn a_table_takes_the_width_of_its_terminal() {
    let place = Place::new();
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/run.json");
    let at = |columns: usize| on_terminal(&place, columns, &format!("show {run} --color never"));
    for columns in [60, 80, 100, 200] {
        let text = at(columns);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{text}");
        assert!(text.contains("61.0 ms ±4%"), "{columns}:\n{text}");
    }
    // With enough room nothing is cut and every ratio has its interval.
    let wide = at(200);
    assert!(
        wide.contains("2500 INSERTs in a transaction") && wide.contains("0.0461× (0.0445–0.0480)"),
        "{wide}"
    );
}

#[test]
fn further_tables_and_lists_keep_to_a_narrow_terminal() {
    let place = if is_thorough() { Place::new() } else { Place::with_runner_and_few_others("exit 0") };
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/run.json");
    let all = format!("show {run} --color never --costs --notes --published --tax");
    for columns in [60, 80, 120, 200] {
        // The list is at most 100 columns wide, which another test checks, and starts every runner.
        let list = [("list", "wal-normal")].into_iter().filter(|_| columns < 100);
        for (arguments, holds) in
            [(all.as_str(), "CPU system"), ("doctor", "file system")].into_iter().chain(list)
        {
            let text = on_terminal(&place, columns, arguments);
            assert!(text.contains(holds), "{columns}:\n{text}");
            let over = text.lines().find(|line| line.chars().count() > columns);
            assert_eq!(over, None, "{arguments} in {columns} columns:\n{text}");
        }
    }
}

#[test]
fn list_shows_all_of_an_engine_or_a_suite() {
    let place = Place::new();
    let engine = place.dyno("list sqlite").exits(0).prints("sqlite:wal-normal").prints("synchronous=NORMAL");
    let engine = engine.prints("sqlite/c+multirow").prints("sqlite@system").prints("process-crash.");
    assert!(!engine.stdout.contains("postgres"), "{}", engine.stdout);
    let json = place.dyno("list sqlite --format json").exits(0).json();
    assert_eq!((json["engines"].as_array().unwrap().len(), json["suites"].as_array().unwrap().len()), (1, 0));
    let caveat = "is not itself synced";
    assert!(engine.stdout.split_whitespace().collect::<Vec<_>>().join(" ").matches(caveat).count() <= 1);
    place.dyno("list kv").exits(0).prints("select-blob").prints("n=5000").prints("lmdb:per-commit");
    place.dyno("list oracle").exits(2).says("no engine and no suite 'oracle'").says("postgres").says("kv");
}

#[test]
fn a_runner_that_is_not_built_comes_with_the_command_that_builds_it() {
    // Its program is where nothing is.
    let place = Place::with_runner_and_few_others("exit 0");
    std::fs::remove_file(place.path("home/runners/fake/run.sh")).unwrap();
    let list = place.dyno("list").exits(0);
    let (_, missing) = list.stdout.split_once("\nMissing").unwrap();
    assert!(missing.contains("  nothing: fake"), "{}", list.stdout);
    place.dyno("list fake").exits(0).prints("build it with `nothing`");
}

#[test]
fn an_engines_only_driver_is_its_default_and_of_several_one_must_be_named() {
    let place = Place::with_runner("exit 0");
    let file = place.path("home/runners/fake/runner.toml");
    let one = std::fs::read_to_string(&file).unwrap().replace("default = true\n", "");
    std::fs::write(&file, &one).unwrap();
    let run = "run speedtest --only 1 --trials 1 --no-warm-up --with fake";
    // It is started, and ends at once.
    let started = place.dyno(run).without_panic();
    assert!(!started.stderr.contains("default") && !started.stderr.contains("serves"), "{}", started.stderr);
    started.says("fake/sh failed: the runner stopped in the middle of its work");
    let second =
        "\n[[driver]]\nengine = \"fake\"\nname = \"zsh\"\nlanguage = \"shell\"\nabout = \"another\"\n";
    std::fs::write(&file, one + second).unwrap();
    let refused = place.dyno(run).exits(2).without_panic();
    refused.says("no driver of fake is its default: name one, fake/sh or fake/zsh");
}

#[test]
fn dyno_alone_says_what_it_is_and_what_to_try() {
    let place = Place::new();
    let welcome = place.dyno("").exits(0).prints("dynamometer for database engines");
    let tries: Vec<&str> = welcome.stdout.lines().filter(|line| line.starts_with("  dyno ")).collect();
    assert_eq!(tries.len(), 5, "{}", welcome.stdout);
    // Each is a command that there is.
    for line in tries {
        let command = line.split_whitespace().nth(1).unwrap();
        place.dyno(&format!("{command} --help")).exits(0).prints("Example");
    }
}

#[test]
fn run_without_a_suite_offers_the_suites() {
    let place = Place::new();
    let offer = place.dyno("run").exits(2).says("name a suite").says("Fifteen tests").says("Key-value work");
    let mut suites = std::fs::read_dir(crate::common::repository().join("suites")).unwrap();
    assert!(suites.all(|suite| {
        let name = suite.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        offer.stderr.contains(&format!("\n  {name} "))
    }));
    assert!(!place.path("results").exists());
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
fn doctor_schema_and_completions_answer() {
    let place = Place::new();
    let doctor = place.dyno("doctor").exits(0).prints("clock").without_panic();
    assert!(doctor.stdout.lines().all(|line| line.chars().count() <= 100), "{}", doctor.stdout);
    assert!(place.dyno("doctor --format json").exits(0).json().is_array());
    for what in ["run", "job", "event"] {
        assert!(place.dyno(&format!("schema {what}")).exits(0).json()["$schema"].is_string());
    }
    for shell in ["bash", "zsh", "fish"] {
        place.dyno(&format!("completions {shell}")).exits(0).prints("doctor");
    }
    place.assert_clean();
}

#[test]
fn the_version_names_the_commit_and_the_features() {
    let place = Place::new();
    let version = place.dyno("--version").exits(0).stdout;
    let lines: Vec<&str> = version.lines().collect();
    let [first, commit, features] = lines[..] else { panic!("{version}") };
    assert_eq!(first, concat!("dyno ", env!("CARGO_PKG_VERSION")));
    assert!(commit.starts_with("commit: "), "{version}");
    let parquet = if cfg!(feature = "parquet") { "features: +parquet" } else { "features: -parquet" };
    assert_eq!(features, parquet);
    assert_eq!(place.dyno("-V").exits(0).stdout, format!("{first}\n"));
}

#[test]
fn manual_pages_hold_what_help_says() {
    let place = Place::new();
    let run = place.dyno("man run").exits(0).prints("\\-\\-budget").stdout;
    assert!(run.lines().any(|line| line.starts_with(".TH dyno-run 1")), "{run}");
    place.dyno("man").exits(0).prints("dyno\\-prove(1)").without_panic();
    place.dyno("man runn").exits(2).says("there is no command 'runn'").says("run");
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
