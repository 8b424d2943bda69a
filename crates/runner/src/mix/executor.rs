//! The executor of an operation's statements: a session with prepared statements, or a store of keys and values.

use anyhow::{Error, Result};
use dyno_protocol::{Purpose, Sink};

use super::attempt::{Attempt, StatementExecutor, Tried};
use super::totals::Execution;
use super::{Prepared, Values};

/// Does operations, all within the clock.
pub trait Executor {
    /// Executes the statements of an operation, each as a separate transaction.
    fn each(&mut self, work: Attempt) -> Result<Tried>;

    /// Executes them as one transaction, which is committed if they succeed, and else rolled back.
    fn transaction(&mut self, purpose: Purpose, work: Attempt) -> Result<Tried>;

    /// Returns true if an operation that failed so may succeed if it is tried again.
    fn is_retryable(&self, error: &Error) -> bool;

    /// Returns true if an error has this code.
    fn has_code(&self, _error: &Error, _code: &str) -> bool {
        false
    }

    /// The durations of the statements of the last operation, where they are timed.
    #[inline]
    fn executions(&self) -> &[Execution] {
        &[]
    }
}

/// A session with prepared statements.
pub struct Sql<P>(pub P);

impl<P: Prepared> Executor for Sql<P> {
    #[inline]
    fn each(&mut self, work: Attempt) -> Result<Tried> {
        work.with(self)
    }

    #[inline]
    fn transaction(&mut self, purpose: Purpose, work: Attempt) -> Result<Tried> {
        self.0.begin(purpose)?;
        let done = work.with(self).and_then(|tried| {
            self.end(tried)?;
            Ok(tried)
        });
        done.map_err(|error| self.undo(error))
    }

    fn is_retryable(&self, error: &Error) -> bool {
        self.0.is_retryable(error)
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        self.0.has_code(error, code)
    }
}

impl<P: Prepared> Sql<P> {
    /// Ends a transaction in which no error happened.
    #[inline]
    pub fn end(&mut self, tried: Tried) -> Result<()> {
        match tried {
            Tried::Done => self.0.commit(),
            Tried::Undone | Tried::Missing(_) | Tried::Ignored => self.0.rollback(),
        }
    }

    /// Ends the transaction in which an error happened.
    #[cold]
    pub fn undo(&mut self, error: Error) -> Error {
        match self.0.rollback() {
            Ok(()) => error,
            // The first error is the cause.
            Err(second) => error.context(format!("and the rollback failed ({second:#})")),
        }
    }
}

impl<P: Prepared> StatementExecutor for Sql<P> {
    #[inline]
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        self.0.run(statement, values, sink)
    }

    #[inline]
    fn keeps(&self) -> bool {
        self.0.keeps()
    }
}
