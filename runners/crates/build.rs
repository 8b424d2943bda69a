//! Hands the versions of the measured libraries, by Cargo.lock, to the programs.

use std::fs;

const LIBRARIES: [(&str, &str); 5] = [
    ("mysql_async", "DYNO_MYSQL_ASYNC"),
    ("rusqlite", "DYNO_RUSQLITE"),
    ("sea-orm", "DYNO_SEA_ORM"),
    ("sqlx", "DYNO_SQLX"),
    ("tokio-postgres", "DYNO_TOKIO_POSTGRES"),
];

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock is beside build.rs");
    for (library, variable) in LIBRARIES {
        let rest = lock.split_once(&format!("name = \"{library}\"\nversion = \"")).expect("it is locked").1;
        let version = rest.split('"').next().expect("a version ends");
        println!("cargo:rustc-env={variable}={version}");
    }
}
