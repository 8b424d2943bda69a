//! The trial's own database on a server: made anew, worked in, and removed whatever happens, unless the job keeps it.

use std::sync::Arc;

use anyhow::Result;
use dyno_protocol::{Hello, Job, Server};

use super::Client;
use crate::mix::Connector;
use crate::{Engine, Lasting, Session, job};

/// Access to a server through one client library.
pub trait Access: Sized + Send + Sync + 'static {
    /// A connection to it.
    type Session: Client + Session;

    /// Reads the job and loads the client library.
    fn new(job: &Job, server: &Server) -> Result<Self>;

    /// Connects to where databases are made and removed.
    fn connect(&self) -> Result<Self::Session>;

    /// Makes the trial's database, of which none is there.
    fn make(&self, session: &Self::Session) -> Result<()>;

    /// A connection to the trial's database with the settings applied, made of the one by which it was
    /// made, or in its place.
    fn enter(&self, session: Self::Session) -> Result<Self::Session>;

    /// One more connection to the trial's database, made as a program does that knows it, with the settings applied.
    fn enter_again(&self) -> Result<Self::Session>;

    /// Removes the trial's database if it is there, and ends the statements that a killed runner left
    /// running in it.
    fn remove(&self, session: &Self::Session) -> Result<()>;

    /// The versions of the server and of the client, and the settings in force.
    fn hello(&self, session: &Self::Session) -> Result<Hello>;

    /// The size of the trial's database, in bytes, as the server reports it.
    fn database_bytes(&self, session: &Self::Session) -> Result<u64>;
}

/// A database that goes away with this unless the job keeps it: the engine of a runner whose engine is a server.
pub struct Scratch<A: Access> {
    access: Arc<A>,
    /// The connection by which it was made, until a session takes it.
    first: Option<A::Session>,
    made: bool,
    /// True if the database is kept.
    keep: bool,
}

impl<A: Access> Engine for Scratch<A> {
    type Session = A::Session;

    /// Removes a database of that name, makes it and works in it from then on.
    fn open(job: &Job) -> Result<(Self, Hello)> {
        let server = job::server(job)?;
        let access = Arc::new(A::new(job, server)?);
        let mut scratch = Scratch { access, first: None, made: false, keep: server.keep };
        let session = scratch.access.connect()?;
        scratch.access.remove(&session)?;
        scratch.access.make(&session)?;
        scratch.made = true;
        let session = scratch.access.enter(session)?;
        let hello = scratch.access.hello(&session)?;
        scratch.first = Some(session);
        Ok((scratch, hello))
    }

    fn session(&mut self) -> Result<A::Session> {
        match self.first.take() {
            Some(session) => Ok(session),
            None => self.access.enter_again(),
        }
    }

    fn door(&self) -> Result<Box<Connector<'static, A::Session>>> {
        let access = self.access.clone();
        Ok(Box::new(move || access.enter_again()))
    }

    fn join(job: &Job) -> Result<Self> {
        let access = Arc::new(A::new(job, job::server(job)?)?);
        Ok(Scratch { access, first: None, made: false, keep: true })
    }

    fn database_bytes(&mut self, session: &mut A::Session) -> Result<Option<u64>> {
        self.access.database_bytes(session).map(Some)
    }

    fn lasts(&self) -> Lasting {
        Lasting::Server
    }

    fn close(mut self) -> Result<()> {
        self.clean()
    }
}

impl<A: Access> Scratch<A> {
    fn clean(&mut self) -> Result<()> {
        // By a new connection, because the old ones may be lost or within a transaction, and because some servers
        // remove no database to which a client is connected. Uncommitted work is rolled back.
        self.first = None;
        if std::mem::take(&mut self.made) && !self.keep {
            self.access.remove(&self.access.connect()?)?;
        }
        Ok(())
    }
}

impl<A: Access> Drop for Scratch<A> {
    fn drop(&mut self) {
        // After a failure whose cause is reported elsewhere. Where this fails, because the server is gone for example,
        // the next trial removes the database.
        let _ = self.clean();
    }
}
