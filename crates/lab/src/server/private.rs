//! A private server: started by dyno for one run, on the file system to be measured, and gone after it.
//!
//! It has an empty data folder, the settings asked for and none from the machine's files, one socket in a
//! folder that no other user may enter, and no network. Whether dyno ends it, fails, or is killed: it does
//! not outlive dyno, and neither does its socket.

mod again;
mod starting;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use dyno_engine::{ClusterStart, ScratchServer, ServerEngine, Start};
use dyno_launch::{Interrupts, ServerProcess, stopped_descendants};
use dyno_protocol::{Secret, Server, Setting};
use dyno_record::Placement;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cluster::node::ClusterNode;
use super::folders::Folders;
use super::installation::Installation;
use super::process::{self, describe};
use super::protocol;
use super::segments::Segments;
use starting::start;
pub use starting::{FirstData, Seed, ServerOrder};

/// The time limit until a server accepts connections: one with large files or much memory has
/// them to make first.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// The time that a server has to end before it is ended by force.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that the end of a server may take to show after its clients have lost it.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A server does not accept connections for a reason that may be the machine's: its time is over and it still runs, or it
/// was killed, as the system does where memory is short.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotReady(String);

/// A running server. Dropped, it is stopped and its folders are removed.
#[derive(Debug)]
pub struct PrivateServer {
    engine: ServerEngine,
    /// The engine's description of how it is started and ended.
    how: Start,
    version: String,
    /// Shared memory that a kill would leave; none before it is ready.
    segments: Option<Segments>,
    /// By which its start is ended.
    interrupts: Interrupts,
    /// Its part in a cluster.
    node: Option<ClusterNode>,
    folders: Folders,
    // Last: while folders are there, so is its guard.
    main: ServerProcess,
}

impl PrivateServer {
    /// Starts a server and waits until it accepts connections.
    ///
    /// `place` is a folder of dyno's own on the file system to be measured. Where dyno is root, the folder
    /// is opened to be entered by every account, since the server runs under another.
    ///
    /// Must be called by a thread that outlives the server: the kernel ends the server with the thread
    /// that started it.
    ///
    /// # Errors
    /// The data folder cannot be made, or the server ends or is not ready in time; with the end of what
    /// it wrote to its log.
    pub fn start(
        installation: &Installation,
        settings: &[Setting],
        place: &Path,
        placement: &Placement,
    ) -> Result<PrivateServer> {
        let interrupts = Interrupts::default();
        PrivateServer::start_with_key(installation, settings, None, place, placement, &interrupts)
    }

    /// The same with the key by which an engine encrypts its data, unless the user asks the run to stop meanwhile.
    ///
    /// # Errors
    /// As for [`PrivateServer::start`].
    pub fn start_with_key(
        installation: &Installation,
        settings: &[Setting],
        key: Option<&Secret>,
        place: &Path,
        placement: &Placement,
        interrupts: &Interrupts,
    ) -> Result<PrivateServer> {
        let order = ServerOrder { installation, settings, key, placement, interrupts, node: None };
        PrivateServer::begin(order, FirstData::Made, place)
    }

    /// Starts a server, alone or as a node of a cluster, on data.
    ///
    /// # Errors
    /// As for [`PrivateServer::start`].
    pub fn begin(order: ServerOrder, data: FirstData, place: &Path) -> Result<PrivateServer> {
        let name = format!("{} {}", order.installation.engine.title, order.installation.version);
        start(order, data, place).with_context(|| format!("cannot start a private server of {name}"))
    }

    /// Starts a server on data that another one left, with the key by which they are encrypted: a folder, on the file
    /// system of `place`, which becomes the server's own. Data whose owner was killed are recovered meanwhile, so it
    /// may not be ready when this returns.
    ///
    /// # Errors
    /// As for [`PrivateServer::start`].
    pub fn resume(
        installation: &Installation,
        settings: &[Setting],
        key: Option<&Secret>,
        data: &Path,
        place: &Path,
        placement: &Placement,
        interrupts: &Interrupts,
    ) -> Result<PrivateServer> {
        let name = format!("{} {}", installation.engine.title, installation.version);
        let order = ServerOrder { installation, settings, key, placement, interrupts, node: None };
        start(order, FirstData::Left(data), place)
            .with_context(|| format!("cannot start a private server of {name} on its data"))
    }

    /// The folder that holds everything of the server.
    pub fn folder(&self) -> &Path {
        self.folders.whole()
    }

