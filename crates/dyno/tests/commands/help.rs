//! Help, the version, manual pages and completions.

use crate::common::Place;

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
