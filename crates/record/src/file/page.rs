//! The run that a page carries, packed as gzip in base64.

use std::io::Read;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

/// How every page begins.
const BEGIN: &str = "<!doctype html>";
/// What stands before a packed run.
const BEFORE: &str = "href=\"data:application/gzip;base64,";
/// The most that a packed run may hold, in bytes: what is larger was not packed by dyno.
const MOST: u64 = 1 << 30;

/// Whether a text is a page and no run file.
pub(super) fn is_page(text: &str) -> bool {
    text.trim_start().get(..BEGIN.len()).is_some_and(|start| start.eq_ignore_ascii_case(BEGIN))
}

/// The text of the run that a page is about: the last of those that it carries.
///
/// # Errors
/// There is none, or it cannot be unpacked.
pub(super) fn packed_run(page: &str) -> Result<String> {
    let (_, rest) = page.rsplit_once(BEFORE).context("no run is packed in this page")?;
    let (packed, _) = rest.split_once('"').context("the run that is packed in this page has no end")?;
    // As HTML writes these characters of base64.
    let packed = packed.replace("&#x2f;", "/").replace("&#43;", "+").replace("&#61;", "=");
    let packed = STANDARD.decode(packed).context("the run that is packed in this page is damaged")?;
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(&packed[..]).take(MOST + 1);
    unpacked.read_to_string(&mut text).context("the run that is packed in this page is damaged")?;
    ensure!(text.len() as u64 <= MOST, "the run that is packed in this page is too large");
    Ok(text)
}
