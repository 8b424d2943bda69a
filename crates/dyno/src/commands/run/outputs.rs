//! Checks that the run file and the page can be written before anything is measured.

use anyhow::{Context, Result, anyhow};
use dyno_files::Output;
use dyno_record::Run;

use super::super::outcome::AsInput;
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
    /// Those that were typed.
    ///
    /// # Errors
    /// Nothing can be written to one of them.
    pub fn open(place: &PlaceArgs) -> Result<Outputs> {
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
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("jsonl");
            place.out = Some(path.with_extension(format!("{size}.{ending}")));
        }
        Ok(Outputs { size: format!("-{size}"), ..Outputs::open(&place)? })
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

/// The place of the page, where one is wanted.
///
/// # Errors
/// Nothing can be written to it.
pub fn page(place: &PlaceArgs) -> Result<Option<Output>> {
    let page = place.report.as_deref().map(Output::open).transpose();
    let page = page.context("the page could not be written").input()?;
    page.iter().for_each(terminal::leave_standard_output_to);
    Ok(page)
}

/// A time as it may stand in the name of a file.
pub(super) fn file_time(time: &str) -> String {
    time.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect()
}
