//! The interface of a session with prepared statements.

use anyhow::{Error, Result};
use dyno_protocol::{MixStatement, MixValue, MixWork, Purpose, QueryProtocol, Sink};

use super::Values;

/// The prepared statements of a session. All calls are within the clock.
pub trait Prepared {
    /// Executes a statement, by its position among those that were prepared, with what its parameters are now, and reads
    /// every value of every row into the sink.
    fn run<S: Sink>(&mut self, statement: usize, values: &Values, sink: &mut S) -> Result<()>;

    /// Begins a transaction.
    fn begin(&mut self, purpose: Purpose) -> Result<()>;

    /// Commits it.
    fn commit(&mut self) -> Result<()>;

    /// Rolls the transaction back. The engine may have done so already.
    fn rollback(&mut self) -> Result<()>;

    /// Returns true if an operation that failed so may succeed if it is tried again: the database was busy, it was the
    /// victim of a deadlock, or it could not be put in an order with the others.
    fn is_retryable(&self, error: &Error) -> bool;

    /// Returns true if an error has this code, as a suite names errors.
    fn has_code(&self, _error: &Error, _code: &str) -> bool {
        false
    }

    /// Returns true if what is stored can be read back: of the harness it cannot, and it misses no row.
    fn keeps(&self) -> bool {
        true
    }
}

/// A statement to prepare.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its text with the driver's placeholders.
    pub sql: String,
    /// For each placeholder where its value comes from.
    pub parameters: Vec<MixValue>,
    /// The texts around its parameters.
    pub pieces: Vec<String>,
    /// True if it is not to be prepared beforehand.
    pub is_simple: bool,
}

/// The statements of all classes, in order, with the placeholders that a driver has: `placeholder` gets the number of
/// a parameter, from 1.
pub fn statements(mix: &MixWork, placeholder: impl Fn(usize) -> String) -> Vec<Statement> {
    let sql = |statement: &MixStatement| {
        let pieces = statement.text.iter().enumerate();
        pieces.fold(String::new(), |sql, (place, piece)| match place {
            0 => piece.clone(),
            _ => sql + &placeholder(place) + piece,
        })
    };
    let all = mix.classes.iter().flat_map(|class| {
        let is_simple = class.protocol == QueryProtocol::Simple;
        class.statements.iter().map(move |statement| (statement, is_simple))
    });
    let statement = |(statement, is_simple): (&MixStatement, bool)| Statement {
        sql: sql(statement),
        parameters: statement.parameters.clone(),
        pieces: statement.text.clone(),
        is_simple,
    };
    all.map(statement).collect()
}

/// The prepared statements of an engine that has no SQL.
#[derive(Debug)]
pub enum NoStatements {}

impl Prepared for NoStatements {
    fn run<S: Sink>(&mut self, _: usize, _: &Values, _: &mut S) -> Result<()> {
        match *self {}
    }

    fn begin(&mut self, _: Purpose) -> Result<()> {
        match *self {}
    }

    fn commit(&mut self) -> Result<()> {
        match *self {}
    }

    fn rollback(&mut self) -> Result<()> {
        match *self {}
    }

    fn is_retryable(&self, _: &Error) -> bool {
        match *self {}
    }
}
