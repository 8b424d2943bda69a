//! The page: one self-contained HTML file of one run or of several.
//!
//! Pure: verdicts in, HTML out. Every figure on the page comes from the verdict; the page's script draws and sorts the
//! data in the page and computes no statistics. Templates, style and script are files in `crates/show/report/`; texts
//! from a suite, an engine or a file are escaped by the templates and, in data for the script, by [`assets`].

pub(crate) mod anchors;
pub(crate) mod answer;
mod assets;
pub(crate) mod charts;
mod comparison;
pub(crate) mod contenders;
mod markdown;
mod overview;
mod page;
mod raw;
mod sections;
mod sortable;
mod source;
mod waits;
pub(crate) mod words;

use anyhow::{Result, ensure};
use dyno_verdict::JointVerdict;

pub use answer::answers;
pub(crate) use assets::{set, set_with_script};
pub use source::PageSource;

/// The page of one run or more. The last run is the subject; the relation of those before it to the subject is given by
/// `beside`.
///
/// # Errors
/// There is no run.
pub fn render(sources: &[PageSource], beside: &JointVerdict) -> Result<String> {
    ensure!(!sources.is_empty(), "a report needs a run");
    let page = page::Page::new(sources, beside)?;
    assets::render(&page)
}

/// The same as Markdown, for a pull request or a README: all of the page but its charts, whose figures stand in
/// tables.
///
/// # Errors
/// As [`render`].
pub fn markdown(sources: &[PageSource], beside: &JointVerdict) -> Result<String> {
    ensure!(!sources.is_empty(), "a report needs a run");
    markdown::render(&page::Page::new(sources, beside)?)
}
