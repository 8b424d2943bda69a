//! The run that a page carries, packed as gzip in base64.

use std::io::Read;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

/// The first bytes of every page.
const BEGIN: &str = "<!doctype html>";
/// The text before the name of a packed run's file.
const NAME: &str = "data-name=\"";
/// The text before the margin of a packed run.
const MARGIN: &str = "data-margin=\"";
/// The text before a packed run.
const BEFORE: &str = "href=\"data:application/gzip;base64,";
/// The most that a packed run may hold, in bytes: what is larger was not packed by dyno.
const MOST: u64 = 1 << 30;

/// True if a text is a page and no run file.
pub fn is_page(text: &str) -> bool {
    text.trim_start().get(..BEGIN.len()).is_some_and(|start| start.eq_ignore_ascii_case(BEGIN))
}

/// A run file that a page carries.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedRun {
    /// The name of its file.
    pub name: String,
    /// The margin with which the page judges it, as a share; absent in pages of earlier versions.
    pub margin: Option<f64>,
    /// Its text.
    pub text: String,
}

/// The runs that a page carries, in their order; the page is about the last one.
///
/// # Errors
/// One of them cannot be unpacked.
pub fn packed_runs(page: &str) -> Result<Vec<PackedRun>> {
    let mut parts = page.split(BEFORE);
    let mut before = parts.next().unwrap_or_default();
    let mut runs = Vec::new();
    let mut room = MOST;
    for part in parts {
        let name = attribute(before, NAME).context("a run that is packed in this page has no name")?;
        let margin = attribute(before, MARGIN).and_then(|margin| margin.parse().ok());
        let text = unpacked(part, room)?;
        room -= text.len() as u64;
        runs.push(PackedRun { name: unescaped(name), margin, text });
        before = part;
    }
    Ok(runs)
}

/// The value of the last attribute of this name.
fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.rsplit_once(name)?;
    rest.split_once('"').map(|(value, _)| value)
}

/// A text as it was before it became HTML.
fn unescaped(text: &str) -> String {
    const ESCAPES: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&amp;", "&")];
    ESCAPES.iter().fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// The text of the run that a page is about: the last of those that it carries.
///
/// # Errors
/// There is none, or it cannot be unpacked.
pub(super) fn packed_run(page: &str) -> Result<String> {
    let (_, rest) = page.rsplit_once(BEFORE).context("no run is packed in this page")?;
    unpacked(rest, MOST)
}

/// The text of a packed run at which `rest` begins, of at most `most` bytes.
fn unpacked(rest: &str, most: u64) -> Result<String> {
    let (packed, _) = rest.split_once('"').context("the run that is packed in this page has no end")?;
    // As HTML writes these characters of base64.
    let packed = packed.replace("&#x2f;", "/").replace("&#43;", "+").replace("&#61;", "=");
    let packed = STANDARD.decode(packed).context("the run that is packed in this page is damaged")?;
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(&packed[..]).take(most + 1);
    unpacked.read_to_string(&mut text).context("the run that is packed in this page is damaged")?;
    ensure!(text.len() as u64 <= most, "the run that is packed in this page is too large");
    Ok(text)
}
