//! A part of dyno that is built alone is the same as within the whole: nothing is compiled twice.

use std::collections::BTreeSet;
use std::process::Command;

use crate::common::repository;

/// The packages that a build compiles, each with its features.
fn packages(arguments: &str) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(repository()).args([
        "tree",
        "--offline",
        "--locked",
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    let output = command.args(["--format", "{p} {f}"]).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

#[test]
fn what_make_run_builds_is_a_part_of_what_make_build_and_the_tests_build() {
    let whole = packages("--edges normal,build --workspace --exclude dyno-bench");
    let tested = packages("--edges normal,build,dev --workspace");
    // The Makefile's `make run`, and `cargo run -p dyno`.
    let first = "-p dyno -p dyno-runner-sqlite -p dyno-runner-null";
    let makefile = std::fs::read_to_string(repository().join("Makefile")).unwrap();
    assert!(makefile.contains(&format!("build --release {first}\n")), "the Makefile builds something else");
    for part in [first, "-p dyno"] {
        let part = packages(&format!("--edges normal,build {part}"));
        assert!(part.len() > 50, "{part:?}");
        for all in [&whole, &tested] {
            let apart: Vec<&String> = part.difference(all).collect();
            assert!(
                apart.is_empty(),
                "these get other features in a build of everything: name those in crates/dyno/Cargo.toml: {apart:#?}"
            );
        }
    }
    let apart: Vec<&String> = whole.difference(&tested).collect();
    assert!(apart.is_empty(), "the tests' own packages change the features of these: {apart:#?}");
}
