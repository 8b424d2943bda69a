//! An executor that times each statement of an operation, for mixes that ask for it. All others have an executor without a
//! clock: what is not asked for costs nothing.

use std::time::Instant;

use anyhow::{Error, Result};
use dyno_protocol::{MixClass, MixWork, Purpose, Sink, StatementTimes};

use super::Prepared;
use super::Values;
use super::attempt::{Attempt, StatementExecutor, Tried};
use super::executor::{Executor, Sql};
use super::totals::Execution;

/// A session with prepared statements that times each of them.
pub struct TimingExecutor<P> {
    doer: Sql<P>,
    /// The executions of the operation under way, in order.
    executions: Vec<Execution>,
    /// The position of the class's first statement among those of all classes.
    first: usize,
    /// 1 in a transaction, whose beginning is timed as the first statement; else 0.
    shift: usize,
}

impl<P: Prepared> TimingExecutor<P> {
    /// Has `doer` execute the statements.
    pub fn new(doer: Sql<P>) -> TimingExecutor<P> {
        TimingExecutor { doer, executions: Vec::new(), first: 0, shift: 0 }
    }

    /// Begins to time an operation.
    fn start(&mut self, work: &Attempt, shift: usize) {
        self.executions.clear();
        (self.first, self.shift) = (work.first, shift);
    }

    /// Runs a part of the operation, and keeps its duration.
    fn time<T>(&mut self, place: usize, run: impl FnOnce(&mut Sql<P>) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let done = run(&mut self.doer)?;
        self.executions.push((place, began.elapsed().as_nanos() as u64));
        Ok(done)
    }
}

impl<P: Prepared> Executor for TimingExecutor<P> {
    fn each(&mut self, work: Attempt) -> Result<Tried> {
        self.start(&work, 0);
        work.with(self)
    }

    fn transaction(&mut self, purpose: Purpose, work: Attempt) -> Result<Tried> {
        let end = 1 + work.statements();
        self.start(&work, 1);
        self.time(0, |doer| doer.0.begin(purpose))?;
        let done = work.with(self).and_then(|tried| {
            self.time(end, |doer| doer.end(tried))?;
            Ok(tried)
        });
        done.map_err(|error| self.doer.undo(error))
    }

    fn is_retryable(&self, error: &Error) -> bool {
        self.doer.is_retryable(error)
    }

    fn has_code(&self, error: &Error, code: &str) -> bool {
        self.doer.has_code(error, code)
    }

    fn executions(&self) -> &[Execution] {
        &self.executions
    }
}

impl<P: Prepared> StatementExecutor for TimingExecutor<P> {
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()> {
        self.time(statement - self.first + self.shift, |doer| doer.run(statement, values, sink))
    }

    fn keeps(&self) -> bool {
        self.doer.keeps()
    }
}

/// The number of statements of each class that are timed; empty where none are.
pub fn counts(mix: &MixWork) -> Vec<usize> {
    if mix.times_statements && mix.store.is_none() {
        mix.classes.iter().map(|class| texts(class).count()).collect()
    } else {
        Vec::new()
    }
}

/// Names the timed statements of a class.
pub fn name(class: &MixClass, statements: &mut [StatementTimes]) {
    statements.iter_mut().zip(texts(class)).for_each(|(statement, text)| statement.text = text);
}

/// The texts of the statements of a class that are timed, with the beginning and the end of its transaction.
fn texts(class: &MixClass) -> impl Iterator<Item = String> {
    let own = class.statements.iter().map(|statement| statement.text.join("?").trim().to_owned());
    let word = |word: &str| class.transaction.map(|_| word.to_owned());
    word("BEGIN").into_iter().chain(own).chain(word("COMMIT"))
}
