//! The skeleton of a Rust runner: all of a trial that is not the engine.
//!
//! A runner is a type that implements [`Driver`] and a `main` that calls [`run`]. The skeleton reads
//! the job, loads every input before the clock starts, reads the clock and the kernel's counters,
//! sends the events, and turns every way of going wrong into a `failed` event that names the test.
//!
//! ```no_run
//! # use dyno_runner::{Answer, Driver, Failure, KeyValue, Rows, Statements};
//! # use dyno_protocol::{Hello, Job};
//! # struct MyEngine;
//! # impl Rows for MyEngine {}
//! # impl KeyValue for MyEngine {}
//! # impl Driver for MyEngine {
//! #     fn open(_: &Job) -> anyhow::Result<(Self, Hello)> { todo!() }
//! #     fn statements(&mut self, _: &Statements, _: &mut Answer) -> Result<u64, Failure> { todo!() }
//! #     fn close(self) -> anyhow::Result<()> { Ok(()) }
//! # }
//! fn main() -> std::process::ExitCode {
//!     dyno_runner::run::<MyEngine>()
//! }
//! ```
//!
//! What it never does: generate data, look into an answer while the clock runs, or allocate between
//! the two readings of the clock beyond what [`Answer`] needs to hold rows that are to be kept.

mod answer;
mod cells;
mod clock;
mod digest;
mod events;
mod import;
mod job;
mod kv;
mod latency;
mod locked;
mod rows;
mod run;
pub mod server;
pub mod setting;
mod statements;
mod transactions;
mod trial;
mod work;

pub use answer::Answer;
pub use cells::{Cells, Slice};
pub use digest::{StoreDigest, TableDigest};
pub use dyno_protocol as protocol;
pub use import::{Import, Reader, whole_number};
pub use job::{expect, variant};
pub use kv::{Delete, Found, KeyValue, Put};
pub use latency::{Latency, Unwatched, Watch};
pub use locked::locked_version;
pub use rows::{Load, MappedRows, Rows, Scan, Visit};
pub use run::run;
pub use statements::Statements;
pub use transactions::{LARGEST, Transactions, in_transactions};
pub use trial::{file_bytes, quote};

use std::ffi::CStr;

use anyhow::{Result, bail};
use dyno_protocol::{Hello, Job};

/// An engine as reached through one client library.
///
/// The calls are resolved at compile time, so that nothing stands between the clock and the driver. A
/// driver implements the models that its `runner.toml` names; of the others it keeps the defaults, which
/// say that they are not there.
pub trait Driver: Rows + KeyValue + Sized {
    /// Opens a fresh database in the job's folder and applies the settings asked for. The settings
    /// in the greeting are read back from the engine after all of them are applied.
    fn open(job: &Job) -> Result<(Self, Hello)>;

    /// Executes the statements in order and fetches every value of every row into `answer`. This is
    /// the timed section: it does what a careful program would do and nothing else.
    ///
    /// Returns how many statements were executed, or the first that failed.
    fn statements(&mut self, _statements: &Statements, _answer: &mut Answer) -> Result<u64, Failure> {
        Err(Failure::unsupported("statements"))
    }

    /// Closes the database and opens it again with the same settings and key, up to the first read of it. This
    /// is a timed section.
    fn reopen(&mut self) -> Result<()> {
        bail!("this runner does not implement the model reopen")
    }

    /// Runs one query or statement, outside the clock: a check or a part of a test's setup.
    fn query(&mut self, _sql: &CStr, _answer: &mut Answer) -> Result<()> {
        bail!("this runner has no SQL")
    }

    /// How many rows have been inserted, updated or deleted since the database was opened, as the
    /// engine counts them. Called outside the clock.
    fn changes(&mut self) -> u64 {
        0
    }

    /// The size of the database after a test, in bytes, as a server tells it. `None` for an engine that
    /// keeps its files in the job's folder, where the skeleton adds them up. Called outside the clock.
    fn database_bytes(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Closes the database. A driver that is dropped without it, because a test failed or the runner
    /// panicked, removes what it made on a server as far as it can.
    fn close(self) -> Result<()>;
}

/// An operation that failed within a timed section.
#[derive(Debug)]
pub struct Failure {
    /// The operation's place in its input, counted from zero; none where the engine does not tell.
    pub index: Option<u64>,
    /// What the engine said, with its code.
    pub error: anyhow::Error,
}

impl Failure {
    /// The failure of an operation, by its place in the input.
    pub fn at(index: u64, error: impl Into<anyhow::Error>) -> Failure {
        Failure { index: Some(index), error: error.into() }
    }

    /// A model that a driver does not implement, though dyno should know.
    pub fn unsupported(model: &str) -> Failure {
        anyhow::anyhow!("this runner does not implement the model {model}").into()
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure { index: None, error }
    }
}
