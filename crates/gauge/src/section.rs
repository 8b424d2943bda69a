//! The cost of a timed section: differences of counters that are read just outside the clock.

use dyno_protocol::Cost;

use crate::counters::{self, Counters};
use crate::counting::Counting;
use crate::server_cost::{self, Server};

/// The counters of this process and of a server, ready to be read.
#[derive(Debug)]
pub struct Gauge {
    counters: Counters,
    server: Option<Server>,
    counting: Counting,
}

/// The server's processes, found before the counters are read.
#[derive(Debug)]
pub struct Ready(Option<server_cost::Processes>);

/// The counters before a section.
#[derive(Debug, Default)]
pub struct Before {
    process: counters::Reading,
    server: Option<server_cost::Reading>,
}

impl Gauge {
    /// Opens the counters of this process, and of the server of these main processes, if there is one.
    pub fn open(server: &[u32]) -> Gauge {
        Gauge {
            counters: Counters::open(),
            server: (!server.is_empty()).then(|| Server::new(server)),
            counting: Counting::here(server),
        }
    }

    /// Adds the main process of a further node to an opened server.
    pub fn add_node(&mut self, main: u32) {
        if let Some(server) = &mut self.server {
            server.add_node(main);
        }
        self.counting.add_node(main);
    }

    /// Does what takes long of a reading before the clock starts: where clients begin before the clock does, before
    /// they do.
    pub fn prepare(&self) -> Ready {
        let server = self.server.as_ref().and_then(Server::prepare);
        self.counters.prepare();
        Ready(server)
    }

    /// Reads just before the clock starts: this process's own counters last.
    pub fn before(&self) -> Before {
        self.before_by(&self.prepare())
    }

    /// The same where all is ready for it.
    pub fn before_by(&self, ready: &Ready) -> Before {
        if self.counting.begin() {
            return Before::default();
        }
        let server = self.server.as_ref().zip(ready.0.as_ref());
        let server = server.map(|(server, processes)| server.before(processes));
        Before { process: self.counters.before(), server }
    }

    /// The same for sections in which clients work already and might delay this thread: this process's own counters are
    /// read first.
    pub fn before_at_work(&self, ready: &Ready) -> Before {
        if self.counting.begin() {
            return Before::default();
        }
        let process = self.counters.before();
        let server = self.server.as_ref().zip(ready.0.as_ref());
        Before { process, server: server.map(|(server, processes)| server.before(processes)) }
    }

    /// The cost of this process since `before`, and of the server if it still exists. To be called just after the clock
    /// has stopped. This process's own counters are read first.
    pub fn after(&self, before: &Before) -> (Cost, Option<Cost>) {
        if self.counting.end() {
            return Default::default();
        }
        let (after, before_it) = (self.counters.after(), &before.process);
        let process = Cost {
            user_ns: after.user_ns.saturating_sub(before_it.user_ns),
            system_ns: after.system_ns.saturating_sub(before_it.system_ns),
            wait_ns: after.wait_ns.saturating_sub(before_it.wait_ns),
            device_read_bytes: after.read_bytes.saturating_sub(before_it.read_bytes),
            device_written_bytes: after.written_bytes.saturating_sub(before_it.written_bytes),
            peak_memory_bytes: self.counters.peak_bytes(),
        };
        let server = self.server.as_ref().zip(before.server.as_ref());
        (process, server.and_then(|(server, before)| server.since(before)))
    }
}
