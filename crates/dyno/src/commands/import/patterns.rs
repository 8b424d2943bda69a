//! Patterns such as `*.csv` in place of files' names. A shell expands them, unless they are quoted or it has too little room.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_import::escaped;
use glob::{MatchOptions, glob_with};

/// The files that the command line names, those of a pattern in the order of their names.
///
/// # Errors
/// A pattern cannot be read or matches nothing, or a folder on the way cannot be read.
pub fn expand(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let expanded: Vec<Vec<PathBuf>> = files.iter().map(|file| matching(file)).collect::<Result<_>>()?;
    Ok(expanded.concat())
}

fn matching(file: &Path) -> Result<Vec<PathBuf>> {
    let pattern = file.to_str().filter(|text| text.contains(['*', '?']));
    // A file's own name counts first.
    let Some(pattern) = pattern.filter(|_| file.symlink_metadata().is_err()) else {
        return Ok(vec![file.to_owned()]);
    };
    // As in a shell, a hidden file is matched by a dot only.
    let like_a_shell = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found =
        glob_with(pattern, like_a_shell).with_context(|| format!("'{}' is no pattern", escaped(file)))?;
    let found = found.collect::<Result<Vec<PathBuf>, _>>().context("cannot look for files")?;
    ensure!(!found.is_empty(), "no file matches '{}': look at the names in its folder", escaped(file));
    Ok(found)
}
