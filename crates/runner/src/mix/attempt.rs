//! One try of an operation: its statements, and what executes them.

use anyhow::Result;
use dyno_protocol::{MixClass, Sink};

use super::kept::KeptRows;
use super::program::{Executed, Program};
use super::{Step, Value, Values};
use crate::Answer;

/// The outcome of a try that met no error.
#[derive(Clone, Copy)]
pub enum Tried {
    Done,
    /// It was rolled back, as planned.
    Undone,
    /// A statement, by its position, returned no row where one must be.
    Missing(usize),
    /// It ended with an error that the suite ignores.
    Ignored,
}

/// Does one statement.
pub trait StatementExecutor {
    /// By its position among those of all classes; its rows go to the sink.
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()>;

    /// Returns true if what is stored can be read back.
    fn keeps(&self) -> bool;
}

/// The statements of one try.
pub struct Attempt<'a> {
    pub of: &'a MixClass,
    /// The position of its first statement among those of all classes.
    pub first: usize,
    /// The order of the statements, where they are not executed one after another.
    pub program: Option<&'a Program>,
    /// The rows that the statements keep for later ones.
    pub kept: &'a mut [KeptRows],
    /// The sink of other rows.
    pub answer: &'a mut Answer,
    pub step: &'a Step<'a>,
}

impl Attempt<'_> {
    /// The number of statements of its class.
    pub fn statements(&self) -> usize {
        self.of.statements.len()
    }

    /// The number in a field of its step.
    #[inline]
    pub fn number(&self, field: usize) -> i64 {
        match self.step.value(field) {
            Value::Integer(number) => number,
            _ => 0,
        }
    }

    /// Executes all of them by the given executor.
    #[inline]
    pub fn with(self, doer: &mut impl StatementExecutor) -> Result<Tried> {
        let Attempt { of, first, program, kept, answer, step } = self;
        if let Some(program) = program {
            let keeps = doer.keeps();
            let run = |statement: usize, values: &Values, kept: Option<&mut KeptRows>| match kept {
                Some(kept) => doer.run(first + statement, values, kept),
                None => doer.run(first + statement, values, answer),
            };
            if let Executed::Missing(statement) = program.execute(step, kept, keeps, run)? {
                return Ok(Tried::Missing(statement));
            }
        } else {
            let values = Values::of(step);
            let mut all = first..first + of.statements.len();
            all.try_for_each(|statement| doer.run(statement, &values, answer))?;
        }
        let is_undone = of.rollback_if.is_some_and(|field| step.value(field) != Value::Integer(0));
        Ok(if is_undone { Tried::Undone } else { Tried::Done })
    }
}
