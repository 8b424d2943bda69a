//! The format of a file by its beginning: a table in another format, no text at all, or a line that names the
//! delimiter.

use std::io::BufRead;

use anyhow::{Context, Result, bail, ensure};

use crate::error::Input;

/// The bytes with which every database of SQLite begins unless it is encrypted
/// (<https://sqlite.org/fileformat2.html>, section 1.3.1).
pub const SQLITE: &[u8] = b"SQLite format 3\0";

/// True if it is a Parquet file.
pub fn is_parquet(sample: &[u8]) -> bool {
    sample.starts_with(b"PAR1")
}

/// Refuses what is a table in another format by its first bytes.
pub fn check_text(sample: &[u8], name: &str) -> Result<()> {
    if is_parquet(sample) {
        if cfg!(feature = "parquet") {
            return Ok(());
        }
        bail!(
            "{name} is a Parquet file, and this dyno was built without the feature parquet, which is in it by default"
        );
    }
    let unknown: [(&[u8], &str); 4] =
        [(b"PK\x03\x04", "zip"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"7z\xbc\xaf\x27\x1c", "7z")];
    if let Some((_, format)) = unknown.iter().find(|(start, _)| sample.starts_with(start)) {
        bail!(
            "{name} is packed by {format}, which dyno does not unpack: unpack it first (dyno reads gzip and zstd)"
        );
    }
    if sample.starts_with(SQLITE) {
        bail!("{name} is a SQLite database and no text");
    }
    let start = sample.trim_ascii_start();
    let begins =
        |word: &str| start.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()));
    if ["<!doctype", "<html", "<?xml"].into_iter().any(begins) {
        bail!(
            "{name} is a page of HTML or XML and no table of text: perhaps a server sent an error page in its place. Look \
             at it; --delimiter loads it all the same"
        );
    }
    if is_json(start) {
        bail!(
            "{name} is JSON, of which dyno reads one object on each line: jq -c '.[]' FILE makes such lines of an array; \
             --delimiter loads it as text"
        );
    }
    Ok(())
}

/// True if a text begins as JSON does: with an object, or with an array of objects or arrays.
fn is_json(text: &[u8]) -> bool {
    let inside = |text: &[u8], open: u8| {
        let rest = text.strip_prefix(&[open])?.trim_ascii_start();
        rest.first().copied()
    };
    matches!(inside(text, b'{'), Some(b'"' | b'}')) || matches!(inside(text, b'['), Some(b'{' | b'['))
}

/// Refuses what is probably no text, or text in another encoding. A zero byte here or there is a letter like others, at
/// the beginning as at any other place.
pub fn check_zeros(sample: &[u8], name: &str) -> Result<()> {
    let start = &sample[..sample.len().min(4096)];
    let zeros = start.iter().filter(|byte| **byte == 0).count();
    ensure!(
        is_parquet(sample) || zeros * 10 < start.len().max(1),
        "zero bytes are at least a tenth of the beginning of {name}: it is no text, or UTF-16 without its mark \
         (--encoding utf-16le); --encoding utf-8 loads it with them"
    );
    Ok(())
}

/// The delimiter that a first line `sep=;` states, as spreadsheets write it, with or without quotes.
pub fn written_delimiter(sample: &[u8]) -> Option<u8> {
    let (open, rest) = match sample.strip_prefix(b"\"") {
        Some(rest) => (true, rest),
        None => (false, sample),
    };
    let (word, rest) = rest.split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let rest = if open { rest.strip_prefix(b"\"")? } else { rest };
    let is_line = rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r");
    let is_written = is_line && word.eq_ignore_ascii_case(b"sep=");
    (is_written && delimiter.is_ascii() && !b"\"\r\n".contains(&delimiter)).then_some(delimiter)
}

/// The lines before a text's first record, or its header: as many as the user says, and one that states the delimiter.
///
/// # Errors
/// The text cannot be read.
pub fn lines_before(text: &mut dyn BufRead, asked: u64, name: &str) -> Result<u64> {
    let start = text.fill_buf().with_context(|| format!("cannot read {name}")).input()?;
    Ok(asked.max(written_delimiter(start).is_some().into()))
}
