//! The ladders of servers, as a person climbs them: every rung is there and leaves the same table. Where a server is
//! missing, its ladder is skipped and says so.

use dyno_protocol::Build;

use crate::common::{Place, installation};

/// True if the engine is here.
fn is_here(engine: &str) -> bool {
    match installation(engine, &Build::System) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED for {engine}: {error:#}");
            false
        }
    }
}

/// Climbs a ladder and expects rungs that survive this, by name, and that every one counts.
fn climb(engine: &str, survives: &[(&str, &str)]) {
    let place = Place::new();
    let suite = format!("import-{engine}");
    let result = place.dyno(&format!("run {suite} --rows 1500 --trials 1 --no-warm-up --quiet -o run.json"));
    let result = result.exits(0).without_panic();
    assert!(!result.stdout.contains("Left out"), "{}", result.stdout);
    let shown = place.dyno("show run.json --format json").exits(0).json();
    let cells = shown["verdict"]["tests"][0]["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["standing"]["standing"] == "counts"), "{cells:?}");
    let rungs = shown["verdict"]["ladders"][0]["rungs"].as_array().unwrap();
    assert_eq!(rungs.len(), cells.len(), "{rungs:?}");
    for (name, level) in survives {
        let rung = rungs.iter().find(|rung| rung["name"] == *name);
        assert_eq!(rung.unwrap_or_else(|| panic!("no rung '{name}'"))["level"], *level, "{name}");
    }
    place.assert_clean();
}

#[test]
fn every_rung_of_postgres_leaves_the_same_table() {
    if is_here("postgres") {
        let safe = ["worst", "COPY", "COPY, FREEZE", "COPY, no log", "index last", "tuned"];
        let safe = safe.map(|name| (name, "power-loss"));
        climb("postgres", &[&safe[..], &[("no waiting", "none")]].concat());
    }
}

#[test]
fn every_rung_of_mariadb_leaves_the_same_table() {
    if is_here("mariadb") {
        let safe = ["worst", "many rows", "LOAD DATA", "no checks", "index first", "no primary key"];
        let safe = safe.map(|name| (name, "power-loss"));
        climb("mariadb", &[&safe[..], &[("no waiting", "process-crash"), ("MyISAM", "none")]].concat());
    }
}
