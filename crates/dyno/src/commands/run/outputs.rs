//! Checks that the run file and the page can be written before anything is measured.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use dyno_files::Output;
use dyno_record::Run;

use super::super::outcome::AsInput;
use super::super::{overwriting, report};
use crate::cli::PlaceArgs;
use crate::terminal;

/// The places of a run.
pub struct Outputs {
    /// The file that `-o` names.
    run: Option<Output>,
    page: Option<Output>,
    /// The part after the suite in the name of a new run file: the size, where several are measured.
    size: String,
}

impl Outputs {
    /// Those that were typed; `inputs` are files that the run reads.
    ///
    /// # Errors
    /// Nothing can be written to one of them, or it is one of the inputs, or both are one file.
    pub fn open(place: &PlaceArgs, inputs: &[&Path]) -> Result<Outputs> {
        check(place, inputs).input()?;
        let run = place.out.as_deref().map(Output::open).transpose();
        let run = run.context("the run could not be kept").input()?;
        run.iter().for_each(terminal::leave_standard_output_to);
        Ok(Outputs { run, page: page(place)?, size: String::new() })
    }

    /// Those of one size of several: each has its file, and all have one page, which is not among these.
    ///
    /// # Errors
    /// The file cannot be written to.
    pub fn of_size(place: &PlaceArgs, size: &str) -> Result<Outputs> {
        let mut place = PlaceArgs { report: None, ..place.clone() };
        if let Some(path) = &place.out {
            if Output::open(path).input()?.is_stream() {
                let shown = path.display();
                let one = anyhow!("{shown} takes one run, and each size is a run: name a file, or one size");
                return Err(one).input();
            }
            place.out = Some(sized(path, size));
        }
        Ok(Outputs { size: format!("-{size}"), ..Outputs::open(&place, &[])? })
    }

    /// The places of the run file and the page. Without a name the run file is new, as `results/TIME-SUITE.jsonl`; such
    /// names sort by time.
    ///
    /// # Errors
    /// No file can be made in `results/`.
    pub fn named(self, run: &Run) -> Result<(Output, Option<Output>)> {
        let Outputs { run: output, page, size } = self;
        let output = output.map_or_else(
            || {
                let stem = format!("{}-{}{size}", file_time(&run.started), run.suite.name);
                Output::fresh(&dyno_record::results_folder(), &stem, ".jsonl")
            },
            Ok,
        );
        Ok((output.context("the run could not be kept; -o names another place")?, page))
    }
}

/// The files that the repetition of a run reads.
pub fn inputs_of<'a>(path: &'a Path, run: &'a Run) -> Vec<&'a Path> {
    [path].into_iter().chain(run.suite.file.as_ref().map(|file| file.path.as_path())).collect()
}

/// The run file of one size, where `-o` names one for all.
fn sized(path: &Path, size: &str) -> PathBuf {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("jsonl");
    path.with_extension(format!("{size}.{ending}"))
}

/// Refuses places that are one file, and one that is a file which the run reads.
fn check(place: &PlaceArgs, inputs: &[&Path]) -> Result<()> {
    let (out, page) = (place.out.as_deref(), place.report.as_deref());
    overwriting::check_outputs(("-o", out), ("--report", page))?;
    let read = || inputs.iter().copied().chain(place.key_file.as_deref());
    out.iter().chain(&page).try_for_each(|output| overwriting::check_inputs(output, read()))
}

/// The same for the run files of several sizes, which are not one file either.
///
/// # Errors
/// As for [`Outputs::open`].
pub fn check_sizes<'a>(
    place: &PlaceArgs,
    sizes: impl Iterator<Item = &'a str>,
    inputs: &[&Path],
) -> Result<()> {
    let mut known: Vec<PathBuf> = Vec::new();
    for size in sizes {
        let out = place.out.as_deref().map(|path| sized(path, size));
        check(&PlaceArgs { out: out.clone(), ..place.clone() }, inputs)?;
        if let Some(out) = out {
            let own = ("one size", Some(out.as_path()));
            known
                .iter()
                .try_for_each(|other| overwriting::check_outputs(own, ("another", Some(other.as_path()))))?;
            known.push(out);
        }
    }
    Ok(())
}

/// The place of the page, where one is wanted.
///
/// # Errors
/// Nothing can be written to it.
pub fn page(place: &PlaceArgs) -> Result<Option<Output>> {
    let page = place.report.as_deref().map(report::open_page).transpose();
    let page = page.context("the page could not be written").input()?;
    page.iter().for_each(terminal::leave_standard_output_to);
    Ok(page)
}

/// A time as it may stand in the name of a file.
pub(super) fn file_time(time: &str) -> String {
    time.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect()
}
