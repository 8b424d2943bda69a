//! The header and the library fit each other: a program in C is compiled against both and does what runners do.

use std::path::Path;
use std::process::Command;

#[test]
fn a_program_in_c_uses_the_library_by_its_header() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo has put the library next to the test program.
    let programs = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("header");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1"]);
    compiler.arg("-I").arg(package.join("include")).arg(package.join("tests/header.c"));
    compiler.arg("-L").arg(&programs).arg("-ldyno_gauge");
    compiler.arg(format!("-Wl,-rpath,{}", programs.display())).arg("-o").arg(&program);
    assert!(compiler.status().unwrap().success(), "{compiler:?}");
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
