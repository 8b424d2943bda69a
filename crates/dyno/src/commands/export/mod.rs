//! `dyno export`: every sample as a row of a file.

mod classes;
mod hlog;
#[cfg(feature = "parquet")]
mod parquet_file;
mod rows;

use anyhow::{Result, bail};
use dyno_files::Output;
use dyno_record::Run;

use super::{Exit, Input, file_name, show};
use crate::cli::ExportArgs;
use crate::terminal::say;
use classes::ClassRow;
use rows::SampleRow;

/// Writes the samples of the runs named, or of the newest one.
pub fn execute(arguments: &ExportArgs) -> Result<Exit> {
    let mut output = Output::open(&arguments.out).input()?;
    let is_log = output.path().extension().is_some_and(|extension| extension == "hlog");
    let write = if is_log { rows::csv } else { format(&output, arguments.latency).input()? };
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    let runs = paths.iter().map(|path| Ok((file_name(path), dyno_record::load(path)?)));
    let runs = runs.collect::<Result<Vec<(String, Run)>>>().input()?;
    let (count, what, bytes) = match arguments.latency {
        _ if is_log => {
            let (count, bytes) = hlog::log(&runs, arguments.all)?;
            (count, "intervals", bytes)
        }
        true => {
            let of = |(name, run): &(String, Run)| classes::rows(name, run, arguments.all);
            let rows: Vec<ClassRow> = runs.iter().flat_map(of).collect();
            (rows.len(), "classes of samples", rows::csv(&rows)?)
        }
        false => {
            let of = |(name, run): &(String, Run)| rows::rows(name, run, arguments.all);
            let rows: Vec<SampleRow> = runs.iter().flat_map(of).collect();
            (rows.len(), "samples", write(&rows)?)
        }
    };
    output.write(&bytes)?;
    say(&format!("{count} {what} are in {}.", output.path().display()));
    Ok(Exit::Done)
}

type Write = fn(&[SampleRow]) -> Result<Vec<u8>>;

/// The format that the ending of the name means. A pipe's name has no ending and gets CSV.
fn format(output: &Output, latency: bool) -> Result<Write> {
    match output.path().extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(rows::csv),
        None if output.is_stream() => Ok(rows::csv),
        Some("parquet") if latency => bail!("--latency writes CSV: name a file that ends in .csv"),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(parquet_file::write),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => bail!(
            "this dyno was built without Parquet; build it with `cargo build --release -p dyno --features parquet`, \
             or write a .csv"
        ),
        _ => bail!("{} ends in none of .csv, .parquet and .hlog", output.path().display()),
    }
}
