//! The way of bytes through the proxy: each direction reads, decides, waits and writes.

use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::delay_line::DelayLine;
use crate::endpoint::Stream;
use crate::inspect::{Inspector, Passage, PeerRole};

/// The bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The two ends of a connection that goes through the proxy, and the bytes that are on the way between them.
#[derive(Debug)]
pub struct ProxiedEnds {
    pub number: u64,
    pub inspector: Option<Arc<dyn Inspector>>,
    pub client: Stream,
    pub server: Stream,
    pub to_server: DelayLine,
    pub to_client: DelayLine,
}

/// One direction of a connection.
pub struct Direction<'a> {
    ends: &'a ProxiedEnds,
    origin: PeerRole,
    from: &'a Stream,
    to: &'a Stream,
    line: &'a DelayLine,
}

impl ProxiedEnds {
    /// From the client to the server.
    pub fn request(&self) -> Direction<'_> {
        let (from, to) = (&self.client, &self.server);
        Direction { ends: self, origin: PeerRole::Client, from, to, line: &self.to_server }
    }

    /// From the server to the client.
    pub fn response(&self) -> Direction<'_> {
        let (from, to) = (&self.server, &self.client);
        Direction { ends: self, origin: PeerRole::Server, from, to, line: &self.to_client }
    }

    /// Ends both connections, whatever is still on the way.
    pub fn break_off(&self) {
        self.to_server.break_off();
        self.to_client.break_off();
        self.client.shutdown(Shutdown::Both);
        self.server.shutdown(Shutdown::Both);
    }
}

impl Direction<'_> {
    /// Decides about bytes that the client has just sent or is about to receive.
    fn inspect(&self, bytes: &[u8]) -> Passage {
        let decide = |inspector: &Arc<dyn Inspector>| inspector.inspect(self.ends.number, self.origin, bytes);
        self.ends.inspector.as_ref().map_or(Passage::Pass, decide)
    }

    /// Puts what it reads on the line, to be passed on when `half` is over and not before `first`.
    pub fn read(&self, half: Duration, first: Instant) {
        let mut buffer = vec![0; CHUNK];
        let due = || (Instant::now() + half).max(first);
        while let Ok(count @ 1..) = self.from.read(&mut buffer) {
            let passage = match self.origin {
                PeerRole::Client => self.inspect(&buffer[..count]),
                PeerRole::Server => Passage::Pass,
            };
            match passage {
                Passage::Pass if !self.line.put(due(), &buffer[..count]) => return,
                Passage::Pass | Passage::Drop => {}
                Passage::Cut => return self.give_up(),
            }
        }
        self.line.end(due());
    }

    /// Writes what the line holds, when it is due.
    pub fn write(&self) {
        while let Some(bytes) = self.line.take() {
            let passage = match self.origin {
                PeerRole::Client => Passage::Pass,
                PeerRole::Server => self.inspect(&bytes),
            };
            let is_over = match passage {
                Passage::Pass => self.to.write_all(&bytes).is_err(),
                Passage::Drop => false,
                Passage::Cut => true,
            };
            if is_over {
                return self.give_up();
            }
        }
        self.to.shutdown(Shutdown::Write);
    }

    /// Ends the connection, because the end that is written to is gone.
    fn give_up(&self) {
        self.line.break_off();
        self.to.shutdown(Shutdown::Both);
        self.from.shutdown(Shutdown::Both);
    }
}
