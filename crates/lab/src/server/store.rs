//! Clusters of stores of keys and values, which their own clients alone can speak to.
//!
//! Their nodes are private servers as those of SQL are, with fewer needs: there is nothing to make but an empty folder, and
//! what is in them ends with the run. So all nodes start at once, since none is ready before a majority is there.

mod nodes;

pub use nodes::node_address;

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_engine::{Argument, Contender, Start};
use dyno_launch::{Interrupts, ServerProcess, placed};
use dyno_protocol::{Build, Server};
use dyno_record::{ClusterShape, Placement};

use super::account::Account;
use super::cluster::{ClusterNetwork, check_needs};
use super::folders::Folders;
use super::libraries::Libraries;
use super::process::{self, describe, new_log};

/// The name of a node's socket within its folder.
const SOCKET: &str = "store.sock";
/// The time limit until all nodes take part.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// An order to start a cluster of a store.
#[derive(Debug, Clone, Copy)]
pub struct StoreOrder<'a> {
    /// The contender, of an engine that is a store.
    pub contender: &'a Contender,
    /// A folder of dyno's own on the file system to be measured.
    pub place: &'a Path,
    /// Folders for the nodes, in their order, where each has a separate disk; nodes without one are in `place`.
    pub places: &'a [PathBuf],
    /// The placement of all nodes.
    pub placement: &'a Placement,
    /// By which the start is ended.
    pub interrupts: &'a Interrupts,
}

/// A running cluster of a store. Dropped, its nodes are killed, and their folders and networks are gone.
#[derive(Debug)]
pub struct StoreCluster {
    nodes: Vec<StoreNode>,
    /// The program and the arguments, before their places were filled.
    what: (PathBuf, Vec<Argument>),
    shape: ClusterShape,
    network: ClusterNetwork,
    /// The port of every node, where clients do not reach it by its socket.
    port: Option<u16>,
}

#[derive(Debug)]
struct StoreNode {
    folders: Folders,
    // Last: while folders are there, so is its guard.
    main: ServerProcess,
}

impl StoreCluster {
    /// Starts the nodes and waits until all of them take part.
    ///
    /// Must be called by a thread that outlives them: the kernel ends a node with the thread that started it.
    ///
    /// # Errors
    /// The program is not there, the machine lacks what a cluster needs, or a node ends or is not ready in time; with the
    /// end of what it wrote to its log.
    pub fn start(order: StoreOrder) -> Result<StoreCluster> {
        let Contender { engine, cluster: shape, .. } = order.contender;
        let shape = shape.with_context(|| format!("{} is no cluster", engine.name))?;
        let start = engine.store().context("the engine is no store with servers")?;
        let cluster = engine.cluster().with_context(|| format!("{} is no cluster", engine.name))?;
        let count = shape.nodes;
        let program = program(order.contender, start)?;
        check_needs(cluster, &engine.title)?;
        // Servers of a protocol have URLs, and no others do.
        let network = ClusterNetwork::new(shape, engine.is_server())
            .with_context(|| format!("cannot start a cluster of {}", engine.title))?;
        let what = (program, start.start_arguments(&order.contender.settings));
        let mut started = StoreCluster { nodes: Vec::new(), what, shape, network, port: cluster.port };
        for place in 0..count as usize {
            let node = started.node(order, start, place, count as usize);
            let node = node
                .with_context(|| format!("cannot start node {} of {count} of {}", place + 1, engine.title))?;
            started.nodes.push(node);
        }
        started.wait_until_ready(&cluster.joined, order.interrupts)?;
        Ok(started)
    }

    fn node(&self, order: StoreOrder, start: &Start, place: usize, count: usize) -> Result<StoreNode> {
        let account = Account::for_server(&start.account)?;
        let own = order.places.get(place).map_or(order.place, PathBuf::as_path);
        let folders = Folders::create(&std::path::absolute(own)?, &account, SOCKET)?;
        let make = || {
            DirBuilder::new().mode(0o700).create(&folders.data)?;
            account.own(&folders.data)
        };
        make().with_context(|| format!("cannot make {}", folders.data.display()))?;
        if order.places.get(place).is_some() {
            // A power cut is to find the folder.
            nix::unistd::syncfs(File::open(folders.whole())?).context("cannot write out the data folder")?;
        }
        let main = self.launch(order, start, (place, count), &folders)?;
        Ok(StoreNode { folders, main })
    }

