//! The files that are loaded, made from a seed.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::Result;

/// A transit schedule: seven columns with tabs between them.
pub fn schedule(path: &Path, records: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..records {
        let (route, branch, letter) = (random.u32(1..200), random.u32(1..90), random.char('A'..='D'));
        let (version, stop, vehicle, day) =
            (random.u32(1..4), random.u32(1..13_000), random.u32(1..2_000), random.u32(1..4));
        // Hours go up to 26, as timetables write trips after midnight.
        let (hour, minute, second) = (random.u32(4..27), random.u32(0..60), random.u32(0..60));
        writeln!(
            file,
            "{route}\t{branch}_{letter}\t{version}\t{stop}\t{vehicle}\t{day}\t{hour:02}:{minute:02}:{second:02}"
        )?;
    }
    Ok(file.flush()?)
}

/// Rows of three numbers of 64 bits.
pub fn numbers(path: &Path, rows: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(2);
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..rows {
        writeln!(file, "{}\t{}\t{}", random.i64(..), random.i64(..), random.i64(..))?;
    }
    Ok(file.flush()?)
}

/// Copies a tab-separated file as CSV, with quotes around every field.
pub fn quoted(from: &Path, to: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(to)?);
    for line in BufReader::new(File::open(from)?).lines() {
        writeln!(file, "\"{}\"", line?.replace('\t', "\",\""))?;
    }
    Ok(file.flush()?)
}
