//! An engine that speaks a known protocol is one file: drivers in every language reach it, and nothing else knows
//! its name.

use std::fs;

use dyno_engine::{is_address, may_hold_password};
use dyno_protocol::Build;

use crate::common::{Place, server};

/// An engine as a user would add CockroachDB: it speaks PostgreSQL's protocol, has URLs of its own, and dyno cannot
/// start it.
const ENGINE: &str = r#"
name = "postgres-like"
title = "Speaks like PostgreSQL"
dialect = "postgres"
builds = ["system"]
speaks = "postgres"
read_back = ["work_mem", "synchronous_commit", "cluster_secret"]

[url]
schemes = ["cockroach", "cockroachdb"]

[[profile]]
name = "default"
settings = []
reason = "As it is."

[[level]]
when = ["synchronous_commit=on"]
survives = "power-loss"
consistent = true
why = "every commit is synced"
link = "https://example.org"
"#;

/// A driver in each language.
const DRIVERS: [&str; 4] = ["rust", "pgx", "pq", "psycopg"];

#[test]
fn an_engine_that_speaks_a_known_protocol_is_one_file() {
    let Some(started) = server::start("postgres", &Build::System, &[]) else { return };
    let reach = started.server.connection("unused").server;
    let url = |driver: &str| {
        let (user, host, port) = (&reach.user, &reach.host, reach.port.unwrap());
        format!("cockroach{driver}://{user}:hunter2@/postgres?host={host}&port={port}")
    };
    let place = Place::with_engine("postgres-like", ENGINE);
    let urls: Vec<String> =
        [url("")].into_iter().chain(DRIVERS[1..].iter().map(|name| url(&format!("+{name}")))).collect();
    let urls: Vec<String> = urls.iter().map(|url| format!("--url {url}")).collect();
    let run = format!("run speedtest --scale 0.01 --only 1-3 --trials 1 --no-warm-up {}", urls.join(" "));
    let result = place.dyno(&run).exits(0).without_panic();
    assert!(!result.stdout.contains("hunter2"), "{}", result.stdout);

    let run = place.run_file();
    assert!(!run.to_string().contains("hunter2"));
    let contenders: Vec<_> =
        run["contenders"].as_array().unwrap().iter().filter(|one| one["engine"] == "postgres-like").collect();
    let drivers: Vec<_> = contenders.iter().map(|contender| contender["driver"].as_str().unwrap()).collect();
    assert_eq!(drivers, DRIVERS);
    for contender in contenders {
        let settings = contender["hello"]["settings"].as_array().unwrap();
        let mut names: Vec<_> = settings.iter().map(|setting| setting["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        // Settings that it wants read back and has, and those that the drivers alone know.
        assert_eq!(names, ["lc_collate", "lc_ctype", "synchronous_commit", "work_mem"]);
        let label = contender["label"].as_str().unwrap();
        assert!(
            label.starts_with("cockroach") && label.contains("://postgres@:5432/postgres?host="),
            "{label}"
        );
    }
    let shown = place.dyno(&format!("show {} --format json", first_run(&place))).exits(0).json();
    for test in shown["verdict"]["tests"].as_array().unwrap() {
        let cells = test["cells"].as_array().unwrap();
        assert!(cells.iter().all(|cell| cell["standing"]["standing"] == "counts"), "{cells:?}");
    }
    place.assert_clean();
}

#[test]
fn what_cannot_be_started_is_named_by_a_url() {
    let place = Place::with_engine("postgres-like", ENGINE);
    let run = "run speedtest --scale 0.01 --only 1 --trials 1 --no-warm-up --with postgres-like/pgx";
    place.dyno(run).exits(2).says("dyno does not know how to start a server of Speaks like PostgreSQL");
    let run = "run speedtest --url cockroach+nobody://me@localhost/x";
    place.dyno(run).exits(2).says("postgres-like has no driver 'nobody'");
    let run = "run speedtest --url roach://me:hunter2@localhost/x";
    let result = place.dyno(run).exits(2).says("the URL begins with the scheme of no engine");
    assert!(!result.stderr.contains("hunter2"));
    assert!(is_address("cockroach+pgx://me:x@h/d") && may_hold_password("cockroach+pgx://me:x@h/d"));
}

#[test]
fn a_driver_that_two_runners_have_is_refused() {
    let place = Place::with_runner("exit 0");
    let copy = place.path("home/runners/second");
    fs::create_dir(&copy).unwrap();
    let text = fs::read_to_string(place.path("home/runners/fake/runner.toml")).unwrap();
    fs::write(copy.join("runner.toml"), &text).unwrap();
    let refused = place.dyno("list").exits(2).without_panic();
    refused
        .says("runners/fake/runner.toml and")
        .says("runners/second/runner.toml both have the driver fake/");
    let renamed = text.replacen("name = \"sh\"", "name = \"other\"", 1);
    assert_ne!(renamed, text);
    fs::write(copy.join("runner.toml"), renamed).unwrap();
    place.dyno("list").exits(2).says("both have the default driver of fake");
}

/// The name of the only run file.
fn first_run(place: &Place) -> String {
    let file = std::fs::read_dir(place.path("results")).unwrap().next().unwrap().unwrap();
    file.path().display().to_string()
}
