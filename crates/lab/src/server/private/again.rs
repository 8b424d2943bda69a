//! A private server that starts again on the data that it has: by order, or after its power was cut.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;

use anyhow::{Context, Result, ensure};
use dyno_engine::{ClusterRecovery, NodePermit};
use dyno_launch::placed;
use dyno_protocol::{Secret, Setting};
use dyno_record::Placement;
use nix::sys::signal::Signal;

use super::super::account::Account;
use super::super::commands::start_command;
use super::super::installation::Installation;
use super::super::process::{self, describe, new_log};
use super::starting::launch;
use super::{PrivateServer, START_TIMEOUT, ServerOrder};

/// The longest log in which a position is looked for, in bytes from its beginning.
const LONGEST_LOG: u64 = 1 << 20;

impl PrivateServer {
    /// Stops the server and starts it again on the same data, with settings and a key that may be others.
    ///
    /// # Errors
    /// As for [`PrivateServer::start`]; the server is then stopped, and may be started once more.
    pub fn restart(
        &mut self,
        installation: &Installation,
        settings: &[Setting],
        key: Option<&Secret>,
        placement: &Placement,
    ) -> Result<()> {
        let node = self.node.as_ref().zip(self.how.cluster.as_ref());
        let node = node.map(|(node, cluster)| node.returning(cluster));
        let interrupts = self.interrupts.clone();
        let (interrupts, node) = (&interrupts, node.as_ref());
        self.begin_again(ServerOrder { installation, settings, key, placement, interrupts, node })
    }

    /// The same, also as another node of its cluster than it was.
    ///
    /// # Errors
    /// As for [`PrivateServer::restart`].
    pub fn begin_again(&mut self, order: ServerOrder) -> Result<()> {
        self.stop();
        self.segments = None;
        let account = Account::for_server(&self.how.account)?;
        self.node = order.node.cloned();
        self.main = launch(order, &account, &self.folders)?;
        self.wait_until_ready()
    }

    /// Empties the folders that a machine has in memory. The server has ended.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn forget_volatile(&self) -> Result<()> {
        self.folders.forget_volatile()
    }

    /// Has the program of a server that has ended say in its log how far its data came.
    ///
    /// # Errors
    /// It cannot be run, or does not say so; with the end of its log.
    pub fn recovered_position(&self, order: ServerOrder, recovery: &ClusterRecovery) -> Result<String> {
        let account = Account::for_server(&self.how.account)?;
        let mut command = start_command(order.installation, order.settings, &self.folders, order.node);
        command.current_dir(self.folders.whole()).process_group(0);
        placed::prepare(order.placement, &mut command).context("cannot place the server")?;
        if let Some(node) = order.node {
            node.namespace.enter(&mut command);
        }
        account.prepare(&mut command, Signal::SIGKILL);
        let status = process::run(&mut command, &self.folders.log, START_TIMEOUT, order.interrupts)?;
        let mut log = String::new();
        File::open(&self.folders.log)?.take(LONGEST_LOG).read_to_string(&mut log)?;
        ensure!(
            status.success(),
            "it {} when it was asked for its position; {}",
            describe(status),
            self.log_end()
        );
        let position = recovery.position_in(&log);
        Ok(position.with_context(|| format!("it does not say its position; {}", self.log_end()))?.to_owned())
    }

    /// Lets the server, which has ended, make its cluster anew.
    ///
    /// # Errors
    /// The file of its data folder that forbids it cannot be written.
    pub fn permit(&self, permit: &NodePermit) -> Result<()> {
        let path = self.folders.data.join(&permit.name);
        let text = process::read_owned(&path);
        if !text.contains(&permit.forbids) {
            return Ok(());
        }
        let account = Account::for_server(&self.how.account)?;
        let write = || {
            // A file is made anew: the folder is the account's, which could have put a link there.
            new_log(&path)?.write_all(text.replace(&permit.forbids, &permit.allows).as_bytes())?;
            account.own(&path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}
