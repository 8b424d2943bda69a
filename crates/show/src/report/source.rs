//! A run of a page.

use dyno_verdict::Verdict;

/// A run of a page.
#[derive(Debug)]
pub struct PageSource {
    /// The name of its file, without folders.
    pub name: String,
    /// The statements that its samples support.
    pub verdict: Verdict,
    /// The contents of the run file, which the page offers for download.
    pub file: Vec<u8>,
}
