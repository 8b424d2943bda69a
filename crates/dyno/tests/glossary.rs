//! A type name stands in one crate, unless docs/glossary.md lists it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::repository;

/// The crates in which each public type is defined, by its name.
type Places = BTreeMap<String, BTreeSet<String>>;

/// The name of a public type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "union "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn add(folder: &Path, name: &str, places: &mut Places) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            add(&path, name, places);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for one in code.lines().filter_map(defined) {
                places.entry(one.to_owned()).or_default().insert(name.to_owned());
            }
        }
    }
}

/// The types that stand in several crates.
fn shared() -> Places {
    let mut places = Places::new();
    for (folder, is_runners) in [("crates", false), ("runners", true)] {
        for entry in fs::read_dir(repository().join(folder)).unwrap().map(Result::unwrap) {
            let sources = entry.path().join("src");
            let own = entry.file_name().into_string().unwrap();
            if sources.is_dir() {
                add(&sources, if is_runners { "runners" } else { &own }, &mut places);
            }
        }
    }
    assert!(places.len() > 300, "the sources were not found: {} types", places.len());
    places.retain(|_, crates| crates.len() > 1);
    places
}

/// The types that the glossary lists.
fn listed() -> Places {
    let text = fs::read_to_string(repository().join("docs/glossary.md")).unwrap();
    let (_, table) = text.split_once("## Names in several crates").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.skip(2)
        .flat_map(|row| {
            let (crates, names) = row.split_once(" | ").unwrap();
            let crates: BTreeSet<String> = crates.split(", ").map(str::to_owned).collect();
            names.split(", ").map(move |name| (name.trim_matches('`').to_owned(), crates.clone()))
        })
        .collect()
}

#[test]
fn a_type_name_stands_in_one_crate_or_in_the_glossary() {
    let (shared, listed) = (shared(), listed());
    let new: Vec<_> = shared.iter().filter(|one| listed.get(one.0) != Some(one.1)).collect();
    assert!(new.is_empty(), "give these types names that no other crate has: {new:?}");
    let gone: Vec<_> = listed.keys().filter(|name| !shared.contains_key(*name)).collect();
    assert!(gone.is_empty(), "docs/glossary.md lists names that stand in one crate now: {gone:?}");
}
