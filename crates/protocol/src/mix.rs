//! The model `mix`: many clients, each doing operations of several classes, in SQL or on a store of keys and values.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Store, StoreDoes, StoreInvariant};

/// Classes of operations, and for each client a file of steps that says which it does, with what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixWork {
    /// The classes. Steps name them by position.
    pub classes: Vec<MixClass>,
    /// The fields of a step, which are the values for its statements' parameters, in order.
    pub fields: Vec<StepField>,
    /// The lists of a step, over which statements are repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<StepList>,
    /// The number of clients, each with its own session.
    pub clients: u32,
    /// The number of threads that the clients of this process share at most. Absent: as many as there are CPUs that the
    /// process may use. With a driver that keeps its thread until an answer is there each client has a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// A file of steps for each client, or one that all share: whichever client is free does the next step. Each step
    /// is 8 bytes of the moment when it is due, in nanoseconds since the clients began (0: as soon as its client is
    /// free), 8 bytes of the position of its class, and its fields; numbers have their least significant byte first.
    pub steps: Vec<StepFile>,
    /// The position of a field, a number: how long the client waits before it sends the step, in nanoseconds since it
    /// was free. Absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<usize>,
    /// The position of a field, a number: each client says it in an event `operation` right before it does a step, and
    /// again right after the step is done with success. For proofs, which look at no time. Absent: nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<usize>,
    /// In a mix that lasts a time: how often an event `interval` says what was done since the one before, in
    /// nanoseconds, whole seconds. Absent: nothing is said before the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// True if the runner also times each statement of each operation. Its samples then carry `statements` in each
    /// class, and each statement costs two more readings of the clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub times_statements: bool,
    /// Steps of a session. A client that is free takes this many of the next steps of the file that all share, connects
    /// when the first of them is due, does them one after another and leaves; steps after a session's first are due at
    /// once. Connecting, with the preparation of what the session executes, is reported as a class named [`CONNECT`]
    /// after the others. Absent: each client is one session from the beginning to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// The clients of the test that this process has, where several processes do the mix on one database. The job is
    /// then one line, and [`ClientOrder`](crate::ClientOrder)s follow it. Absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ClientPart>,
    /// The duration of the section; each client begins anew with its first step after its last one, unless steps have
    /// times at which they are due. Absent: all steps are done once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<TimeWindow>,
    /// The time that an operation may wait for locks, its repeated tries included, in nanoseconds. An operation without
    /// success by then has failed. A class may have another.
    pub patience_ns: u64,
    /// The store on which all statements are operations; absent: they are SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Store>,
    /// The invariants of the store after the section. The answer is a row for each: its place from 1, its text, and the
    /// number of violations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<StoreInvariant>,
    /// The parts of the test's check, where it asks for several things that must hold, each repeated here, so that a
    /// runner whose check fails finds the one that does, and names it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<NamedQuery>,
}

/// The clients of a mix that one of several processes has: they follow those of the processes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientPart {
    /// The number of clients in the processes before this one. The process with the first client makes the database,
    /// sets up and checks; others open what is there, while that process has it open, and make or remove nothing.
    pub before: u32,
    /// The number of clients in all processes.
    pub of: u32,
}

/// A query with what it is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedQuery {
    /// The condition, in the suite's words, and where these stand.
    pub says: String,
    /// The query.
    pub query: String,
}

/// A class of operations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixClass {
    /// Its name in the suite.
    pub name: String,
    /// The purpose of the transaction that holds its statements; absent: each is a separate transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<Purpose>,
    /// Its statements, in order.
    pub statements: Vec<MixStatement>,
    /// Those of them that are repeated, in order. No two have a statement in common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<MixLoop>,
    /// The position of a field, a number: if it is not 0, the transaction is rolled back after its last statement, as
    /// planned, and not committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollback_if: Option<usize>,
    /// Pauses of its client within the operation, in order; never within a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// Codes of errors with which an operation may end: it is undone and counts as done, and as ignored. Of PostgreSQL
    /// SQLSTATE, of MariaDB and MySQL the number, of SQLite the extended or the primary code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<String>,
    /// The way in which its statements reach the database.
    #[serde(default, skip_serializing_if = "QueryProtocol::is_prepared")]
    pub protocol: QueryProtocol,
    /// The time that one of its operations may wait for locks, its repeated tries included, in nanoseconds; absent:
    /// that of the mix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ns: Option<u64>,
}

/// The way in which statements reach the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueryProtocol {
    /// Prepared once a client before the clock starts, and executed many times with the values of its parameters.
    #[default]
    Prepared,
    /// Never prepared beforehand: each execution sends the text. Where the driver's protocol has no parameters without
    /// preparation, the values stand in the text, quoted by the driver's own function.
    Simple,
}

