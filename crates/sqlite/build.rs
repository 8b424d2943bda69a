//! Compiles the bundled SQLite: the amalgamation that the package libsqlite3-sys carries, into a
//! shared library with the flags of `flags.txt`. Its header is put beside it, for programs that link it.
//!
//! Cargo's own optimisation settings do not reach it, so that a debug build of a program uses
//! the same library as a release build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const LIBRARY: &str = "libdyno_sqlite3.so";
const HEADER: &str = "sqlite3.h";
const FLAGS: &str = include_str!("flags.txt");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=flags.txt");
    let carried = PathBuf::from(variable("DEP_SQLITE3_INCLUDE"));
    let source = carried.join("sqlite3.c");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = PathBuf::from(variable("OUT_DIR"));
    let flags: Vec<&str> = FLAGS.lines().map(|line| line.split('#').next().unwrap_or("").trim()).collect();
    let flags: Vec<&str> = flags.into_iter().filter(|flag| !flag.is_empty()).collect();

    let library = out.join(LIBRARY);
    compile(&source, &flags, &library);
    place_beside_program(&library, LIBRARY, &out);
    place_beside_program(&carried.join(HEADER), HEADER, &out);
    println!("cargo::rustc-env=DYNO_SQLITE_FLAGS={}", flags.join(" "));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo gives the build no {name}"))
}

fn compile(source: &Path, flags: &[&str], library: &Path) {
    // The crate cc knows how to find the compiler; it is asked for no flags of its own.
    let compiler = cc::Build::new().no_default_flags(true).cargo_metadata(false).get_compiler();
    let mut command: Command = compiler.to_command();
    command.args(flags).arg("-shared").arg(format!("-Wl,-soname,{LIBRARY}"));
    command.arg("-o").arg(library).arg(source).args(["-lm", "-lpthread", "-ldl"]);
    let status = command.status();
    assert!(
        status.as_ref().is_ok_and(|status| status.success()),
        "the bundled SQLite did not compile ({status:?}): a C compiler is needed, as {:?}",
        compiler.path()
    );
}

/// Puts a copy where the programs will stand: OUT_DIR is `PROFILE/build/PACKAGE-HASH/out`.
/// Where Cargo lays its folders out differently, a program finds the library in OUT_DIR.
fn place_beside_program(file: &Path, name: &str, out: &Path) {
    let Some(folder) = out.ancestors().nth(3) else { return };
    // A program at work may have the old file mapped: it is replaced and never overwritten.
    let fresh = folder.join(format!(".{name}.new"));
    if let Err(error) = fs::copy(file, &fresh).and_then(|_| fs::rename(&fresh, folder.join(name))) {
        println!("cargo::warning=no copy of {name} in {}: {error}", folder.display());
    }
}
