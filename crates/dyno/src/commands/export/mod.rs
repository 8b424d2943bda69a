//! `dyno export`: every sample as a row of a file.

mod classes;
mod hlog;
#[cfg(feature = "parquet")]
mod parquet_file;
mod rows;

use anyhow::{Result, bail};
use dyno_files::Output;
use dyno_record::{Run, Seals};

use super::outcome::{AsInput, Exit, file_name};
use super::{overwriting, show};
use crate::cli::ExportArgs;
use crate::terminal::say;
use classes::ClassRow;
use rows::SampleRow;

/// Writes the samples of the runs named, or of the newest one.
pub fn execute(arguments: &ExportArgs) -> Result<Exit> {
    let mut output = Output::open(&arguments.out).input()?;
    let write = format(&output, arguments.latency).input()?;
    let mut paths = arguments.runs.clone();
    if paths.is_empty() {
        paths.push(show::newest(&dyno_record::results_folder()).input()?);
    }
    overwriting::check_inputs(&arguments.out, &paths).input()?;
    let runs = paths.iter().map(|path| Ok((file_name(path), dyno_record::load(path)?)));
    let runs = runs.collect::<Result<Vec<(String, Run)>>>().input()?;
    let Written { count, what, bytes } = write(&runs, arguments.all)?;
    output.write(&bytes)?;
    for (name, run) in runs.iter().filter(|(_, run)| run.seals != Seals::Whole) {
        say(&format!("{name} {}.", run.seals));
    }
    say(&format!("{count} {what} are in {}.", output.path().display()));
    Ok(Exit::Done)
}

/// The content of a file.
struct Written {
    /// The number of its rows or intervals.
    count: usize,
    what: &'static str,
    bytes: Vec<u8>,
}

/// Makes the content from runs and their names, with the warm-up too where the flag asks for all.
type Write = fn(&[(String, Run)], bool) -> Result<Written>;

/// The format that the ending of the name means. A pipe's name has no ending and gets CSV.
fn format(output: &Output, latency: bool) -> Result<Write> {
    match output.path().extension().and_then(|extension| extension.to_str()) {
        Some("csv") if latency => Ok(by_class),
        Some("csv") => Ok(|runs, all| samples(runs, all, rows::csv)),
        None if output.is_stream() && latency => Ok(by_class),
        None if output.is_stream() => Ok(|runs, all| samples(runs, all, rows::csv)),
        Some("hlog") => Ok(histograms),
        Some("parquet") if latency => bail!("--latency writes CSV: name a file that ends in .csv"),
        #[cfg(feature = "parquet")]
        Some("parquet") => Ok(|runs, all| samples(runs, all, parquet_file::write)),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => bail!(
            "this dyno was built without the feature parquet, which is in it by default; write a .csv, or build it with that"
        ),
        _ => bail!("{} ends in none of .csv, .parquet and .hlog", output.path().display()),
    }
}

fn samples(runs: &[(String, Run)], all: bool, write: fn(&[SampleRow]) -> Result<Vec<u8>>) -> Result<Written> {
    let rows: Vec<SampleRow> = runs.iter().flat_map(|(name, run)| rows::rows(name, run, all)).collect();
    Ok(Written { count: rows.len(), what: "samples", bytes: write(&rows)? })
}

fn by_class(runs: &[(String, Run)], all: bool) -> Result<Written> {
    let rows: Vec<ClassRow> = runs.iter().flat_map(|(name, run)| classes::rows(name, run, all)).collect();
    Ok(Written { count: rows.len(), what: "classes of samples", bytes: rows::csv(&rows)? })
}

fn histograms(runs: &[(String, Run)], all: bool) -> Result<Written> {
    let (count, bytes) = hlog::log(runs, all)?;
    Ok(Written { count, what: "intervals", bytes })
}