    /// Its part in a cluster.
    pub fn node(&self) -> Option<&ClusterNode> {
        self.node.as_ref()
    }

    /// The needs of its engine's servers as nodes of a cluster.
    pub fn cluster_start(&self) -> Option<&ClusterStart> {
        self.how.cluster.as_ref()
    }

    /// Its data, within that.
    pub fn data(&self) -> &Path {
        &self.folders.data
    }

    /// The server, with the name of a trial's database on it.
    pub fn connection(&self, scratch: &str) -> ScratchServer {
        let speaks = self.engine.speaks;
        let server = protocol::connection(speaks, &self.folders, &self.how.user);
        let server = Server { process: Some(self.process()), ..server };
        ScratchServer { speaks, server, scratch: scratch.to_owned(), keep: false, catch_up: Vec::new() }
    }

    /// The version that its program reports.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The main process.
    pub fn process(&self) -> u32 {
        self.main.id()
    }

    /// Describes how the server ended, with the end of its log, if it has: for the message when a trial on it
    /// failed. Clients notice an end first, so this waits up to 0.5 s for one.
    pub fn death(&mut self) -> Option<String> {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while self.is_alive() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let status = self.ended()?;
        Some(format!("the server {}; {}", describe(status), self.log_end()))
    }

    /// Returns true if the server is still running.
    pub fn is_alive(&mut self) -> bool {
        self.ended().is_none()
    }

    /// Stops the server: in order, or by force if that takes longer than 10 s. Dropping it does the same.
    pub fn stop(&mut self) {
        self.signal(self.how.stop);
        let deadline = Instant::now() + STOP_TIMEOUT;
        while self.is_alive() {
            if Instant::now() > deadline {
                self.kill();
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a signal to the main process, unless it has ended.
    pub fn signal(&mut self, signal: Signal) {
        self.main.signal(signal);
    }

    /// Ends the server and its children, which may each be in a separate session, at once and without a word.
    pub fn kill(&mut self) {
        self.note_segments();
        self.main.kill_all();
    }

    /// Stops all processes of the server where they are, at once.
    ///
    /// # Errors
    /// It has ended.
    pub fn pause(&mut self) -> Result<()> {
        // Its death is not asked for before, which would wait for it.
        if !self.is_alive() {
            bail!(self.death().unwrap_or_default());
        }
        stopped_descendants(self.main.id());
        Ok(())
    }

    /// Lets the processes of a paused server go on, unless it has ended meanwhile.
    pub fn go_on(&mut self) {
        if !self.is_alive() {
            return;
        }
        // They are all listed while they are stopped.
        let main = self.main.id();
        for process in stopped_descendants(main).into_iter().chain([main.cast_signed()]) {
            let _ = kill(Pid::from_raw(process), Signal::SIGCONT);
        }
    }

    /// True if its main process has ended by SIGKILL: before dyno kills it, by the system's.
    pub fn was_killed(&mut self) -> bool {
        self.ended().is_some_and(|status| status.signal() == Some(Signal::SIGKILL as i32))
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.main.ended()
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            if let Some(status) = self.ended() {
                let how = format!("it {}; {}", describe(status), self.log_end());
                // The system's, as where memory is short: it says nothing of the data.
                return Err(if self.was_killed() { NotReady(how).into() } else { anyhow!(how) });
            }
            if protocol::is_ready(self.engine.speaks, &self.folders) && self.has_joined() {
                self.note_segments();
                return Ok(());
            }
            self.interrupts.check()?;
            if Instant::now() > deadline {
                let seconds = START_TIMEOUT.as_secs();
                let how = format!("it was not ready within {seconds} s; {}", self.log_end());
                return Err(NotReady(how).into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// True if it is no node of a cluster, or takes part in it.
    fn has_joined(&self) -> bool {
        let log = || fs::read(&self.folders.log).unwrap_or_default();
        self.node.as_ref().is_none_or(|node| node.has_joined(&log()))
    }

    /// Notes its shared memory, if that has not been done: a server that is killed before it is ready leaves it too.
    fn note_segments(&mut self) {
        if protocol::leaves_segments(self.engine.speaks) && self.segments.is_none() && self.is_alive() {
            self.segments = Some(Segments::of(self.main.id(), &self.folders.data));
        }
    }

    /// The end of its log, for the message when it did not do what it was asked for.
    pub fn log_end(&self) -> String {
        process::log_end(&self.folders.log)
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        self.stop();
    }
}
