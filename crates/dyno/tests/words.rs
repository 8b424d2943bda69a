//! Debug words stay inside: no message of dyno or a runner is written with `{:?}`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::repository;

/// Places that may: what they write is hashed, compared or a number that reads back, and no sentence.
const MAY: [&str; 6] = [
    // Read while dyno is built.
    "crates/sqlite-build/",
    // Checks of runners quote lists of numbers and of names.
    "crates/conformance/src/",
    // A real number with all its digits.
    "crates/verdict/src/answers/compare.rs",
    // Parts of a key or a digest.
    "crates/prove/src/tree/",
    "crates/lab/src/server/template.rs",
    "crates/lab/src/around/upkeep.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && !["tests", "target", "benches"].contains(&name.as_str()) {
            sources(&entry, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(entry);
        }
    }
}

#[test]
fn no_message_is_a_debug_format() {
    let root = repository();
    let mut files = Vec::new();
    for folder in ["crates", "runners"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "only {} sources were found", files.len());
    let mut bad = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        if MAY.iter().any(|place| name.starts_with(place)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        // Tests within a file stand at its end.
        let code = text.split("#[cfg(test)]").next().unwrap();
        let lines = code.lines().enumerate().filter(|(_, line)| {
            let line = line.trim_start();
            line.contains(":?}") && !line.starts_with("//") && !line.contains("assert")
        });
        bad.extend(lines.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    assert!(bad.is_empty(), "debug formats reach people:\n{}", bad.join("\n"));
}

#[test]
fn a_temporary_file_is_not_named_in_an_error() {
    let place = crate::common::Place::new();
    place.write("a.csv", "id\n1\n");
    for arguments in [
        "import a.csv --into missing/x.db".to_owned(),
        "run speedtest --only 15 --trials 1 --quiet --dir missing".to_owned(),
        "run speedtest --only 15 --trials 1 --quiet -o /proc/run.jsonl".to_owned(),
    ] {
        let result = place.dyno(&arguments);
        assert!(matches!(result.code, Some(2 | 4)), "{arguments}: {}", result.stderr);
        for word in ["at path", ".tmp", "dyno-", "Os {", "os_error"] {
            assert!(!result.stderr.contains(word), "{arguments}: {}", result.stderr);
        }
    }
}
