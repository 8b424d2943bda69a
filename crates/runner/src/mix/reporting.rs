//! Operations of which each client says when they begin and when they are done: for proofs, which time nothing.

use std::io::{self, Stdout};

use anyhow::{Context, Error, Result};
use dyno_protocol::{Event, Operation, Purpose};

use super::attempt::{Attempt, Tried};
use super::executor::Executor;
use crate::events::Events;

/// The executor that performs the operations and reports them.
pub struct ReportingExecutor<D> {
    doer: D,
    /// The field of a step with the number that identifies the operation in reports.
    field: usize,
    /// Standard output, of which each client has its own: an event is one write.
    events: Events<Stdout>,
}

impl<D: Executor> ReportingExecutor<D> {
    /// Lets `doer` execute operations, and reports each by the number in a field of its step.
    pub fn new(doer: D, field: usize) -> ReportingExecutor<D> {
        ReportingExecutor { doer, field, events: Events::new(io::stdout()) }
    }

    fn report(
        &mut self,
        work: Attempt,
        does: impl FnOnce(&mut D, Attempt) -> Result<Tried>,
    ) -> Result<Tried> {
        let number = work.number(self.field);
        self.say(Operation { number, done: false })?;
        let tried = does(&mut self.doer, work)?;
        if matches!(tried, Tried::Done) {
            self.say(Operation { number, done: true })?;
        }
        Ok(tried)
    }

    fn say(&mut self, operation: Operation) -> Result<()> {
        self.events.send(&Event::Operation(operation)).context("cannot write to standard output")
    }
}

impl<D: Executor> Executor for ReportingExecutor<D> {
    fn each(&mut self, work: Attempt) -> Result<Tried> {
        self.report(work, D::each)
    }

    fn transaction(&mut self, purpose: Purpose, work: Attempt) -> Result<Tried> {
        self.report(work, |doer, work| doer.transaction(purpose, work))
    }

    fn is_retryable(&self, error: &Error) -> bool {
        self.doer.is_retryable(error)
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        self.doer.has_code(error, code)
    }
}
