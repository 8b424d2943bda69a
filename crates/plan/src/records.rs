//! A file of records that the user brings: checked to the last field before anything is measured, and copied as runners
//! want it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use dyno_protocol::{FieldKind, FileColumn};

/// The longest line that is taken, in bytes.
const LONGEST: u64 = 1 << 20;

/// The content of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordsContent {
    /// The number of records.
    pub records: u64,
    /// The size of the copy, in bytes.
    pub bytes: u64,
    /// The CRC-32 of the copy.
    pub crc32: u32,
}

/// Checks every record of a file and copies it to `out`. Line ends of Windows become line feeds, and a last line
/// without an end gets one.
///
/// # Errors
/// The file cannot be read, is empty, or has a record of another shape: with file and line.
pub fn copy(
    path: &Path,
    fields: &[FileColumn],
    delimiter: char,
    out: &mut impl Write,
) -> Result<RecordsContent> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let mut found = RecordsContent { records: 0, bytes: 0, crc32: 0 };
    let mut crc = crc32fast::Hasher::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line);
        if read.with_context(|| format!("cannot read {}", path.display()))? == 0 {
            break;
        }
        found.records += 1;
        let kept = line.strip_suffix(b"\n").unwrap_or(&line).len();
        let kept = line[..kept].strip_suffix(b"\r").map_or(kept, <[u8]>::len);
        line.truncate(kept);
        check(&line, fields, delimiter).with_context(|| format!("{}:{}", path.display(), found.records))?;
        line.push(b'\n');
        crc.update(&line);
        found.bytes += line.len() as u64;
        out.write_all(&line).context("cannot copy the file")?;
    }
    ensure!(found.records > 0, "{} is empty: there is nothing to import", path.display());
    found.crc32 = crc.finalize();
    Ok(found)
}

/// Refuses a line that is not a record of the suite's shape.
fn check(line: &[u8], columns: &[FileColumn], delimiter: char) -> Result<()> {
    ensure!(line.len() as u64 <= LONGEST, "the line is longer than {} MiB", LONGEST >> 20);
    let text = std::str::from_utf8(line)
        .map_err(|error| anyhow!("byte {} of the line is not UTF-8", error.valid_up_to() + 1))?;
    ensure!(!text.contains('\0'), "the line holds a NUL byte");
    ensure!(
        !text.contains('\\'),
        "the line holds a backslash, which COPY and LOAD DATA would take for an escape: the ways of loading that are \
         compared must all read the same"
    );
    let fields: Vec<&str> = text.split(delimiter).collect();
    let names = || columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    ensure!(
        fields.len() == columns.len(),
        "the record has {} fields and not {}: {}, with '{}' between them",
        fields.len(),
        columns.len(),
        names(),
        delimiter.escape_debug()
    );
    for (field, column) in fields.iter().zip(columns).filter(|(_, column)| column.kind == FieldKind::Integer)
    {
        let number = field.parse::<i32>().ok().filter(|number| number.to_string() == *field);
        number.with_context(|| {
            format!(
                "{} is '{}', and that column takes whole numbers of 32 bits, written without plus, blanks and \
                 leading zeros; a header line is not a record",
                column.name,
                field.escape_debug()
            )
        })?;
    }
    Ok(())
}
