//! The proxy: a thread that accepts connections, and for each direction of a connection one that reads and one that
//! writes.

mod passage;

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::prctl;
use tempfile::TempDir;

use crate::delay_line::DelayLine;
use crate::endpoint::{Listening, ServerPlace, Stream};
use crate::inspect::Inspector;
use passage::ProxiedEnds;

/// The beginning of the name of a folder for a socket, and the number of letters that follow.
const PREFIX: &str = "wire-";
const RANDOM: usize = 6;
/// The stack of a thread: there may be four for each of hundreds of connections.
const STACK: usize = 128 << 10;
/// The pause after a connection that could not be accepted, as where too many files are open.
const PAUSE: Duration = Duration::from_millis(10);
/// The time that all threads of a proxy have to end: one may be within the kernel, which connects it with a server that
/// is stopped, or within an inspector.
const END: Duration = Duration::from_secs(10);
/// The interval between two looks whether a thread has ended.
const STEP: Duration = Duration::from_millis(1);

/// A proxy before one server. Dropped, it ends all of its connections, and its socket and its threads are gone. Threads
/// that do not end in time are left, which it says on standard error.
#[derive(Debug)]
pub struct Proxy {
    place: ServerPlace,
    listening: Arc<Listening>,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    _folder: Option<TempDir>,
}

/// The state that the threads of a proxy share.
#[derive(Debug)]
struct Shared {
    server: ServerPlace,
    /// The time that each direction adds.
    half: Duration,
    /// Decides about all bytes; `None`: all are passed on.
    inspector: Option<Arc<dyn Inspector>>,
    /// The number of connections so far.
    accepted: AtomicU64,
    is_over: AtomicBool,
    connections: Mutex<Vec<Connection>>,
}

/// A connection of a client, and the one to the server that was opened for it.
#[derive(Debug)]
struct Connection {
    ends: Arc<ProxiedEnds>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// The length of the name of the folder that a proxy makes for its socket, in bytes.
    pub const FOLDER_LENGTH: usize = PREFIX.len() + RANDOM;

    /// Starts a proxy that adds `round_trip` to each round trip to a server. Before a server with a socket, or in a network
    /// namespace, the proxy has a socket, named `socket`, in a new folder within `folder` that only its owner and root may
    /// enter. Before a server with a port it has a port of 127.0.0.1. An inspector decides about all bytes.
    ///
    /// # Errors
    /// The socket cannot be made, or no thread started.
    pub fn start(
        server: ServerPlace,
        round_trip: Duration,
        inspector: Option<Arc<dyn Inspector>>,
        folder: &Path,
        socket: &str,
    ) -> Result<Proxy> {
        let (listening, place, kept) = match &server {
            ServerPlace::Socket(_) | ServerPlace::Within(..) => {
                let kept = folder_for_socket(folder)?;
                let path = kept.path().join(socket);
                let listener = UnixListener::bind(&path)
                    .with_context(|| format!("cannot make the proxy's socket {}", path.display()))?;
                (Listening::Unix(listener), ServerPlace::Socket(path), Some(kept))
            }
            ServerPlace::Port(..) => {
                let (listening, port) =
                    Listening::on_a_free_port().context("cannot open a port for the proxy")?;
                (listening, ServerPlace::Port("127.0.0.1".into(), port), None)
            }
        };
        let half = round_trip / 2;
        let shared = Arc::new(Shared {
            server,
            half,
            inspector,
            accepted: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            connections: Mutex::new(Vec::new()),
        });
        let listening = Arc::new(listening);
        let accepting = spawn("dyno-wire", {
            let (shared, listening) = (Arc::clone(&shared), Arc::clone(&listening));
            move || shared.accept_all(&listening)
        })
        .context("cannot start the proxy")?;
        Ok(Proxy { place, listening, shared, accepting: Some(accepting), _folder: kept })
    }

    /// Where clients connect in place of the server.
    pub fn place(&self) -> &ServerPlace {
        &self.place
    }

    /// Ends everything; the number of threads that did not end in time.
    fn end(&mut self, patience: Duration) -> usize {
        let deadline = Instant::now() + patience;
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.listening.shutdown();
        let accepting = self.accepting.take().filter(|thread| !ends_by(thread, deadline));
        let connections = self.shared.take_connections();
        connections.iter().for_each(|connection| connection.ends.break_off());
        let threads = connections.iter().flat_map(|connection| &connection.threads);
        threads.chain(&accepting).filter(|thread| !ends_by(thread, deadline)).count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let left = self.end(END);
        if left > 0 {
            eprintln!(
                "dyno: {left} threads of the proxy before {} did not end within {} s and are left until dyno ends: is the \
                 server stopped?",
                self.shared.server,
                END.as_secs()
            );
        }
    }
}

/// Waits for the end of a thread; false if it did not come in time.
fn ends_by(thread: &JoinHandle<()>, deadline: Instant) -> bool {
    while !thread.is_finished() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}

impl Shared {
    fn accept_all(&self, listening: &Listening) {
        loop {
            let accepted = listening.accept();
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            // A client whose connection goes nowhere sees its end at once.
            match accepted.and_then(|client| self.connect(client)) {
                Ok(connection) => self.keep(connection),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Connects a client with the server. The set-up of a connection is a round trip: the client's first bytes arrive
    /// when it and half of another are over, and the server's first bytes half of one later.
    fn connect(&self, client: Stream) -> io::Result<Connection> {
        let server = self.server.connect()?;
        let (to_server, to_client) = (DelayLine::default(), DelayLine::default());
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
        let inspector = self.inspector.clone();
        let ends = Arc::new(ProxiedEnds { number, inspector, client, server, to_server, to_client });
        let accepted = Instant::now();
        let half = self.half;
        let mut connection = Connection { ends: Arc::clone(&ends), threads: Vec::new() };
        let mut add = |work: fn(&ProxiedEnds, Duration, Instant)| -> io::Result<()> {
            let ends = Arc::clone(&ends);
            connection.threads.push(spawn("dyno-wire", move || work(&ends, half, accepted))?);
            Ok(())
        };
        // A connection without a delay has the same threads, as what is predicted for a delay begins with its figures.
        let added = add(|ends, half, at| ends.request().read(half, at + half * 3))
            .and_then(|()| add(|ends, half, at| ends.response().read(half, at + half * 4)))
            .and_then(|()| add(|ends, _, _| ends.request().write()))
            .and_then(|()| add(|ends, _, _| ends.response().write()));
        added.inspect_err(|_| ends.break_off())?;
        Ok(connection)
    }

    fn keep(&self, connection: Connection) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_over.load(Ordering::SeqCst) {
            // It came too late to be ended with the others.
            return connection.ends.break_off();
        }
        connections.retain(|known| !known.threads.iter().all(JoinHandle::is_finished));
        connections.push(connection);
    }

    fn take_connections(&self) -> Vec<Connection> {
        std::mem::take(&mut self.connections.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A new folder within another, which only its owner and root may enter.
fn folder_for_socket(parent: &Path) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM).permissions(Permissions::from_mode(0o700));
    let made = builder.tempdir_in(parent);
    made.with_context(|| format!("cannot make a folder for the proxy's socket in {}", parent.display()))
}

/// Starts a thread whose waits end on time: the kernel may otherwise prolong each by 50 µs.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let on_time = move || {
        // Without it waits are longer, and nothing else.
        let _ = prctl::set_timerslack(1);
        work();
    };
    thread::Builder::new().name(name.into()).stack_size(STACK).spawn(on_time)
}

#[cfg(test)]
mod tests;
