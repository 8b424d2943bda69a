//! The model `mix` without a database: what the harness itself costs.

use std::hint::black_box;

use anyhow::{Error, Result};
use dyno_protocol::{Purpose, Sink};
use dyno_runner::mix::{Prepared, Statement, Values};

/// Statements that are prepared and never executed.
pub struct Unexecuted(pub Vec<Statement>);

impl Prepared for Unexecuted {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, _: &mut S) -> Result<()> {
        for &source in &self.0[statement].parameters {
            black_box(values.get(source));
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, purpose: Purpose) -> Result<()> {
        black_box(purpose);
        Ok(())
    }

    #[inline]
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        Ok(())
    }

    fn is_retryable(&self, _: &Error) -> bool {
        false
    }

    fn keeps(&self) -> bool {
        false
    }
}
