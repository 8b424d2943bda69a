//! An engine behind sockets: a thread that answers what clients send it, by the first word of each statement. Its clients
//! can share threads.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use anyhow::{Error, anyhow};
use dyno_protocol::{Hello, Job, MixWork, Purpose, Sink};
use nix::poll::PollFlags;

use crate::mix::{Prepared, Statement, Values, statements};
use crate::{Engine, NoStore, Rows, Session, SocketWait};

/// The engine.
pub struct Wire {
    /// The number of clients that ask to `meet` before one of them gets an answer.
    meeting: Arc<Barrier>,
}

impl Wire {
    pub fn new(meeting: usize) -> Wire {
        Wire { meeting: Arc::new(Barrier::new(meeting)) }
    }
}

/// A client of it, and its connection.
pub struct Client {
    stream: UnixStream,
    wait: Option<SocketWait>,
}

/// Its statements.
pub struct Wired<'s> {
    client: &'s mut Client,
    statements: Vec<Statement>,
}

/// Answers one client: a byte for each line.
fn serve(mut stream: UnixStream, meeting: &Barrier) -> io::Result<()> {
    let mut text = [0; 64];
    loop {
        let length = stream.read(&mut text)?;
        match &text[..length] {
            [] | b"hang up" => return Ok(()),
            b"meet" => drop(meeting.wait()),
            b"sleep" => thread::sleep(Duration::from_millis(5)),
            b"hang" => thread::sleep(Duration::from_millis(600)),
            _ => {}
        }
        stream.write_all(b".")?;
    }
}

impl Engine for Wire {
    type Session = Client;

    fn open(_: &Job) -> anyhow::Result<(Self, Hello)> {
        Err(anyhow!("it is open"))
    }

    fn session(&mut self) -> anyhow::Result<Client> {
        let (stream, other) = UnixStream::pair()?;
        let meeting = self.meeting.clone();
        thread::spawn(move || serve(other, &meeting));
        Ok(Client { stream, wait: None })
    }

    fn close(self) -> anyhow::Result<()> {
        Ok(())
    }
}

impl Rows for Client {}

impl Session for Client {
    type Store<'s> = NoStore;
    type Prepared<'s> = Wired<'s>;

    fn prepare(&mut self, mix: &MixWork) -> anyhow::Result<Wired<'_>> {
        Ok(Wired { client: self, statements: statements(mix, |_| String::new()) })
    }

    fn wait_by(&mut self, wait: Option<SocketWait>) -> anyhow::Result<bool> {
        self.stream.set_nonblocking(wait.is_some())?;
        self.wait = wait;
        Ok(true)
    }
}

impl Wired<'_> {
    fn ask(&mut self, what: &str) -> anyhow::Result<()> {
        let Client { stream, wait } = &mut *self.client;
        stream.write_all(what.as_bytes())?;
        loop {
            match stream.read(&mut [0]) {
                Ok(0) => return Err(anyhow!("the server is gone")),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => match wait {
                    Some(wait) => wait(stream.as_fd(), PollFlags::POLLIN),
                    None => return Err(error.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Prepared for Wired<'_> {
    fn run<S: Sink>(&mut self, statement: usize, _: &Values, _: &mut S) -> anyhow::Result<()> {
        match self.statements[statement].sql.trim().to_owned() {
            sql if sql == "panic" => panic!("the wire broke"),
            sql => self.ask(&sql),
        }
    }

    fn begin(&mut self, _: Purpose) -> anyhow::Result<()> {
        self.ask("begin")
    }

    fn commit(&mut self) -> anyhow::Result<()> {
        self.ask("commit")
    }

    fn rollback(&mut self) -> anyhow::Result<()> {
        self.ask("rollback")
    }

    fn is_retryable(&self, _: &Error) -> bool {
        false
    }
}
