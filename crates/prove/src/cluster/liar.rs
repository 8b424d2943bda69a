//! A planted liar: a program that counts as a replica of PostgreSQL's leader, and that is lost with it.
//!
//! It receives the leader's log by the leader's socket and confirms it, as a replica on another machine would. So the
//! leader acknowledges commits that no other node has, though all of its settings promise that one has them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_lab::server::Installation;
use dyno_launch::waiting::has_ended;
use dyno_protocol::{Server, Value};
use tempfile::TempDir;

use super::PATIENCE;
use super::link::{ClientLibrary, NodeLink};
use crate::subject::data;

/// The program, which PostgreSQL brings.
const RECEIVER: &str = "pg_receivewal";
/// The number of receivers that the leader takes for replicas.
const RECEIVING: &str = "SELECT count(*) FROM pg_stat_replication \
                         WHERE application_name = 'pg_receivewal' AND state = 'streaming'";
/// The interval between two looks at it.
const STEP: Duration = Duration::from_millis(20);

/// A running liar. Dropped, it is gone.
#[derive(Debug)]
pub struct Liar {
    child: Child,
    _folder: TempDir,
}

impl Liar {
    /// Plants one at a leader, and waits until the leader counts it. `place` is a folder that the account of servers may
    /// enter.
    ///
    /// # Errors
    /// The program is not there, or the leader does not take it.
    pub fn plant(
        installation: &Installation,
        library: &ClientLibrary,
        leader: &Server,
        place: &Path,
    ) -> Result<Liar> {
        let folder = TempDir::with_prefix_in("liar-", place).context("cannot make a folder for a liar")?;
        let mut command = installation.companion(RECEIVER, folder.path())?;
        connect(&mut command, leader);
        command.args(["--synchronous", "--no-loop", "--no-password", "--directory"]).arg(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("cannot run {RECEIVER}"))?;
        let liar = Liar { child, _folder: folder };
        liar.wait(&NodeLink::open(library, leader)?)?;
        Ok(liar)
    }

    /// Waits until the leader counts it.
    fn wait(&self, leader: &NodeLink) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let rows = leader.rows(RECEIVING, PATIENCE)?;
            let count: Option<&Value> = rows.first().and_then(|row| row.first());
            if count.and_then(data::number).is_some_and(|count| count > 0) {
                return Ok(());
            }
            ensure!(!has_ended(&self.child), "{RECEIVER} ended before the leader counted it as a replica");
            if Instant::now() > deadline {
                bail!("the leader did not count {RECEIVER} as a replica in {} s", PATIENCE.as_secs());
            }
            thread::sleep(STEP);
        }
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Leads the program to a server.
fn connect(command: &mut Command, server: &Server) {
    command.args(["--host", &server.host, "--username", &server.user]);
    if let Some(port) = server.port {
        command.arg(format!("--port={port}"));
    }
}
