//! Compiles the bundled SQLite: the amalgamation that the package libsqlite3-sys carries, into a shared library with the
//! flags of `flags.txt`. Its header is put next to it, for programs that link it.

use std::path::PathBuf;

use dyno_sqlite_build::{Library, common_flags, place_beside_programs, variable};

fn main() {
    let carried = PathBuf::from(variable("DEP_SQLITE3_INCLUDE"));
    let source = carried.join("sqlite3.c");
    let library = Library { name: "libdyno_sqlite3.so", source: &source, flags: &[], links: &[] };
    if let Err(error) = library.build() {
        panic!("{error}");
    }
    place_beside_programs(&carried.join("sqlite3.h"));
    println!("cargo::rustc-env=DYNO_SQLITE_FLAGS={}", common_flags().join(" "));
}
