//! The model `mix` without a database: what the harness itself costs.

use std::hint::black_box;

use anyhow::{Error, Result};
use dyno_protocol::Purpose;
use dyno_runner::Answer;
use dyno_runner::mix::{Prepared, Statement, Step};

/// Statements that nobody executes.
pub struct Unsaid(pub Vec<Statement>);

impl Prepared for Unsaid {
    #[inline]
    fn run(&mut self, statement: usize, step: &Step, _: &mut Answer) -> Result<()> {
        for &field in &self.0[statement].parameters {
            black_box(step.value(field));
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

    fn may_pass(&self, _: &Error) -> bool {
        false
    }
}
