//! The crates use each other as the table of docs/architecture.md says, and not otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::common::repository;

/// The crates that each crate uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// A package as the table calls it.
fn name(package: &str) -> String {
    package.strip_prefix("dyno-").unwrap_or(package).to_owned()
}

/// The dependencies of the packages in crates/ without those of their tests alone.
fn built() -> Arrows {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(repository());
    let output =
        command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let crates = repository().join("crates");
    let is_crate = |package: &&Value| {
        std::path::Path::new(package["manifest_path"].as_str().unwrap()).starts_with(&crates)
    };
    let uses = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let own = dependencies.filter(|other| other["path"].is_string() && other["kind"] != "dev");
        own.map(|other| name(other["name"].as_str().unwrap())).collect()
    };
    packages
        .iter()
        .filter(is_crate)
        .map(|package| (name(package["name"].as_str().unwrap()), uses(package)))
        .collect()
}

/// The dependencies according to the table in the documentation.
fn drawn() -> Arrows {
    let text = std::fs::read_to_string(repository().join("docs/architecture.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `crates/"));
    rows.map(|row| {
        let (crate_name, rest) = row.split_once("/`").unwrap();
        let uses = rest.trim_end_matches('|').rsplit('|').next().unwrap();
        let uses = uses.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        (crate_name.to_owned(), uses.collect())
    })
    .collect()
}

#[test]
fn the_crates_use_each_other_as_the_map_says() {
    let (built, drawn) = (built(), drawn());
    assert!(built.len() > 10, "{built:?}");
    assert_eq!(
        built, drawn,
        "left: what Cargo builds; right: docs/architecture.md. A new arrow is a decision: think before you draw it"
    );
}

/// The packages that are built for one, itself left out.
fn below(arrows: &Arrows, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(next) = open.pop() {
        for other in arrows.get(&next).into_iter().flatten() {
            if found.insert(other.clone()) {
                open.push(other.clone());
            }
        }
    }
    found
}

#[test]
fn who_measures_does_not_judge_and_who_judges_starts_nothing() {
    let arrows = built();
    for (from, never) in [
        ("record", vec!["suite", "engine", "plan", "lab", "verdict", "show"]),
        ("suite", vec!["engine", "lab", "verdict"]),
        ("engine", vec!["plan", "lab", "verdict"]),
        ("plan", vec!["lab", "verdict"]),
        ("lab", vec!["verdict", "show"]),
        ("verdict", vec!["engine", "plan", "lab", "runner", "show"]),
        ("show", vec!["engine", "plan", "lab", "runner"]),
        ("runner", vec!["record", "suite", "engine", "plan", "lab", "verdict", "show"]),
    ] {
        let below = below(&arrows, from);
        for other in never {
            assert!(!below.contains(other), "{from} must not use {other}: {below:?}");
        }
    }
}
