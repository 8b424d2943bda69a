//! A file of the user's own in place of the one that a suite makes.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use dyno_plan::records::{self, RecordsContent};
use dyno_record::FileRecord;
use dyno_suite::{Shape, Suite};

/// Checks a file against the columns of the suite's, and gives it with the name of the parameter that says how many
/// records there are.
pub fn use_own_file(path: &Path, suite: &Suite) -> Result<(FileRecord, String)> {
    let (shape, count) = suite.file_data().with_context(|| {
        format!("--file is for suites that import a file, and the suite {} imports none", suite.name)
    })?;
    Ok((look(path, shape)?, count.to_owned()))
}

/// Refuses a file that is not what it was when the run was recorded.
pub fn check_unchanged(old: &FileRecord, suite: &Suite) -> Result<()> {
    let (shape, _) = suite.file_data().context("the suite imports no file")?;
    // A stranger's run may name it: no device is opened, and no pipe waited for.
    dyno_files::open_found(&old.path).with_context(|| format!("cannot read {}", old.path.display()))?;
    let new = look(&old.path, shape)?;
    ensure!(
        new == *old,
        "{} has changed since: it had {} records and the CRC-32 {:08x}, and has {} and {:08x}",
        old.path.display(),
        old.records,
        old.crc32,
        new.records,
        new.crc32
    );
    Ok(())
}

fn look(path: &Path, shape: &Shape) -> Result<FileRecord> {
    let Shape::File { fields, delimiter, .. } = shape else { bail!("the data are no file of records") };
    let RecordsContent { records, bytes, crc32 } = records::copy(path, fields, *delimiter, &mut io::sink())?;
    Ok(FileRecord { path: path.to_owned(), records, bytes, crc32 })
}
