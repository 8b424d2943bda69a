//! A trial on a server: connections to its database, which the job's maintenance makes and removes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    nodes: Arc<Nodes<A>>,
    settings: Arc<OnConnect>,
    database_bytes: Vec<String>,
    /// The connection whose settings were read back, until a session takes it.
    first: Option<A::Session>,
    /// The statements that are to be executed at the end.
    end: Option<Maintenance>,
}

/// The server, or the nodes of a cluster, to which sessions are dealt out in turn.
struct Nodes<A> {
    all: Vec<A>,
    next: AtomicUsize,
}

impl<A: Access> Nodes<A> {
    fn new(job: &Job) -> Result<Nodes<A>> {
        let server = job::server(job)?;
        let further = server.further.iter().map(|host| Server { host: host.clone(), ..server.clone() });
        let all = [server.clone()].into_iter().chain(further).map(|server| A::new(job, &server));
        Ok(Nodes { all: all.collect::<Result<_>>()?, next: AtomicUsize::new(0) })
    }

    /// The first, where the job's maintenance is executed.
    fn first(&self) -> &A {
        &self.all[0]
    }

    /// A connection to the node whose turn it is, with the settings applied.
    fn connect(&self, settings: &OnConnect) -> Result<A::Session> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let session = self.all[turn % self.all.len()].connect()?;
        settings.apply(&session)?;
        Ok(session)
    }
}

impl<A: Access> Engine for Scratch<A> {
    type Session = A::Session;

    fn open(job: &Job) -> Result<(Self, Hello)> {
        let nodes = Arc::new(Nodes::<A>::new(job)?);
        if let Some(maintenance) = &job.maintenance {
            execute(&nodes.first().connect_to(maintenance.database.as_deref())?, &maintenance.before)?;
        }
        let settings = Arc::new(OnConnect::new(&job.on_connect));
        let (database_bytes, end) = (job.database_bytes.clone(), job.maintenance.clone());
        let mut scratch = Scratch { nodes, settings, database_bytes, first: None, end };
        let session = scratch.session()?;
        let hello = scratch.nodes.first().hello(&session);
        let hello = Hello { read_back: read_back(&session, &job.read_back)?, ..hello };
        scratch.first = Some(session);
        Ok((scratch, hello))
    }

    fn session(&mut self) -> Result<A::Session> {
        match self.first.take() {
            Some(session) => Ok(session),
            None => self.nodes.connect(&self.settings),
        }
    }

    fn connector(&self) -> Result<Box<Connector<'static, A::Session>>> {
        let (nodes, settings) = (self.nodes.clone(), self.settings.clone());
        Ok(Box::new(move || nodes.connect(&settings)))
    }

    fn database_bytes(&mut self, session: &mut A::Session) -> Result<Option<u64>> {
        first_number(session, &self.database_bytes).map(Some)
    }

    fn close(mut self) -> Result<()> {
        self.end()
    }
}

impl<A: Access> Scratch<A> {
    fn end(&mut self) -> Result<()> {
        // By a new connection, because the old ones may be lost or within a transaction, and because some servers
        // remove no database to which a client is connected. Uncommitted work is rolled back.
        self.first = None;
        match self.end.take() {
            Some(Maintenance { database, after, .. }) if !after.is_empty() => {
                execute(&self.nodes.first().connect_to(database.as_deref())?, &after)
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
