//! The suite of a command line.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dyno_engine::{Home, is_address};
use dyno_nearest as nearest;

use crate::commands::registry;

/// A path if it looks like one, else a suite of dyno's or the user's own.
pub(super) fn find_suite(name: &str, home: &Home) -> Result<PathBuf> {
    if is_address(name) {
        bail!("a suite is a name or a file of this machine, and not a URL");
    }
    if home.has_suite(name) {
        return Ok(home.suite(name));
    }
    let is_file = name.ends_with(".toml") || Path::new(name).exists();
    if !is_file && let Some(suite) = registry(home)?.suite_for(name) {
        bail!("{name} is no suite but a contender: `dyno run {suite} --with {name}` measures it");
    }
    if dyno_suite::is_path(name) {
        return Ok(PathBuf::from(name));
    }
    let names = suite_names(home);
    let names = names.iter().map(String::as_str);
    bail!(
        "{} (a file is named by its path, as ./{name}.toml)",
        nearest::unknown("there is no suite", name, "there are", names)
    )
}

/// The names of all suites.
fn suite_names(home: &Home) -> Vec<String> {
    let files = home.suites().unwrap_or_default();
    files.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}
