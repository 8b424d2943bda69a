//! The page of what `dyno prove` found, of one server or of a cluster: tables, and below them what was seen of each
//! contender.

use anyhow::Result;
use serde::Serialize;

use crate::report::set;

/// The words in the place of a verdict where a control did not behave.
pub const WITHHELD: &str = "No verdict: a control did not behave, so nothing here can be believed.";

/// The data for the template.
#[derive(Serialize)]
pub struct ProvePage<'a, C> {
    /// The title.
    pub title: &'static str,
    /// The version of dyno.
    pub dyno: &'a str,
    /// Sentences that a reader sees first.
    pub answers: Vec<String>,
    /// The conditions, a name and a value each; the version of dyno follows them.
    pub facts: Vec<(&'static str, String)>,
    /// The tables.
    pub tables: Vec<PageTable>,
    /// The contenders.
    pub subjects: Vec<SubjectSection<C>>,
    /// The section at the end.
    pub closing: ClosingSection,
}

impl<C: Serialize> ProvePage<'_, C> {
    /// One self-contained HTML file.
    ///
    /// # Errors
    /// The page cannot be set in its template.
    pub fn render(&self) -> Result<String> {
        set("prove.html", self)
    }
}

/// A table whose first cells are headings.
#[derive(Serialize)]
pub struct PageTable {
    anchor: &'static str,
    title: &'static str,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PageTable {
    /// A table with an anchor and a title.
    pub fn new<const N: usize>(
        (anchor, title): (&'static str, &'static str),
        heads: &[&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> PageTable {
        let heads = heads.iter().map(|head| head.replace('\n', " ")).collect();
        PageTable { anchor, title, heads, rows: rows.into_iter().map(Vec::from).collect() }
    }

    /// True if it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A contender with its drawings and its sentences.
#[derive(Serialize)]
pub struct SubjectSection<C> {
    /// Its name.
    pub name: String,
    /// The version of the engine, where it reported one.
    pub version: Option<String>,
    /// Its drawings.
    pub charts: Vec<C>,
    /// Its sentences.
    pub lines: Vec<String>,
}

/// The section at the end of the page.
#[derive(Serialize)]
pub struct ClosingSection {
    /// Its anchor.
    pub anchor: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its paragraphs.
    pub paragraphs: Vec<String>,
}
