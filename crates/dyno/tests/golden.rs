//! Golden files: the outputs of a run file that never changes. `UPDATE_GOLDEN=1 cargo test` writes them
//! anew; the difference is then seen in review.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::common::Place;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn assert_golden(name: &str, found: &str) {
    let path = golden(name);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, found).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, kept, "{name} differs; if that is meant, run with UPDATE_GOLDEN=1 and commit it");
}

#[test]
fn the_outputs_of_a_run_are_as_they_were() {
    let place = Place::new();
    let run = golden("run.json").display().to_string();
    for (format, name) in
        [("table", "table.txt"), ("markdown", "table.md"), ("csv", "table.csv"), ("json", "verdict.json")]
    {
        let result = place.dyno(&format!("show {run} --format {format}")).exits(0);
        assert_golden(name, &result.stdout);
    }
    let result = place.dyno(&format!("show {run} --published --costs")).exits(0);
    assert_golden("published.txt", &result.stdout);
    assert!(result.stdout.lines().all(|line| line.chars().count() <= 100), "{}", result.stdout);
    let result = place.dyno(&format!("show {run} --notes")).exits(0);
    assert_golden("notes.txt", &result.stdout);
}

#[test]
fn the_schemas_are_as_documented() {
    let place = Place::new();
    for what in ["run", "job", "event"] {
        let schema = place.dyno(&format!("schema {what}")).exits(0);
        let path = crate::common::repository().join(format!("docs/{what}.schema.json"));
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &schema.stdout).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(schema.stdout, kept, "{} is not what the code says", path.display());
    }
}
