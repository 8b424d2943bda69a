//! The skeleton of a Rust runner: all of a trial that is not the engine.
//!
//! A runner is a type that implements [`Driver`] and a `main` that calls [`run`]. The skeleton reads
//! the job, loads every input before the clock starts, reads the clock and the kernel's counters,
//! sends the events, and turns every way of going wrong into a `failed` event that names the test.
//!
//! ```no_run
//! # use dyno_runner::{Answer, Driver, Failure, Statements};
//! # use dyno_protocol::{Hello, Job};
//! # use std::ffi::CStr;
//! # struct MyEngine;
//! # impl Driver for MyEngine {
//! #     fn open(_: &Job) -> anyhow::Result<(Self, Hello)> { todo!() }
//! #     fn statements(&mut self, _: &Statements, _: &mut Answer) -> Result<u64, Failure> { todo!() }
//! #     fn query(&mut self, _: &CStr, _: &mut Answer) -> anyhow::Result<()> { todo!() }
//! #     fn changes(&mut self) -> u64 { 0 }
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
mod counters;
mod events;
mod job;
mod library;
mod number;
mod run;
mod server_cost;
mod statements;
mod trial;

pub use answer::Answer;
pub use dyno_protocol as protocol;
pub use job::{expect, server};
pub use library::file_of;
pub use number::{number, real};
pub use run::run;
pub use statements::Statements;

use std::ffi::CStr;

use dyno_protocol::{Hello, Job};

/// An engine as reached through one client library.
///
/// The calls are resolved at compile time, so that nothing stands between the clock and the driver.
pub trait Driver: Sized {
    /// Opens a fresh database in the job's folder and applies the settings asked for. The settings
    /// in the greeting are read back from the engine after all of them are applied.
    fn open(job: &Job) -> anyhow::Result<(Self, Hello)>;

    /// Executes the statements in order and fetches every value of every row into `answer`. This is
    /// the timed section: it does what a careful program would do and nothing else.
    ///
    /// Returns how many statements were executed, or the first that failed.
    fn statements(&mut self, statements: &Statements, answer: &mut Answer) -> Result<u64, Failure>;

    /// Runs one check query, outside the clock.
    fn query(&mut self, sql: &CStr, answer: &mut Answer) -> anyhow::Result<()>;

    /// How many rows have been inserted, updated or deleted since the database was opened, as the
    /// engine counts them. Called outside the clock.
    fn changes(&mut self) -> u64;

    /// The size of the database after a test, in bytes, as a server tells it. `None` for an engine that
    /// keeps its files in the job's folder, where the skeleton adds them up. Called outside the clock.
    fn database_bytes(&mut self) -> anyhow::Result<Option<u64>> {
        Ok(None)
    }

    /// Closes the database. A driver that is dropped without it, because a test failed or the runner
    /// panicked, removes what it made on a server as far as it can.
    fn close(self) -> anyhow::Result<()>;
}

/// A statement that failed within a timed section.
#[derive(Debug)]
pub struct Failure {
    /// The statement's place in its file, counted from zero.
    pub index: u64,
    /// What the engine said, with its code.
    pub error: anyhow::Error,
}
