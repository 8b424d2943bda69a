//! The traits that a runner implements for its engine, and for one client of it.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use anyhow::{Result, bail};
use dyno_inputs::Malformed;
use dyno_protocol::{Hello, Job, MixWork, Store};
use nix::poll::PollFlags;

use crate::mix::{Connector, Prepared};
use crate::{Answer, KeyValue, Rows};

/// An engine as reached through one client library: opened once, and shared by its sessions.
///
/// The calls are resolved at compile time, so that nothing stands between the clock and the driver.
pub trait Engine: Sized {
    /// One client.
    type Session: Session;

    /// Opens the database in the job's folder, which it makes if it is not there, and applies the settings asked for. The
    /// settings in the greeting are read back from the engine after all of them are applied. Where the job
    /// [joins](Job::joins) another process, that has the database open and outlives this one: nothing is made or removed.
    fn open(job: &Job) -> Result<(Self, Hello)>;

    /// Begins a session, with the settings applied.
    ///
    /// # Errors
    /// The engine does not accept this many sessions.
    fn session(&mut self) -> Result<Self::Session>;

    /// Returns a function that opens sessions from any thread, with the settings applied, where clients come and go. It
    /// is called within the clock and does what a careful program does to connect, once.
    ///
    /// # Errors
    /// The engine has no sessions that come and go: its `runner.toml` does not say `sessions`.
    fn connector(&self) -> Result<Box<Connector<'static, Self::Session>>> {
        bail!("this runner has no sessions that come and go")
    }

    /// The size of the database after a test, in bytes, by the job's queries. `None` for an engine that keeps its
    /// files in the job's folder, where the skeleton adds them up. Called outside the clock.
    fn database_bytes(&mut self, _session: &mut Self::Session) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Closes the database, whose sessions have ended. An engine that is dropped without it, because a test failed or
    /// the runner panicked, removes what it made on a server as far as it can.
    fn close(self) -> Result<()>;
}

/// Waits until a socket is ready for one of these events, or a little less.
pub type SocketWait = fn(BorrowedFd<'_>, PollFlags);

/// One client of an engine, which does one operation at a time. It may move to a thread.
///
/// A session implements the models that its `runner.toml` names; of the others it keeps the defaults, which say that
/// they are not there. The loops over operations are the skeleton's.
pub trait Session: Rows + Send + Sized {
    /// A store of keys and values; [`NoStore`](crate::NoStore) where the engine has none.
    type Store<'s>: KeyValue
    where
        Self: 's;

    /// Prepared statements; [`NoStatements`](crate::mix::NoStatements) where the engine has no SQL.
    type Prepared<'s>: Prepared
    where
        Self: 's;

    /// Prepares all statements of a mix, in order ([`statements`](crate::mix::statements) has their texts), and what
    /// begins and ends transactions. Called outside the clock, once a client.
    fn prepare(&mut self, _mix: &MixWork) -> Result<Self::Prepared<'_>> {
        bail!("this runner does not implement the model mix")
    }

    /// Executes one statement, reads every value of every row into `answer`, and returns how many rows it inserted,
    /// updated or deleted, where the engine says so of a statement.
    ///
    /// It does what a careful program would do and nothing else.
    fn execute(&mut self, _sql: &CStr, _answer: &mut Answer) -> Result<u64> {
        bail!("this runner has no SQL")
    }

    /// The number of rows inserted, updated or deleted by the session, where the engine counts them in all and not by
    /// statement. Called outside the clock.
    fn changes(&mut self) -> u64 {
        0
    }

    /// Closes the database, of which this is the only session, and opens it again with the same settings and key, up to
    /// the first read of it. This is a timed section.
    fn reopen(&mut self) -> Result<()> {
        bail!("this runner does not implement the model reopen")
    }

    /// Calls `meanwhile` with no connection open, if that matters to short sessions: an engine within the process may
    /// tidy up when its last connection goes, and a server does not care. Called outside the clock.
    fn step_aside(&mut self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        meanwhile();
        Ok(())
    }

    /// Opens a store, making it where it is missing. Called outside the clock.
    fn store(&mut self, _store: &Store) -> Result<Self::Store<'_>> {
        bail!("this runner has no stores of keys and values")
    }

    /// Does what writes to these stores have put off, as the engine's manual does it: writes out what is in memory,
    /// compacts, checkpoints, and waits until all of it is on the device, whatever commits wait for. Space that is free
    /// within files stays there: to give it back is tidiness and no debt. This is a timed section.
    fn settle(&mut self, _stores: &[Store]) -> Result<()> {
        bail!("this runner does not implement the model kv-settle")
    }

    /// Has `wait` wait for answers to prepared statements, and to those sent as text, so that the thread does other work
    /// meanwhile; `None`: the session waits as before. Called outside the clock, while nothing is under way. Returns false
    /// if the driver cannot: then each client has a thread.
    ///
    /// # Errors
    /// The connection is lost.
    fn wait_by(&mut self, _wait: Option<SocketWait>) -> Result<bool> {
        Ok(false)
    }

    /// Ends the session.
    fn close(self) -> Result<()> {
        Ok(())
    }
}

/// An operation that failed within a timed section.
#[derive(Debug)]
pub struct Failure {
    /// The operation's place in its input, counted from zero; none if the engine does not report it.
    pub index: Option<u64>,
    /// The engine's error, with its code.
    pub error: anyhow::Error,
}

impl Failure {
    /// The failure of an operation, by its place in the input.
    pub fn at(index: u64, error: impl Into<anyhow::Error>) -> Failure {
        Failure { index: Some(index), error: error.into() }
    }

    /// A model that a session does not implement, though dyno should know.
    pub fn unsupported(model: &str) -> Failure {
        anyhow::anyhow!("this runner does not implement the model {model}").into()
    }
}

impl From<Malformed> for Failure {
    fn from(record: Malformed) -> Failure {
        Failure::at(record.record, record.error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure { index: None, error }
    }
}