impl QueryProtocol {
    fn is_prepared(&self) -> bool {
        *self == QueryProtocol::Prepared
    }
}

/// A pause of a client within an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// The position of the statement before which it comes; behind the last one: before the commit.
    pub before: usize,
    /// Its duration, in nanoseconds.
    pub nanoseconds: u64,
}

/// Statements that are repeated together, in order, once for each item of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixLoop {
    /// The position of the first of them in the class.
    pub first: usize,
    /// The number of statements.
    pub count: usize,
    /// The source of the repetitions.
    pub over: LoopSource,
}

/// The source of repetitions of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoopSource {
    /// Each item of a list of the step, by the list's position.
    List(usize),
    /// Each row that an earlier statement of the class has returned, by that statement's position. It keeps all of
    /// them.
    Rows(usize),
}

/// The purpose of a transaction. Engines that lock a whole database by the first write begin it accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// It reads only.
    Read,
    /// It writes.
    Write,
}

/// A statement, executed many times; see [`QueryProtocol`]. All rows that it returns
/// are fetched. One with a value from a row that may be missing, and is, is left out; what it would have kept is then
/// missing too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixStatement {
    /// The text before, between and after its parameters: one piece more than there are parameters. The runner puts
    /// its driver's placeholders between them.
    pub text: Vec<String>,
    /// The source of each parameter's value.
    pub parameters: Vec<MixValue>,
    /// The part of its rows that is kept for later statements of the operation; absent: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<MixRows>,
    /// The operation on the store, in place of SQL. Its text then is for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub does: Option<StoreDoes>,
}

/// The source of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MixValue {
    /// A field of the step, by its position.
    Field(usize),
    /// A column of a row that an earlier statement of the class keeps: of its first row, or within a loop over its rows
    /// of the current one.
    Row {
        /// The position of that statement in the class.
        statement: usize,
        /// The position of the column.
        column: usize,
    },
    /// A column of the current item of the list over which the statement is repeated, by its position.
    Item {
        /// The position of the column.
        item: usize,
    },
}

/// The part of a statement's rows that is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixRows {
    /// Columns of a row.
    pub columns: usize,
    /// True if all rows are kept, and not only the first.
    #[serde(default)]
    pub all: bool,
    /// True if there may be no row; otherwise the operation has then failed.
    #[serde(default)]
    pub may_miss: bool,
}

/// A list of items in a step. Item by item, and within an item column by column, their values are fields one after
/// another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepList {
    /// Its name in the suite.
    pub name: String,
    /// The position of the field that says how many items a step has.
    pub count: usize,
    /// The position of the first item's first field.
    pub first: usize,
    /// Columns of an item.
    pub columns: usize,
    /// The most items that a step may have; there are fields for this number.
    pub most: usize,
}

/// A field of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepField {
    /// Its name in the suite.
    pub name: String,
    /// The type of its value.
    pub kind: StepKind,
    /// Its size in bytes; of a number 8.
    pub bytes: u64,
}

/// The type of the value in a field of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A whole number of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Real,
    /// Text of all of its bytes.
    Text,
    /// Text of at most 8 bytes less than the field has, in UTF-8: 8 bytes for its length, then its bytes.
    VaryingText,
}

/// A file of steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepFile {
    /// The file.
    pub file: PathBuf,
    /// The number of steps.
    pub count: u64,
}

/// The duration of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeWindow {
    /// Time in which operations count, in nanoseconds.
    pub duration_ns: u64,
    /// Time before that in which operations are done without being counted, in nanoseconds.
    #[serde(default)]
    pub warm_up_ns: u64,
}

/// The class of samples with the times that connecting took, if clients come and go.
pub const CONNECT: &str = "connect";

/// Bytes of a step before its fields.
pub const STEP_HEAD: u64 = 16;
/// The place of a step's class among them, behind the moment at which the step is due; both are little-endian.
pub const STEP_CLASS: std::ops::Range<usize> = 8..16;

impl MixWork {
    /// The time that an operation of a class, by position, may wait for locks, in nanoseconds.
    pub fn patience_of(&self, class: usize) -> u64 {
        self.classes[class].patience_ns.unwrap_or(self.patience_ns)
    }

    /// The shortest time that an operation of any class may wait for locks, in nanoseconds: what a connection may wait
    /// that has one limit for all. An operation that may wait longer is tried again.
    pub fn shortest_patience(&self) -> u64 {
        (0..self.classes.len()).map(|class| self.patience_of(class)).min().unwrap_or(self.patience_ns)
    }

    /// The size of a step in bytes.
    pub fn step_bytes(&self) -> u64 {
        STEP_HEAD + self.fields.iter().map(|field| field.bytes).sum::<u64>()
    }
}
