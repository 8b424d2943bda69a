//! The skeleton of a Rust runner: all of a trial that is not the engine.
//!
//! A runner is a type that implements [`Engine`], another that implements [`Session`] with the operations that the
//! engine has, and a `main` that calls [`run`]. The skeleton reads the job, loads every input before the clock starts,
//! does the loops over operations, reads the clock and the kernel's counters, sends the events, and turns every way of
//! going wrong into a `failed` event that names the test.
//!
//! ```no_run
//! use std::ffi::CStr;
//!
//! use anyhow::Result;
//! use dyno_protocol::{Hello, Job};
//! use dyno_runner::mix::NoStatements;
//! use dyno_runner::{Answer, Engine, NoStore, Rows, Session};
//!
//! struct MyEngine;
//! struct Client;
//!
//! impl Engine for MyEngine {
//!     type Session = Client;
//!
//!     fn open(_: &Job) -> Result<(MyEngine, Hello)> {
//!         todo!("open a database, and read its settings back")
//!     }
//!
//!     fn session(&mut self) -> Result<Client> {
//!         Ok(Client)
//!     }
//!
//!     fn close(self) -> Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! impl Session for Client {
//!     type Store<'s> = NoStore;
//!     type Prepared<'s> = NoStatements;
//!
//!     fn execute(&mut self, _: &CStr, _: &mut Answer) -> Result<u64> {
//!         todo!("execute a statement, and fetch its rows")
//!     }
//! }
//!
//! impl Rows for Client {}
//!
//! fn main() -> std::process::ExitCode {
//!     dyno_runner::run::<MyEngine>()
//! }
//! ```
//!
//! It never does this: generate data, look into an answer while the clock runs, or allocate between
//! the two readings of the clock beyond what [`Answer`] needs to hold rows that are to be kept.

mod answer;
mod clock;
mod engine;
mod events;
mod import;
mod inserts;
mod job;
mod kv;
mod latency;
mod listed;
mod locked;
pub mod mix;
mod orders;
mod quote;
mod rows;
mod run;
pub mod server;
pub mod setting;
mod slices;
mod statements;
mod system_clock;
mod test_context;
mod transactions;
mod trial;
mod work;

pub use answer::Answer;
pub use dyno_inputs::{Records, Slice, whole_number};
pub use dyno_protocol as protocol;
pub use dyno_protocol::Reads;
pub use engine::{Engine, Failure, Session, SocketWait};
pub use import::Import;
pub use inserts::{
    ANY_ROWS, Extent, TransactionControl, column_list, in_transactions, insert, insert_text,
    rows_per_statement,
};
pub use job::{clients, expect, variant};
pub use kv::{KeyValue, Lookup, Lookups, NoStore, Transaction, Write, WriteKind, Writes};
pub use latency::{Latency, NoTimer, OperationTimer};
pub use listed::{JobSql, OnConnect, read_back};
pub use locked::locked_version;
pub use quote::quote;
pub use rows::{Load, Rows, Scan, Visit};
pub use run::run;
pub use slices::Slices;
pub use statements::Statements;
pub use trial::file_bytes;
