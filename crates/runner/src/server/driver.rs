//! The driver of a server: its database's life, and the loop that is measured.

use std::ffi::CStr;

use anyhow::Result;
use dyno_protocol::{FieldKind, Hello, Job, Server};

use super::client::Client;
use super::scratch::Scratch;
use crate::{Answer, Driver, Failure, Import, KeyValue, Load, Rows, Scan, Statements, Visit, job};

/// A server as one client library reaches it.
pub trait Engine: Sized {
    /// A connection to it.
    type Client: Client;

    /// Reads the job and loads the client library.
    fn new(job: &Job, server: &Server) -> Result<Self>;

    /// Connects to where databases are made and removed.
    fn connect(&self) -> Result<Self::Client>;

    /// Makes the trial's database, of which none is there.
    fn make(&self, client: &Self::Client) -> Result<()>;

    /// A connection to the trial's database with the settings applied, made of the one by which it was
    /// made, or in its place.
    fn enter(&self, client: Self::Client) -> Result<Self::Client>;

    /// Removes the trial's database if it is there, and ends the statements that a killed runner left
    /// running in it.
    fn remove(&self, client: &Self::Client) -> Result<()>;

    /// What there is to say of the server, of the client and of the settings in force.
    fn hello(&self, client: &Self::Client) -> Result<Hello>;

    /// The size of the trial's database, in bytes, as the server tells it.
    fn database_bytes(&self, client: &Self::Client) -> Result<u64>;
}

/// A connection to the trial's own database: the driver of a runner whose engine is a server.
pub struct Trial<E: Engine> {
    scratch: Scratch<E>,
    changes: u64,
}

impl<E: Engine> Driver for Trial<E> {
    fn open(job: &Job) -> Result<(Self, Hello)> {
        let scratch = Scratch::make(E::new(job, job::server(job)?)?)?;
        let hello = scratch.engine().hello(scratch.client())?;
        Ok((Trial { scratch, changes: 0 }, hello))
    }

    fn statements(&mut self, statements: &Statements, answer: &mut Answer) -> Result<u64, Failure> {
        let client = self.scratch.client();
        let mut done = 0;
        for sql in statements.iter() {
            match client.execute(sql, answer) {
                Ok(changed) => self.changes += changed,
                Err(error) => return Err(Failure::at(done, error)),
            }
            done += 1;
        }
        Ok(done)
    }

    fn query(&mut self, sql: &CStr, answer: &mut Answer) -> Result<()> {
        self.scratch.client().execute(sql, answer).map(drop)
    }

    fn changes(&mut self) -> u64 {
        self.changes
    }

    fn database_bytes(&mut self) -> Result<Option<u64>> {
        self.scratch.engine().database_bytes(self.scratch.client()).map(Some)
    }

    fn close(self) -> Result<()> {
        self.scratch.remove()
    }
}

impl<E: Engine> Rows for Trial<E> {
    fn insert_rows(&mut self, load: &Load) -> Result<u64, Failure> {
        self.scratch.client_mut().insert_rows(load)
    }

    fn bulk_load(&mut self, load: &Load) -> Result<u64, Failure> {
        self.scratch.client_mut().bulk_load(load)
    }

    fn scan(&mut self, scan: &Scan, answer: &mut Answer) -> Result<()> {
        self.scratch.client_mut().scan(scan, answer)
    }

    fn read_rows(&mut self, table: &str, columns: &[(&str, FieldKind)], visit: &mut Visit) -> Result<()> {
        self.scratch.client_mut().read_rows(table, columns, visit)
    }

    fn import(&mut self, import: &Import) -> Result<u64, Failure> {
        self.scratch.client_mut().import(import)
    }
}

impl<E: Engine> KeyValue for Trial<E> {}
