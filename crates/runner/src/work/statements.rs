//! The model `statements`.

use std::path::Path;

use anyhow::{Error, Result};
use dyno_protocol::Sample;

use crate::trial::{Bench, quote};
use crate::{Driver, Failure, Statements};

pub fn perform<D: Driver>(file: &Path, count: u64, bench: &mut Bench<D>) -> Result<Sample> {
    let statements = Statements::load(file, count, std::mem::take(&mut bench.ends))?;
    let changes = bench.driver.changes();
    let Bench { driver, clock, answer, .. } = bench;
    let (result, sample) = clock.time(|| driver.statements(&statements, answer));
    let operations = result.map_err(|failure| explain(failure, &statements))?;
    let changed = bench.driver.changes().saturating_sub(changes);
    let sample =
        Sample { operations, rows: bench.answer.rows() + changed, bytes: statements.bytes(), ..sample };
    bench.ends = statements.release();
    Ok(sample)
}

fn explain(failure: Failure, statements: &Statements) -> Error {
    let Some(index) = failure.index else { return failure.error };
    let text = statements.get(index).unwrap_or_default().to_string_lossy();
    let place = format!("statement {} of {} ({})", index + 1, statements.len(), quote(&text));
    failure.error.context(place)
}