    /// Starts the program of a node on its folders.
    fn launch(
        &self,
        order: StoreOrder,
        start: &Start,
        (place, count): (usize, usize),
        folders: &Folders,
    ) -> Result<ServerProcess> {
        let account = Account::for_server(&start.account)?;
        let (program, arguments) = &self.what;
        account.check_way(program)?;
        let socket = folders.sockets.join(SOCKET);
        let addresses: Vec<String> = (0..count).map(ClusterNetwork::address).collect();
        let cluster = start.cluster.as_ref().context("it is no cluster")?;
        let members = cluster.members(&addresses);
        let places = [
            ("data", folders.data.as_os_str()),
            ("socket", socket.as_os_str()),
            ("temporary", folders.temporary.as_os_str()),
            ("address", addresses[place].as_ref()),
            ("first", addresses[0].as_ref()),
            ("members", members.as_ref()),
        ];
        let of_node = cluster.arguments(place == 0);
        let mut command = Libraries::default().command(program);
        command.args(arguments.iter().chain(&of_node).map(|argument| argument.filled(&places)));
        let output = new_log(&folders.log).context("cannot make the node's log")?;
        command.current_dir(folders.whole()).stdout(output.try_clone()?).stderr(output);
        placed::prepare(order.placement, &mut command).context("cannot place the node")?;
        self.network.node(place).enter(&mut command);
        account.prepare(&mut command, start.death);
        ServerProcess::start(command, start.death, &folders.all())
            .with_context(|| format!("cannot run {}", program.display()))
    }

    fn wait_until_ready(&mut self, words: &str, interrupts: &Interrupts) -> Result<()> {
        let deadline = Instant::now() + START_TIMEOUT;
        for (place, node) in self.nodes.iter_mut().enumerate() {
            while !node.says(words) {
                if let Some(death) = node.death() {
                    bail!("node {}: {death}", place + 1);
                }
                interrupts.check()?;
                if Instant::now() > deadline {
                    let seconds = START_TIMEOUT.as_secs();
                    bail!("node {} was not ready within {seconds} s; {}", place + 1, node.log_end());
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(())
    }

    /// True if it is what a contender asks for, and all nodes still run.
    pub fn serves(&mut self, contender: &Contender) -> bool {
        self.is_of(contender) && self.nodes.iter_mut().all(|node| node.status().is_none())
    }

    /// True if it is what a contender asks for.
    pub fn is_of(&self, contender: &Contender) -> bool {
        let wanted = contender.engine.store().and_then(|start| {
            Some((program(contender, start).ok()?, start.start_arguments(&contender.settings)))
        });
        wanted.as_ref() == Some(&self.what) && contender.cluster == Some(self.shape)
    }

    /// The first node as its clients reach it, with the hosts and the processes of the others.
    pub fn server(&self) -> Server {
        let further = (1..self.nodes.len()).map(|node| self.address(node).host);
        let further_processes = self.nodes[1..].iter().map(|node| node.main.id()).collect();
        Server { further: further.collect(), further_processes, ..self.address(0) }
    }

    /// Describes how the first of the nodes that have ended did so.
    pub fn death(&mut self) -> Option<String> {
        let of = self.nodes.len();
        let mut deaths = self.nodes.iter_mut().enumerate();
        deaths.find_map(|(place, node)| Some(format!("node {} of {of}: {}", place + 1, node.death()?)))
    }
}

impl StoreNode {
    fn status(&mut self) -> Option<ExitStatus> {
        self.main.ended()
    }

    fn death(&mut self) -> Option<String> {
        let status = self.status()?;
        Some(format!("the server {}; {}", describe(status), self.log_end()))
    }

    fn says(&self, words: &str) -> bool {
        let log = fs::read(&self.folders.log).unwrap_or_default();
        memchr::memmem::find(&log, words.as_bytes()).is_some()
    }

    fn log_end(&self) -> String {
        process::log_end(&self.folders.log)
    }
}

impl Drop for StoreNode {
    fn drop(&mut self) {
        self.main.kill_main();
    }
}

/// The program of a contender's nodes: the one that its name gives by a path, or one on PATH, or that which dyno's own
/// build puts next to its programs.
fn program(contender: &Contender, start: &Start) -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let names = || start.programs.iter();
    let mut candidates: Vec<PathBuf> = match &contender.build {
        Build::Path(path) if path.is_file() => vec![path.clone()],
        Build::Path(path) => {
            names().flat_map(|name| [path.join("bin").join(name), path.join(name)]).collect()
        }
        _ => env::split_paths(&path).flat_map(|folder| names().map(move |name| folder.join(name))).collect(),
    };
    if contender.build == Build::System {
        candidates.extend(names().map(|name| contender.runner.beside(name)));
    }
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let found = candidates.into_iter().find(is_program).map(|path| path.canonicalize());
    let missing = || {
        let (engine, name) = (&contender.engine, &start.programs[0]);
        let looked = match &contender.build {
            Build::Path(path) => format!("in {}", path.display()),
            _ => "on PATH or next to dyno's own programs".to_owned(),
        };
        let (title, called) = (&engine.title, &engine.name);
        io::Error::other(format!(
            "there is no program {name} of {title} {looked}; {}; or name an installation folder as {called}@PATH",
            start.advice
        ))
    };
    Ok(found.unwrap_or_else(|| Err(missing()))?)
}
