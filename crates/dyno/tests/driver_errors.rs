//! Drivers in every language treat the same errors of a server alike.

use std::fs;

use crate::common::repository;

/// The sources with the lists, and the names of these there: of errors that may pass, of lost connections, of servers that
/// take no rows from clients.
const SOURCES: [(&str, [&str; 3]); 6] = [
    ("crates/client/src/mysql/errors.rs", ["const MAY_PASS", "const LOST", "const NO_LOCAL"]),
    ("runners/crates/src/mysql.rs", ["const MAY_PASS", "const LOST", "const NO_LOCAL"]),
    ("runners/go/internal/mysql/errors.go", ["var mayPass", "var lost", "var noLocal"]),
    ("runners/jvm/src/dyno/runner/drivers/MySqlJdbc.java", ["> MAY_PASS", "> LOST", "> NO_LOCAL"]),
    ("runners/node/src/drivers/mysql/server.js", ["const MAY_PASS", "const LOST", "const NO_LOCAL"]),
    ("runners/python/dyno_runner/drivers/mysql/errors.py", ["\nMAY_PASS", "\nLOST", "\nNO_LOCAL"]),
];

#[test]
fn the_numbers_of_errors_of_mysqls_protocol_are_the_same_in_every_language() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let known: toml::Table = read("runners/mysql/errors.toml").parse().unwrap();
    for (path, names) in SOURCES {
        for (name, key) in names.into_iter().zip(["may_pass", "lost", "no_local"]) {
            let wanted = known[key].as_array().unwrap().iter();
            let wanted: Vec<i64> = wanted.map(|number| number.as_integer().unwrap()).collect();
            assert_eq!(numbers_of(&read(path), name), wanted, "{name:?} of {path}");
        }
    }
}

/// The numbers of a list in a source, which stands on one line in the brackets of its language.
fn numbers_of(source: &str, name: &str) -> Vec<i64> {
    let (_, behind) = source.split_once(name).unwrap_or_else(|| panic!("there is no {name:?}"));
    let list = behind.lines().next().unwrap().rsplit(['(', '[', '{']).next().unwrap();
    let digits = |text: &str| text.trim_matches(|letter: char| !letter.is_ascii_digit()).to_owned();
    list.split(',').map(|number| digits(number).parse().unwrap()).collect()
}
