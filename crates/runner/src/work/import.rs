//! The model `import-file`.

use std::ffi::CString;
use std::fs::File;

use anyhow::{Context, Result, ensure};
use dyno_inputs::TableDigest;
use dyno_protocol::{ImportWork, Sample};
use memchr::memchr_iter;
use memmap2::Mmap;

use super::{explain, timed};
use crate::import::Import;
use crate::test_context::TestContext;
use crate::{Answer, Engine, Failure, Rows, Session};

pub fn import<E: Engine>(work: &ImportWork, bench: &mut TestContext<E>) -> Result<Sample> {
    ensure!(work.delimiter.is_ascii(), "the delimiter '{}' is not one byte", work.delimiter.escape_debug());
    let timed = timed(&work.commits, work.records);
    // Also brings the file into the kernel's cache: reading it is timed, waiting for a device is not.
    let cut = check(work, timed)?;
    let [before, after] = [&work.before, &work.after].map(|list| texts(list));
    let (before, after) = (before?, after?);
    let TestContext { session, clock, answer, .. } = bench;
    let prepared = map(work)?;
    let prepared = session.prepare_import(&part(work, &prepared, 0..cut, timed));
    prepared.map_err(|failure| explain(failure, "record (before the clock)", timed))?;
    let (result, sample) = clock.time_in_turns(1, |_| {
        let file = map(work)?;
        execute(&before, session, answer)?;
        let done = session.import(&part(work, &file, 0..cut, timed))?;
        execute(&after, session, answer)?;
        Ok(done)
    })?;
    let done = result.map_err(|failure| explain(failure, "record", timed))?;
    ensure!(done == timed, "{done} records were imported and {timed} were to be: the driver lost some");
    let rest = work.records - timed;
    if rest > 0 {
        let file = map(work)?;
        let others = Import { per_commit: None, ..part(work, &file, cut..file.len(), rest) };
        let imported = session.import(&others);
        imported.map_err(|failure| explain(failure, "record (after the clock)", rest))?;
    }
    Ok(Sample { operations: done, rows: done, bytes: cut as u64, ..sample })
}

/// The digest of the columns that the file fills.
pub fn read_back<E: Engine>(work: &ImportWork, bench: &mut TestContext<E>) -> Result<()> {
    let columns: Vec<_> = work.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
    let mut digest = TableDigest::new(columns.len(), []);
    bench.session.read_rows(&work.table, &columns, &mut |row| digest.add(row))?;
    bench.answer.begin(true);
    digest.answer().iter().for_each(|row| bench.answer.row(row));
    Ok(())
}

/// The position in the file at which the timed records end. The file must match the job.
fn check(work: &ImportWork, timed: u64) -> Result<usize> {
    let file = map(work)?;
    let (mut records, mut cut) = (0, 0);
    for end in memchr_iter(b'\n', &file) {
        records += 1;
        if records == timed {
            cut = end + 1;
        }
    }
    ensure!(
        (file.len() as u64, records) == (work.bytes, work.records) && file.last().is_none_or(|&b| b == b'\n'),
        "the input {} has {} bytes and {records} records where {} and {} are promised: it is cut off or another",
        work.file.display(),
        file.len(),
        work.bytes,
        work.records
    );
    Ok(cut)
}

fn map(work: &ImportWork) -> Result<Mmap> {
    let name = || format!("the input {}", work.file.display());
    let file = File::open(&work.file).with_context(|| format!("cannot open {}", name()))?;
    // SAFETY: dyno wrote the file for this trial and nothing changes it while the runner lives.
    unsafe { Mmap::map(&file) }.with_context(|| format!("cannot map {}", name()))
}

fn part<'a>(work: &'a ImportWork, file: &'a [u8], range: std::ops::Range<usize>, records: u64) -> Import<'a> {
    Import {
        table: &work.table,
        columns: &work.columns,
        delimiter: work.delimiter as u8,
        bytes: &file[range],
        records,
        per_commit: work.commits.per_commit,
        file: (records == work.records).then_some(&work.file),
    }
}

fn texts(statements: &[String]) -> Result<Vec<CString>> {
    statements.iter().map(|sql| CString::new(sql.as_str()).context("a statement holds a NUL byte")).collect()
}

fn execute(statements: &[CString], session: &mut impl Session, answer: &mut Answer) -> Result<(), Failure> {
    for sql in statements {
        session.execute(sql, answer).with_context(|| sql.to_string_lossy().into_owned())?;
    }
    Ok(())
}
