//! `dyno list`.

use std::fs;

use crate::common::Place;

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
