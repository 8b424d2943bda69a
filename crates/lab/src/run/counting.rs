//! Trials in which a program around the runner counts what it executes: callgrind, which simulates a processor.
//!
//! A simulated processor is some fifty times as slow as the real one, so nothing of these trials is a time. Its counts repeat
//! to the digit where the work does: addresses are the same in each trial, and so is the seed of Python's hashes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use dyno_engine::Contender;

use crate::trial::TrialOptions;

/// The trials of each contender that count: more than one, so that a count that does not repeat is seen.
pub(super) const PASSES: u32 = 2;
/// A runner may be silent this many times as long as otherwise.
const SLOWER: u32 = 100;
/// The variable by which the runner learns where its counts are written.
const FILES: &str = "DYNO_COUNTS";

/// Checks that the programs that count are here.
///
/// # Errors
/// One is not, with the command that installs it.
pub fn can_count() -> Result<()> {
    are_here("--counts", &[("valgrind", "valgrind"), ("setarch", "util-linux")])
}

/// Checks that programs are here that something needs, each with the package that has it.
///
/// # Errors
/// One is not, with the command that installs it.
pub(super) fn are_here(what: &str, programs: &[(&str, &str)]) -> Result<()> {
    for (program, package) in programs {
        let found =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            bail!("{what} needs {program}, which is not here; on Debian: apt-get install {package}");
        }
    }
    Ok(())
}

/// A contender whose runner is counted; its files go to a folder. A library of its own is copied there, so that it has a path
/// as long as every other: the length of a path shifts what is allocated after it, and copying takes more or fewer
/// instructions by where memory begins.
///
/// # Errors
/// The library cannot be copied.
pub(super) fn counted(contender: &Contender, folder: &Path) -> Result<Contender> {
    let mut contender = contender.clone();
    if let Some(library) = contender.library() {
        let copy = folder.join("build.so");
        fs::copy(&library, &copy).with_context(|| format!("cannot copy {}", library.display()))?;
        contender = contender.with_library(copy);
    }
    let files = folder.join("counts");
    let around = [
        "env".to_owned(),
        format!("{FILES}={}", files.display()),
        "PYTHONHASHSEED=0".to_owned(),
        "setarch".to_owned(),
        "--addr-no-randomize".to_owned(),
        "valgrind".to_owned(),
        "--tool=callgrind".to_owned(),
        "--quiet".to_owned(),
        "--collect-atstart=no".to_owned(),
        "--collect-systime=yes".to_owned(),
        format!("--callgrind-out-file={}", files.display()),
    ];
    contender.runner = contender.runner.under(&around);
    Ok(contender)
}

/// The same options with time for a processor that is simulated, and without a limit that callgrind would exceed.
pub(super) fn options(conduct: &TrialOptions) -> TrialOptions {
    TrialOptions { timeout: conduct.timeout * SLOWER, memory_bytes: None, ..conduct.clone() }
}
