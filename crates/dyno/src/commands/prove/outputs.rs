//! The files of a proof: what was observed (`-o`), and its page (`--report`).

use anyhow::{Context, Result};
use dyno_files::Output;
use serde::Serialize;

use crate::cli::ProveArgs;
use crate::commands::{overwriting, report};
use crate::terminal;

/// The files that a proof writes.
pub(super) struct ProofOutputs {
    record: Option<Output>,
    page: Option<Output>,
}

impl ProofOutputs {
    /// Opens them. Tables then leave standard output to one that goes there.
    ///
    /// # Errors
    /// One cannot be opened.
    pub fn open(arguments: &ProveArgs) -> Result<ProofOutputs> {
        let record = arguments.out.as_deref().map(Output::open).transpose()?;
        let page = arguments.report.as_deref().map(report::open_proof_page).transpose()?;
        record.iter().chain(&page).for_each(terminal::leave_standard_output_to);
        Ok(ProofOutputs { record, page })
    }

    /// Writes the record. Where that fails, the verdict, which is the work of hours, is still to be printed.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, record: &impl Serialize) -> Result<()> {
        let Some(out) = &mut self.record else { return Ok(()) };
        let text = dyno_show::pretty(record)?;
        out.write(text.as_bytes()).map(drop).context("cannot keep what was observed")
    }

    /// Writes the page, which is made only if one is wanted.
    ///
    /// # Errors
    /// It cannot be made or written.
    pub fn write_page(&mut self, make: impl FnOnce() -> Result<String>) -> Result<()> {
        let Some(page) = &mut self.page else { return Ok(()) };
        page.write(make()?.as_bytes()).map(drop).context("cannot write the page")
    }
}

/// Refuses outputs of which one would replace another.
///
/// # Errors
/// Two of them are the same.
pub(super) fn check(arguments: &ProveArgs) -> Result<()> {
    let out = ("-o", arguments.out.as_deref());
    let page = ("--report", arguments.report.as_deref());
    let kept = ("--keep", arguments.keep.as_deref());
    overwriting::check_outputs(out, page)?;
    overwriting::check_outputs(out, kept)?;
    overwriting::check_outputs(page, kept)
}
