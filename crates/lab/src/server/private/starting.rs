//! The start of a private server: its folders, its first data, its program.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use dyno_launch::{Interrupts, ServerProcess, placed};
use dyno_protocol::{Secret, Setting};
use dyno_record::Placement;

use super::super::account::Account;
use super::super::cluster::node::ClusterNode;
use super::super::commands::start_command;
use super::super::copy::{Zeros, copy_folder};
use super::super::folders::Folders;
use super::super::installation::Installation;
use super::super::key_file::KeyFile;
use super::super::process::new_log;
use super::super::{protocol, template};
use super::PrivateServer;

/// An order to start a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerOrder<'a> {
    /// The programs.
    pub installation: &'a Installation,
    /// The settings.
    pub settings: &'a [Setting],
    /// The key of the data.
    pub key: Option<&'a Secret>,
    /// The placement of its processes.
    pub placement: &'a Placement,
    /// By which its start is ended.
    pub interrupts: &'a Interrupts,
    /// Its part in a cluster; `None` for a server alone.
    pub node: Option<&'a ClusterNode>,
}

/// The data with which a server begins.
#[derive(Debug, Clone, Copy)]
pub enum FirstData<'a> {
    /// An empty data folder that is made for it.
    Made,
    /// A folder that becomes its own.
    Left(&'a Path),
    /// A copy of a folder.
    Copy(&'a Path),
}

/// An empty data folder that all nodes of a cluster begin with.
#[derive(Debug)]
pub struct Seed(Folders);

impl Seed {
    /// Makes it in a folder of dyno's own.
    ///
    /// # Errors
    /// The engine cannot make one.
    pub fn make(order: ServerOrder, place: &Path) -> Result<Seed> {
        let engine = &order.installation.engine;
        let account = Account::for_server(&order.installation.start.account)?;
        account.check_way(&order.installation.server)?;
        let folders =
            Folders::create(&std::path::absolute(place)?, &account, protocol::socket(engine.speaks))?;
        template::fill(order.installation, order.settings, &account, &folders, order.interrupts)?;
        Ok(Seed(folders))
    }

    /// The folder.
    pub fn data(&self) -> &Path {
        &self.0.data
    }
}

/// Starts a server on data and waits until it accepts connections.
pub fn start(order: ServerOrder, data: FirstData, place: &Path) -> Result<PrivateServer> {
    let ServerOrder { installation, interrupts, .. } = order;
    interrupts.check()?;
    let (engine, how) = (installation.engine.clone(), installation.start.clone());
    let account = Account::for_server(&how.account)?;
    account.check_way(&installation.server)?;
    let folders = Folders::create(&std::path::absolute(place)?, &account, protocol::socket(engine.speaks))?;
    fill(order, data, &account, &folders)?;
    let main = launch(order, &account, &folders)?;
    let version = installation.version.clone();
    let (interrupts, node) = (interrupts.clone(), order.node.cloned());
    let segments = None;
    let mut server = PrivateServer { engine, how, version, segments, interrupts, node, folders, main };
    server.wait_until_ready()?;
    Ok(server)
}

/// Puts the data in their place.
fn fill(order: ServerOrder, data: FirstData, account: &Account, folders: &Folders) -> Result<()> {
    match data {
        FirstData::Left(left) => {
            return fs::rename(left, &folders.data)
                .with_context(|| format!("cannot take the data in {}", left.display()));
        }
        FirstData::Made => {
            template::fill(order.installation, order.settings, account, folders, order.interrupts)?
        }
        FirstData::Copy(seed) => copy_folder(seed, &folders.data, Some(account), Zeros::Written)
            .with_context(|| format!("cannot copy the empty data folder to {}", folders.data.display()))?,
    }
    if let Some(node) = order.node {
        node.complete(&folders.data, account).context("cannot make a node's data folder of an empty one")?;
    }
    account.own(&folders.data).context("cannot give the data folder to the server's account")?;
    // No trial pays for writing it.
    nix::unistd::syncfs(File::open(folders.whole())?).context("cannot write out the data folder")
}

/// Starts the program on a data folder that is there.
pub fn launch(order: ServerOrder, account: &Account, folders: &Folders) -> Result<ServerProcess> {
    let ServerOrder { installation, settings, key, placement, node, .. } = order;
    let how = &installation.start;
    let output = new_log(&folders.log).context("cannot make the server's log")?;
    let mut command = start_command(installation, settings, folders, node);
    let gift = how.key.as_ref().zip(key);
    let key_file = gift.map(|(gift, key)| KeyFile::new(gift, key)).transpose()?;
    if let Some(file) = &key_file {
        file.give(&mut command);
    }
    command.current_dir(folders.whole()).stdout(output.try_clone()?).stderr(output);
    placed::prepare(placement, &mut command).context("cannot place the server")?;
    if let Some(node) = node {
        node.namespace.enter(&mut command);
    }
    account.prepare(&mut command, how.death);
    ServerProcess::start(command, how.death, &folders.all())
        .with_context(|| format!("cannot run {}", installation.server.display()))
}
