//! `dyno export`: every sample as a row of a file.

#[cfg(feature = "parquet")]
mod parquet_file;
mod rows;

use std::fs;

use anyhow::{Context, Result, bail};

use super::{Exit, Input, file_name, show};
use crate::cli::ExportArgs;
use crate::terminal::say;
use rows::SampleRow;

/// Writes the samples of the runs named, or of the newest one.
pub fn execute(arguments: &ExportArgs) -> Result<Exit> {
    let write = format(arguments).input()?;
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    let mut samples = Vec::new();
    for path in &paths {
        samples.extend(rows::rows(&file_name(path), &dyno_record::load(path).input()?));
    }
    let out = &arguments.out;
    fs::write(out, write(&samples)?).with_context(|| format!("cannot write {}", out.display()))?;
    say(&format!("{} samples are in {}.", samples.len(), out.display()));
    Ok(Exit::Done)
}

type Write = fn(&[SampleRow]) -> Result<Vec<u8>>;

/// How to write, by the ending of the file.
fn format(arguments: &ExportArgs) -> Result<Write> {
    match arguments.out.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(rows::csv),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(parquet_file::write),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => bail!(
            "this dyno was built without Parquet; build it with `cargo build --release -p dyno --features parquet`, \
             or write a .csv"
        ),
        _ => bail!("{} ends neither in .csv nor in .parquet", arguments.out.display()),
    }
}
