//! A trial on a server: connections to its database, which the job's maintenance makes and removes.

use std::sync::Arc;

use anyhow::Result;
use dyno_protocol::{Hello, Job, Maintenance, Server};

use super::Client;
use crate::listed::{JobSql, OnConnect, execute, first_number, read_back};
use crate::mix::Connector;
use crate::{Engine, Session, job};

/// Access to a server through one client library.
pub trait Access: Sized + Send + Sync + 'static {
    /// A connection to it.
    type Session: Client + JobSql + Session;

    /// Reads the job and loads the client library.
    fn new(job: &Job, server: &Server) -> Result<Self>;

    /// Connects to the database of the trial, as a program does that knows it.
    fn connect(&self) -> Result<Self::Session>;

    /// Connects to another database, or to none where the engine needs none.
    fn connect_to(&self, database: Option<&str>) -> Result<Self::Session>;

    /// The versions of the runner and of the client, without settings.
    fn hello(&self, session: &Self::Session) -> Hello;
}

/// The engine of a runner whose engine is a server. What the job makes there goes away with this.
pub struct Scratch<A: Access> {
    access: Arc<A>,
    settings: Arc<OnConnect>,
    database_bytes: Vec<String>,
    /// The connection whose settings were read back, until a session takes it.
    first: Option<A::Session>,
    /// The statements that are to be executed at the end.
    end: Option<Maintenance>,
}

impl<A: Access> Engine for Scratch<A> {
    type Session = A::Session;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        let access = Arc::new(A::new(job, job::server(job)?)?);
        if let Some(maintenance) = &job.maintenance {
            execute(&access.connect_to(maintenance.database.as_deref())?, &maintenance.before)?;
        }
        let settings = Arc::new(OnConnect::new(&job.on_connect));
        let (database_bytes, end) = (job.database_bytes.clone(), job.maintenance.clone());
        let mut scratch = Scratch { access, settings, database_bytes, first: None, end };
        let session = scratch.session()?;
        let hello = scratch.access.hello(&session);
        let hello = Hello { read_back: read_back(&session, &job.read_back)?, ..hello };
        scratch.first = Some(session);
        Ok((scratch, hello))
    }

    fn session(&mut self) -> Result<A::Session> {
        match self.first.take() {
            Some(session) => Ok(session),
            None => connect(&*self.access, &self.settings),
        }
    }

    fn door(&self) -> Result<Box<Connector<'static, A::Session>>> {
        let (access, settings) = (self.access.clone(), self.settings.clone());
        Ok(Box::new(move || connect(&*access, &settings)))
    }

    fn database_bytes(&mut self, session: &mut A::Session) -> Result<Option<u64>> {
        first_number(session, &self.database_bytes).map(Some)
    }

    fn close(mut self) -> Result<()> {
        self.end()
    }
}

fn connect<A: Access>(access: &A, settings: &OnConnect) -> Result<A::Session> {
    let session = access.connect()?;
    settings.apply(&session)?;
    Ok(session)
}

impl<A: Access> Scratch<A> {
    fn end(&mut self) -> Result<()> {
        // By a new connection, because the old ones may be lost or within a transaction, and because some servers
        // remove no database to which a client is connected. Uncommitted work is rolled back.
        self.first = None;
        match self.end.take() {
            Some(Maintenance { database, after, .. }) if !after.is_empty() => {
                execute(&self.access.connect_to(database.as_deref())?, &after)
            }
            _ => Ok(()),
        }
    }
}

impl<A: Access> Drop for Scratch<A> {
    fn drop(&mut self) {
        // After a failure whose cause is reported elsewhere. Where this fails, because the server is gone for example,
        // dyno removes what is left.
        let _ = self.end();
    }
}
