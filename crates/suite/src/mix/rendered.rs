//! A class of a mix, made ready for one dialect.

use dyno_protocol::{MixRows, Pause, Purpose, QueryProtocol, StoreDoes};

/// A class made ready for one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedClass {
    /// Its name.
    pub name: String,
    /// The purpose for which its statements are one transaction.
    pub transaction: Option<Purpose>,
    /// Its statements.
    pub statements: Vec<RenderedStatement>,
    /// Those that are repeated.
    pub loops: Vec<Repeated>,
    /// The value that decides whether the transaction is rolled back, as planned.
    pub rollback: Option<String>,
    /// The pauses of its client.
    pub pauses: Vec<Pause>,
    /// The codes of errors with which its operations may end.
    pub ignores: Vec<String>,
    /// The way in which its statements reach the database.
    pub protocol: QueryProtocol,
    /// The store on which its statements are operations, where they are no SQL.
    pub store: Option<String>,
}

/// A statement of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedStatement {
    /// The texts around its parameters.
    pub text: Vec<String>,
    /// The sources of the parameters' values.
    pub parameters: Vec<Parameter>,
    /// The rows that are kept.
    pub keeps: Option<MixRows>,
    /// The operation on a store, if it is no SQL.
    pub does: Option<StoreDoes>,
    /// The part that is repeated for each item of a list, behind the first text and its parameters.
    pub rows: Option<Rows>,
}

/// The part of a statement that is repeated for each item of a list, with commas between: the rows of an INSERT.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The list.
    pub list: String,
    /// The texts around the parameters of a row.
    pub text: Vec<String>,
    /// The sources of the parameters' values.
    pub parameters: Vec<Parameter>,
    /// The text after the last row.
    pub tail: String,
}

/// The source of a parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    /// A value of the step, by name.
    Value(String),
    /// The number of a list's items, by the list's name.
    Count(String),
    /// A column of the current item of a list, by their names.
    Item(String, String),
    /// A column of a row that an earlier statement keeps, by their positions.
    Row(usize, usize),
}

/// Statements that are repeated: the position of the first, how many, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The position of the first.
    pub first: usize,
    /// The number of statements.
    pub count: usize,
    /// The items or rows for which they are repeated.
    pub over: Repeat,
}

/// The items for which statements are repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// The items of a list, by its name.
    List(String),
    /// The rows that an earlier statement keeps, by its position.
    Rows(usize),
}
