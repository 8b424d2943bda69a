//! A run file within the page, to be downloaded from it.

use std::io::Write;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::source::PageSource;

/// A run file, packed.
#[derive(Debug, Serialize)]
pub(super) struct Raw {
    /// The file's name.
    name: String,
    /// The margin with which it was judged, so that `dyno verify` can judge it in the same way.
    margin: f64,
    /// Its bytes, gzip in base64: a browser unpacks them, and one without script offers the packed file.
    packed: String,
    /// Its size once unpacked, for people.
    size: String,
}

impl Raw {
    pub(super) fn new(source: &PageSource) -> Result<Raw> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&source.file).context("cannot pack the run")?;
        let packed = STANDARD.encode(encoder.finish().context("cannot pack the run")?);
        let margin = source.verdict.about.schedule.margin;
        Ok(Raw {
            name: source.name.clone(),
            margin,
            packed,
            size: crate::units::bytes(source.file.len() as f64),
        })
    }
}
