//! Results that would replace a file that they come from, or each other. They are refused before anything runs.

use std::path::Path;

use anyhow::{Result, ensure};
use dyno_files::is_same_file;

/// Refuses an output that is one of the inputs.
pub fn check_inputs(output: &Path, inputs: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
    for input in inputs {
        let input = input.as_ref();
        ensure!(
            !is_same_file(output, input),
            "the output is the input {}, which would be lost: name another file for the output",
            input.display()
        );
    }
    Ok(())
}

/// Refuses two outputs that are one file. Each comes with its option; one that is not wanted has no path.
pub fn check_outputs((option, path): (&str, Option<&Path>), other: (&str, Option<&Path>)) -> Result<()> {
    if let (Some(path), Some(other_path)) = (path, other.1) {
        ensure!(
            !is_same_file(path, other_path),
            "{option} and {} both name one file, {}: name two",
            other.0,
            path.display()
        );
    }
    Ok(())
}
