//! Compiles SQLite into a shared library, with the flags that all builds share, and puts it next to the programs that
//! load it. For build scripts only.
//!
//! Each build of SQLite has a separate package: Cargo unifies the features of packages that one program links, which
//! would quietly turn the plain SQLite into one that encrypts.
//!
//! Cargo's own optimisation settings do not reach the library, so that a debug build of a program uses
//! the same one as a release build; only the profile `checked` has a library that compiles more quickly.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The flags of every build, each with its reason.
const FLAGS: &str = include_str!("../../sqlite/flags.txt");

/// A shared library to be made from C sources.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    /// The name of its file, as `libdyno_sqlite3.so`.
    pub name: &'a str,
    /// The amalgamation.
    pub source: &'a Path,
    /// Flags after the common ones.
    pub flags: &'a [&'a str],
    /// Libraries to link, besides those that SQLite always needs, as `-lcrypto`.
    pub links: &'a [&'a str],
}

/// The flags that all builds have in common.
pub fn common_flags() -> Vec<&'static str> {
    let flags = FLAGS.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    flags.filter(|flag| !flag.is_empty()).collect()
}

/// A variable that Cargo gives to build scripts.
pub fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo gives the build no {name}"))
}

/// The folder for what the build makes.
pub fn out_folder() -> PathBuf {
    PathBuf::from(variable("OUT_DIR"))
}

impl Library<'_> {
    /// Compiles the library and puts it next to the programs.
    ///
    /// # Errors
    /// The compiler is missing or refuses the source; its messages are then on standard error.
    pub fn build(&self) -> Result<(), String> {
        println!("cargo::rerun-if-changed=build.rs");
        println!("cargo::rerun-if-changed={}", self.source.display());
        let library = out_folder().join(self.name);
        // The crate cc finds the compiler; its default flags are not used.
        let compiler = cc::Build::new().no_default_flags(true).cargo_metadata(false).get_compiler();
        let mut command: Command = compiler.to_command();
        command.args(common_flags()).args(self.flags).args(quick()).arg("-shared");
        command.arg(format!("-Wl,-soname,{}", self.name)).arg("-o").arg(&library).arg(self.source);
        command.args(self.links).args(["-lm", "-lpthread", "-ldl"]);
        let status = command.status();
        if !status.as_ref().is_ok_and(|status| status.success()) {
            return Err(format!(
                "{} did not compile ({status:?}): a C compiler is needed, as {:?}",
                self.name,
                compiler.path()
            ));
        }
        place_beside_programs(&library);
        Ok(())
    }
}

/// The flag for the profile of `make test`, which measures nothing that anyone quotes: compiling takes half as long.
fn quick() -> Option<&'static str> {
    out_folder().ancestors().nth(3).is_some_and(|folder| folder.ends_with("checked")).then_some("-O1")
}

/// True if the compiler finds a header, as `openssl/crypto.h`.
pub fn has_header(header: &str) -> bool {
    let probe = out_folder().join("probe.c");
    let written = fs::write(&probe, format!("#include <{header}>\n"));
    let compiler = cc::Build::new().no_default_flags(true).cargo_metadata(false).get_compiler();
    let mut command = compiler.to_command();
    command.args(["-fsyntax-only", "-w"]).arg(&probe).stderr(std::process::Stdio::null());
    written.is_ok() && command.status().is_ok_and(|status| status.success())
}

/// Puts a copy where the programs will stand: OUT_DIR is `PROFILE/build/PACKAGE-HASH/out`.
/// If Cargo lays its folders out differently, a program finds the library in OUT_DIR.
pub fn place_beside_programs(file: &Path) {
    let out = out_folder();
    let (Some(folder), Some(name)) =
        (out.ancestors().nth(3), file.file_name().and_then(|name| name.to_str()))
    else {
        return;
    };
    // A program at work may have the old file mapped: it is replaced and never overwritten.
    let fresh = folder.join(format!(".{name}.new"));
    if let Err(error) = fs::copy(file, &fresh).and_then(|_| fs::rename(&fresh, folder.join(name))) {
        println!("cargo::warning=no copy of {name} in {}: {error}", folder.display());
    }
}
