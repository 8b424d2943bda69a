//! The page: one self-contained HTML file of a run, or of several beside each other.
//!
//! Pure: run files and their verdicts in, HTML out. Every figure on the page comes from the verdict; the
//! page's script draws and sorts what stands in the page and computes no statistic. Templates, style and script
//! are files in `crates/dyno/report/`; what came from a suite, an engine or a file is escaped by the templates
//! and, in data for the script, by [`assets`].

mod answer;
mod assets;
mod charts;
mod contenders;
mod markdown;
mod overview;
mod page;
mod raw;
mod sections;
mod views;
mod words;

use std::path::Path;

use anyhow::{Result, ensure};
use dyno_record::Run;

/// A run with the name of its file, as the page offers it for download.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file's name, without folders.
    pub name: String,
    /// The run.
    pub run: Run,
}

impl Source {
    /// A run as read from `path`.
    pub fn new(path: &Path, run: Run) -> Source {
        let name = path.file_name().map_or("run.json".into(), |name| name.to_string_lossy().into_owned());
        Source { name, run }
    }
}

/// The page of one run or more. The last run is the subject; those before it are what it is compared with.
///
/// # Errors
/// When runs are of different suites or parameters, which cannot be compared.
pub fn render(sources: &[Source]) -> Result<String> {
    ensure!(!sources.is_empty(), "a report needs a run");
    let page = page::Page::new(sources)?;
    assets::render(&page)
}

/// The same as Markdown, for a pull request or a README: all of the page but its charts, whose figures stand in
/// tables.
///
/// # Errors
/// As [`render`].
pub fn markdown(sources: &[Source]) -> Result<String> {
    ensure!(!sources.is_empty(), "a report needs a run");
    markdown::render(&page::Page::new(sources)?)
}
