//! `dyno show`: the results of a run again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dyno_record::Run;
use dyno_show::report::{self, Source};
use dyno_verdict::Beside;

use super::{Exit, Input, file_name, print};
use crate::cli::{Format, ShowArgs, ShowOptions};

/// Prints the run named, or the newest one.
pub fn execute(arguments: &ShowArgs) -> Result<Exit> {
    let path = match &arguments.run {
        Some(path) => path.clone(),
        None => newest(&dyno_record::results_folder()).input()?,
    };
    let mut run = dyno_record::load(&path).input()?;
    run.schedule.margin = arguments.show.margin.unwrap_or(run.schedule.margin);
    results(&run, &path, &arguments.show)
}

/// Judges and prints a run; `path` is its file.
pub fn results(run: &Run, path: &Path, options: &ShowOptions) -> Result<Exit> {
    let verdict = dyno_verdict::judge(run);
    let exit = if verdict.is_complete() { Exit::Done } else { Exit::Incomplete };
    print(&match options.format {
        Format::Table => dyno_show::render_table(&verdict, options.table()),
        Format::Csv => dyno_show::render_csv(&verdict)?,
        Format::Json => dyno_show::render_json(&verdict)?,
        // Markdown names the file and has nothing to download.
        Format::Markdown => {
            let source = Source { name: file_name(path), verdict, file: Vec::new() };
            report::markdown(&[source], &Beside::default())?
        }
    })?;
    Ok(exit)
}

/// The newest run file of a folder.
pub(super) fn newest(folder: &Path) -> Result<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "there is no folder {} here; name a run file, or make one: `dyno run speedtest`",
            folder.display()
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read the folder {}", folder.display()));
        }
    };
    let files = entries.flatten().map(|entry| entry.path());
    let runs = files.filter(|path| dyno_record::is_run_file(path));
    // Names begin with the time.
    runs.max().with_context(|| {
        format!("there is no run file in {}; name one, or make one: `dyno run speedtest`", folder.display())
    })
}
