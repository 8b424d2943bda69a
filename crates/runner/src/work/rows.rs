//! The models `insert-rows`, `bulk-load` and `scan`.

use std::ffi::CString;

use anyhow::{Context, Result, ensure};
use dyno_inputs::{MappedRows, TableDigest};
use dyno_protocol::{Column, FieldKind, LoadWork, Sample};

use super::{explain, timed};
use crate::rows::{Load, Scan};
use crate::test_context::TestContext;
use crate::{Engine, Failure, Rows};

pub fn load<E: Engine>(
    work: &LoadWork,
    bench: &mut TestContext<E>,
    way: impl Fn(&mut E::Session, &Load) -> Result<u64, Failure>,
) -> Result<Sample> {
    let rows = MappedRows::load(&work.rows)?;
    let timed = timed(&work.commits, rows.len());
    let load = Load::of(&rows, 0..timed, &work.table, work.commits.per_commit);
    let rest = Load::of(&rows, timed..rows.len(), &work.table, None);
    let TestContext { session, clock, .. } = bench;
    let (result, sample) = clock.time_in_turns(timed, |turns| way(session, &Load { turns, ..load }))?;
    let done = result.map_err(|failure| explain(failure, "row", timed))?;
    ensure!(done == timed, "{done} rows were loaded and {timed} were to be: the driver lost some");
    if !rest.rows.is_empty() {
        way(session, &rest).map_err(|failure| explain(failure, "row (after the clock)", rest.rows.len()))?;
    }
    Ok(Sample { operations: done, rows: done, bytes: load.rows.bytes().len() as u64, ..sample })
}

pub fn scan<E: Engine>(
    table: &str,
    columns: &[Column],
    differ: [usize; 2],
    sql: &str,
    bench: &mut TestContext<E>,
) -> Result<Sample> {
    let text = CString::new(sql).context("the query holds a NUL byte")?;
    let scan = Scan { table, columns, differ, sql: &text };
    let TestContext { session, clock, answer, .. } = bench;
    let (result, sample) = clock.time_in_turns(1, |_| session.scan(&scan, answer))?;
    result.context("the scan")?;
    Ok(Sample { operations: 1, rows: answer.rows(), ..sample })
}

/// The table's digest, and its first, middle and last row as found by their first cell.
pub fn read_back<E: Engine>(work: &LoadWork, bench: &mut TestContext<E>) -> Result<()> {
    let rows = MappedRows::load(&work.rows)?;
    let places = [0, rows.len() / 2, rows.len().saturating_sub(1)];
    let shown = places.iter().filter(|_| !rows.is_empty());
    let first_cells = shown.filter_map(|&place| rows.row(place).next().map(<[u8]>::to_vec));
    let columns: Vec<_> =
        work.rows.columns.iter().map(|column| (column.name.as_str(), FieldKind::Text)).collect();
    let mut digest = TableDigest::new(columns.len(), first_cells);
    bench.session.read_rows(&work.table, &columns, &mut |row| digest.add(row))?;
    bench.answer.begin(true);
    digest.answer().iter().for_each(|row| bench.answer.row(row));
    Ok(())
}
