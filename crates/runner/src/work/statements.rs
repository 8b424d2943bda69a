//! The model `statements`, with its loop over them.

use std::path::Path;

use anyhow::{Error, Result};
use dyno_protocol::Sample;

use crate::quote::quote;
use crate::test_context::TestContext;
use crate::{Answer, Engine, Failure, Session, Slices, Statements};

pub fn perform<E: Engine>(file: &Path, count: u64, bench: &mut TestContext<E>) -> Result<Sample> {
    let statements = Statements::load(file, count, std::mem::take(&mut bench.ends))?;
    let before = bench.session.changes();
    let TestContext { session, clock, answer, .. } = bench;
    let (result, sample) =
        clock.time_in_turns(statements.len(), |turns| execute(&statements, session, answer, turns))?;
    let changed = result.map_err(|failure| explain(failure, &statements))?;
    let changed = changed + bench.session.changes().saturating_sub(before);
    let sample = Sample {
        operations: statements.len(),
        rows: bench.answer.rows() + changed,
        bytes: statements.bytes(),
        ..sample
    };
    bench.ends = statements.release();
    Ok(sample)
}

/// Executes the statements in order and fetches every value of every row. Returns how many rows they changed, as far as
/// the engine says so of each.
#[inline]
fn execute(
    statements: &Statements,
    session: &mut impl Session,
    answer: &mut Answer,
    turns: Slices,
) -> Result<u64, Failure> {
    let (mut index, mut changed) = (0, 0);
    while index < statements.len() {
        let end = index + turns.take(statements.len() - index)?;
        for sql in statements.range(index..end) {
            match session.execute(sql, answer) {
                Ok(rows) => changed += rows,
                Err(error) => return Err(Failure::at(index, error)),
            }
            index += 1;
        }
    }
    Ok(changed)
}

fn explain(failure: Failure, statements: &Statements) -> Error {
    let Some(index) = failure.index else { return failure.error };
    let text = statements.get(index).unwrap_or_default().to_string_lossy();
    let place = format!("statement {} of {} ({})", index + 1, statements.len(), quote(&text));
    failure.error.context(place)
}
