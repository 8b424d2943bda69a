//! `dyno export`: every sample as a row of a file.

use std::fs;

use anyhow::{Context, Result, bail};
use dyno_show::SampleRow;
use dyno_show::report::Source;

use super::{Exit, Input, show};
use crate::cli::ExportArgs;
use crate::terminal::say;

/// Writes the samples of the runs named, or of the newest one.
pub fn execute(arguments: &ExportArgs) -> Result<Exit> {
    let write = format(arguments).input()?;
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    let mut rows = Vec::new();
    for path in &paths {
        let source = Source::new(path, dyno_record::load(path).input()?);
        rows.extend(dyno_show::sample_rows(&source.name, &source.run));
    }
    let out = &arguments.out;
    fs::write(out, write(&rows)?).with_context(|| format!("cannot write {}", out.display()))?;
    say(&format!("{} samples are in {}.", rows.len(), out.display()));
    Ok(Exit::Done)
}

type Write = fn(&[SampleRow]) -> Result<Vec<u8>>;

/// How to write, by the ending of the file.
fn format(arguments: &ExportArgs) -> Result<Write> {
    match arguments.out.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(dyno_show::sample_csv),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(dyno_show::parquet),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => bail!(
            "this dyno was built without Parquet; build it with `cargo build --release -p dyno --features parquet`, \
             or write a .csv"
        ),
        _ => bail!("{} ends neither in .csv nor in .parquet", arguments.out.display()),
    }
}
