//! The private servers and clusters of a run, each started when a trial first needs it and kept for the next.
//!
//! Trials run one after another, so never are two servers busy at once; but idle ones keep their memory.
//! So no more are kept than fit into half of what was free when the run began; the one that was not used
//! for longest goes first.

use std::path::PathBuf;

use anyhow::Result;
use dyno_launch::Interrupts;
use dyno_protocol::{Secret, Setting};
use dyno_record::{ClusterShape, Placement};

use super::cluster::{Cluster, ClusterOrder};
use super::installation::Installation;
use super::private::PrivateServer;
use crate::machine::available_memory;

/// Memory that a server takes besides what its settings allow it, in bytes.
const OVERHEAD: u64 = 384 << 20;

/// Servers by installation and settings.
#[derive(Debug)]
pub struct ServerPool {
    place: PathBuf,
    placement: Placement,
    interrupts: Interrupts,
    /// The least recently used first.
    servers: Vec<PooledServer>,
    /// The memory that all together may take, in bytes.
    budget: u64,
}

#[derive(Debug)]
struct PooledServer {
    installation: Installation,
    settings: Vec<Setting>,
    shape: Option<ClusterShape>,
    memory: u64,
    cluster: Cluster,
}

impl PooledServer {
    fn is(&self, installation: &Installation, settings: &[Setting], shape: Option<ClusterShape>) -> bool {
        self.installation == *installation && self.settings == settings && self.shape == shape
    }
}

impl ServerPool {
    /// A pool without servers. `place` is the run's temporary folder, on the file system to be measured.
    pub fn new(place: PathBuf, placement: Placement) -> ServerPool {
        let interrupts = Interrupts::default();
        ServerPool {
            place,
            placement,
            interrupts,
            servers: Vec::new(),
            budget: available_memory().unwrap_or(0) / 2,
        }
    }

    /// The same, in which an interrupt ends the start of a server.
    pub fn obeying(self, interrupts: &Interrupts) -> ServerPool {
        ServerPool { interrupts: interrupts.clone(), ..self }
    }

    /// The server of an installation with settings, which is started if there is none or the last one
    /// has died. Others may be stopped to make room.
    ///
    /// Must be called by a thread that outlives the pool, as [`PrivateServer::start`] says.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn server(
        &mut self,
        installation: &Installation,
        settings: &[Setting],
    ) -> Result<&mut PrivateServer> {
        self.cluster(installation, settings, None, None).map(Cluster::first)
    }

    /// The same for a cluster, or for one server, and for an engine that encrypts its data by the run's key.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn cluster(
        &mut self,
        installation: &Installation,
        settings: &[Setting],
        shape: Option<ClusterShape>,
        key: Option<&Secret>,
    ) -> Result<&mut Cluster> {
        let wanted = |kept: &PooledServer| kept.is(installation, settings, shape);
        let found = self.servers.iter().position(wanted).map(|index| self.servers.remove(index));
        let alive = found.and_then(|mut kept| kept.cluster.is_alive().then_some(kept));
        let kept = match alive {
            Some(kept) => kept,
            None => {
                let nodes = shape.map_or(1, |shape| u64::from(shape.nodes));
                let asked = installation.start.memory.as_ref().map_or(0, |memory| memory.asked(settings));
                let memory = asked.saturating_add(OVERHEAD) * nodes;
                self.make_room(memory);
                let (place, placement, interrupts) = (&self.place, &self.placement, &self.interrupts);
                let places = &[];
                let order =
                    ClusterOrder { installation, settings, key, shape, place, places, placement, interrupts };
                let cluster = Cluster::start(order)?;
                PooledServer {
                    installation: installation.clone(),
                    settings: settings.to_vec(),
                    shape,
                    memory,
                    cluster,
                }
            }
        };
        self.servers.push(kept);
        let last = self.servers.len() - 1;
        Ok(&mut self.servers[last].cluster)
    }

    /// Describes how the server of an installation with settings ended, with the end of its log, if there was one
    /// and it has ended.
    pub fn death(
        &mut self,
        installation: &Installation,
        settings: &[Setting],
        shape: Option<ClusterShape>,
    ) -> Option<String> {
        self.servers.iter_mut().find(|kept| kept.is(installation, settings, shape))?.cluster.death()
    }

    /// Stops servers until another fits.
    fn make_room(&mut self, memory: u64) {
        while !self.servers.is_empty() && self.taken() + memory > self.budget {
            self.servers.remove(0);
        }
    }

    fn taken(&self) -> u64 {
        self.servers.iter().map(|kept| kept.memory).sum()
    }
}
