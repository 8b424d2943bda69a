//! The list of what a machine needs, needs.txt, against the machine and against the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dyno_needs as needs;

use crate::common::{Place, repository};

/// Programs that every Debian has, for they belong to packages that are essential; the program itself; and Git, without
/// which a build only does not know its commit.
const EVERYWHERE: [&str; 9] =
    ["sh", "/bin/sh", "true", "sleep", "tar", "mount", "umount", "/proc/self/exe", "git"];

fn check(folder: &Path) -> Output {
    Command::new("sh").arg(folder.join("scripts/needs.sh")).args(["--check", "test"]).output().unwrap()
}

#[test]
fn all_that_the_tests_need_is_here() {
    let output = check(&repository());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_missing_is_reported_with_the_command_that_installs_it() {
    let place = Place::new();
    fs::create_dir(place.path("scripts")).unwrap();
    fs::copy(repository().join("scripts/needs.sh"), place.path("scripts/needs.sh")).unwrap();
    let check = |list: &str| {
        place.write("needs.txt", list);
        let output = check(&place.path(""));
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // Each kind of proof, as it holds and as it does not.
    let here = "test a cc C\ntest b cc>=1.0 C\ntest c libc.so.6 C\ntest d /bin/s* sh\n\
                test e python3:venv V\ntest i <stdio.h> I\n";
    assert_eq!(check(here), (Some(0), String::new()));
    let missing = "test a no-such-cc C\ntest b cc>=999.0 C\ntest c libc.so.999 C\ntest d /nowhere/* sh\n\
                   test e python3:no_such V\n# test f no-such-f F\nextra g no-such-g G\nbuild h no-such-h H\n\
                   test i <no/such.h> I\n";
    let (code, said) = check(missing);
    assert_eq!(code, Some(1));
    assert!(said.contains("sudo apt-get update && sudo apt-get install"), "{said}");
    assert!(said.trim_end().ends_with("--no-install-recommends a b c d e h i"), "{said}");
    let (code, said) = check("build https://example.com/rust cargo>=999.0 Rust 999 or later\n");
    assert_eq!(code, Some(1));
    assert!(said.contains("Rust 999 or later is missing: see https://example.com/rust"), "{said}");
}

#[test]
fn the_versions_are_those_that_the_sources_ask_for() {
    let asked = |file: &str, key: &str| {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
        line.trim_matches('"').to_owned()
    };
    let listed = |name: &str| needs::of(name).unwrap().proof.rsplit_once(">=").unwrap().1;
    assert_eq!(asked("Cargo.toml", "rust-version = "), listed("cargo"));
    assert!(asked("runners/go/go.mod", "go ").starts_with(listed("go")));
}

/// The sources of all that is run for a user; tests and benchmarks need more, which the list has as well.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| ["rs", "go", "py"].iter().any(|one| extension == *one))
        {
            found.push(path);
        }
    }
}

/// The texts in quotes between `before` and the quote's end.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

#[test]
fn whatever_is_loaded_or_started_has_a_line() {
    let mut files = Vec::new();
    for folder in ["crates", "runners", "bench"] {
        sources(&repository().join(folder), &mut files);
    }
    let mut seen = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // A module's own tests name what is not there on purpose.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let libraries = quoted(text, "\"lib")
            .filter(|rest| {
                rest.contains(".so") && !rest.starts_with("dyno") && !rest.contains(char::is_whitespace)
            })
            .map(|rest| format!("lib{rest}"));
        let started = ["Command::new(\"", "exec.Command(\"", "const PROGRAM: &str = \""]
            .into_iter()
            .flat_map(|before| quoted(text, before))
            .filter(|name| !EVERYWHERE.contains(name))
            .map(str::to_owned);
        for name in libraries.chain(started) {
            let is_test =
                file.components().any(|part| part.as_os_str() == "tests") || file.ends_with("tests.rs");
            assert!(
                is_test || needs::of(&name).is_some(),
                "{} needs {name}; give it a line in needs.txt",
                file.display()
            );
            seen.push(name);
        }
    }
    // The scan itself sees what it is there for.
    for name in [
        "libpq.so.5",
        "libmariadb.so.3",
        "libsqlite3.so.0",
        "liblmdb.so",
        "libdb-5.3.so",
        "librocksdb.so",
        "gocryptfs",
        "fusermount3",
    ] {
        assert!(seen.iter().any(|one| one == name), "{name} is not seen in {seen:?}");
    }
    for server in ["postgres", "mariadbd", "mysqld"] {
        assert!(needs::of(server).is_some(), "{server}");
    }
}

#[test]
fn a_description_that_names_what_is_not_in_the_list_is_refused() {
    let place = Place::with_runner("true");
    let description = place.path("home/runners/fake/runner.toml");
    let text = fs::read_to_string(&description).unwrap();
    fs::write(&description, text.replace("a shell", "a shell and {libnothing.so}")).unwrap();
    place
        .dyno("run speedtest --with fake")
        .exits(2)
        .says("runner.toml: needs: there is no {libnothing.so} in needs.txt");
    // A name in the list appears in the message as its title, with the way to get it.
    fs::write(&description, text.replace("a shell", "{go}")).unwrap();
    fs::remove_file(place.path("home/runners/fake/run.sh")).unwrap();
    place
        .dyno("run speedtest --scale 0.02 --trials 1 --only 15 --with fake")
        .exits(2)
        .says("it needs Go 1.26 or later (https://go.dev/dl/)");
}
