//! The servers of a run's contenders, and the file systems that they and their data are on: one is found,
//! mounted or started when a trial needs it.

mod stores;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use dyno_engine::{Contender, Protocol, ScratchServer};
use dyno_launch::Interrupts;
use dyno_protocol::Build;
use dyno_record::{Neutralised, Placement, Sharing, Suspect};
use dyno_wire::{Inspector, WireProtocol};

use super::network::Network;
use crate::file_system::Mounted;
use crate::placement;
use crate::scratch::Scratch;
use crate::server::{Installation, PrivateServer, ServerPool, StoreCluster, scratch_name};

/// A server that clients reach through a proxy which an inspector sees, as long as this is kept.
#[derive(Debug)]
pub struct InspectedServer {
    /// The server at the proxy's address.
    pub served: ScratchServer,
    _network: Network,
}

impl InspectedServer {
    /// A server through a proxy, which adds `round_trip` to each round trip and has its socket in a folder of the run.
    ///
    /// # Errors
    /// The proxy cannot be started, or clients would compare its name with the server's certificate.
    pub fn new(
        served: ScratchServer,
        round_trip: Duration,
        inspector: Arc<dyn Inspector>,
        folder: &Path,
    ) -> Result<InspectedServer> {
        let mut network = Network::new(round_trip, folder).inspected(inspector);
        let served = network.through(served)?;
        Ok(InspectedServer { served, _network: network })
    }
}

/// The protocol of a server as the reader of recorded bytes names it.
pub fn wire_protocol(speaks: Protocol) -> WireProtocol {
    match speaks {
        Protocol::Postgres => WireProtocol::Postgres,
        Protocol::MySql => WireProtocol::MySql,
    }
}

/// Servers by contender, and the name of the database that is this run's own on each of them.
#[derive(Debug)]
pub struct Servers {
    /// The way to them where dyno makes it longer; none where clients reach servers directly. It goes before they do.
    network: Option<Network>,
    pool: ServerPool,
    /// Those of stores, the last one used first.
    stores: Vec<StoreCluster>,
    /// Those on the encrypted file system, which goes after them.
    encrypted_pool: Option<ServerPool>,
    mounted: Option<Mounted>,
    /// Those of contenders of which a suspect is neutralised.
    neutral_pools: BTreeMap<Suspect, ServerPool>,
    /// The folder in memory for data of these, which goes after their servers.
    memory: Option<Scratch>,
    /// By engine and build: looking for one asks programs for their version.
    installations: HashMap<(String, Build), Installation>,
    scratch: String,
    /// The versions of servers at URLs, by the contender's label: its runner was asked once.
    versions: BTreeMap<String, String>,
    place: PathBuf,
    /// The CPUs and priority of servers.
    placement: Placement,
    /// By which the start of a server is ended.
    interrupts: Interrupts,
}

impl Servers {
    /// None started yet. `place` is the run's temporary folder; private servers run where `sharing`
    /// puts them.
    pub fn new(place: PathBuf, placement: &Placement, sharing: Sharing) -> Servers {
        let placement = sharing.pair(placement).server;
        Servers {
            network: None,
            pool: ServerPool::new(place.clone(), placement.clone()),
            stores: Vec::new(),
            encrypted_pool: None,
            mounted: None,
            neutral_pools: BTreeMap::new(),
            memory: None,
            installations: HashMap::new(),
            scratch: scratch_name(),
            versions: BTreeMap::new(),
            place,
            placement,
            interrupts: Interrupts::default(),
        }
    }

    /// The same, in which an interrupt ends the start of a server.
    pub fn obeying(self, interrupts: &Interrupts) -> Servers {
        Servers { pool: self.pool.obeying(interrupts), interrupts: interrupts.clone(), ..self }
    }

    /// The same, in which dyno adds a time to each round trip between a client and a server.
    pub fn with_round_trip(self, added: Duration) -> Servers {
        Servers { network: Some(Network::new(added, &self.place)), ..self }
    }

    /// The folder, of the run's own, in which a contender's data go: the temporary one, or an encrypted file system
    /// that is mounted in it; one in memory where the disk is neutralised.
    ///
    /// # Errors
    /// The file system cannot be mounted, or the folder in memory cannot be made.
    pub fn place(&mut self, contender: &Contender) -> Result<PathBuf> {
        if let Some(Neutralised::Disk { folder }) = &contender.neutralised {
            return self.in_memory(Path::new(folder));
        }
        if contender.file_system.is_none() {
            return Ok(self.place.clone());
        }
        self.mounted(contender).map(|mounted| mounted.clear().to_owned())
    }

    /// The run's folder in a folder in memory.
    fn in_memory(&mut self, folder: &Path) -> Result<PathBuf> {
        let scratch = match self.memory.take() {
            Some(scratch) => scratch,
            None => Scratch::create_or(folder, "no trial can be without the disk there")?,
        };
        Ok(self.memory.insert(scratch).folder().to_owned())
    }

    /// The same for a contender's server. An encrypted file system lies deeper than the temporary folder, which the
    /// server's account must be able to enter too.
    fn server_place(&mut self, contender: &Contender, installation: &Installation) -> Result<PathBuf> {
        installation.admit(&self.place)?;
        let place = self.place(contender)?;
        if self.memory.is_some() && contender.neutralised.is_some() {
            installation.admit(&place)?;
        }
        Ok(place)
    }

    /// The encrypted file system of a contender that asks for one.
    pub fn mounted(&mut self, contender: &Contender) -> Result<&Mounted> {
        if self.mounted.is_none() {
            let key = contender.key.as_ref().context("an encrypted file system needs the run's key")?;
            // The file system's program works for the measured contender, so it runs with the servers.
            let mounted = Mounted::new(&self.place, key, &self.placement)?;
            mounted.note(&self.place)?;
            self.mounted = Some(mounted);
        }
        self.mounted.as_ref().context("the file system is not mounted")
    }

    /// The server by which a contender's runner is served, which is started if need be; none where the engine is within
    /// the runner's own process.
    ///
    /// # Errors
    /// The server is not installed or does not start, or the way to it cannot be made longer.
    pub fn reach(&mut self, contender: &Contender) -> Result<Option<ScratchServer>> {
        let served = self.find(contender)?;
        let is_direct = matches!(contender.neutralised, Some(Neutralised::Network { .. }));
        match (self.network.as_mut().filter(|_| !is_direct), served) {
            (Some(network), Some(served)) => network.through(served).map(Some),
            (_, served) => Ok(served),
        }
    }

    /// The same through a proxy whose bytes an inspector sees, and which adds `round_trip` to each round trip; the
    /// run's own delay is left out.
    ///
    /// # Errors
    /// As of [`Servers::reach`].
    pub fn reach_inspected(
        &mut self,
        contender: &Contender,
        round_trip: Duration,
        inspector: Arc<dyn Inspector>,
    ) -> Result<Option<InspectedServer>> {
        let Some(served) = self.find(contender)? else { return Ok(None) };
        InspectedServer::new(served, round_trip, inspector, &self.place).map(Some)
    }

    /// The same at its own address.
    fn find(&mut self, contender: &Contender) -> Result<Option<ScratchServer>> {
        if !contender.engine.is_server() {
            return Ok(None);
        }
        if let Some(url) = &contender.url {
            return Ok(Some(url.connection(&self.scratch)));
        }
        let installation = self.installation(contender)?.clone();
        let place = self.server_place(contender, &installation)?;
        let placement = placement::of(contender, &self.placement);
        let new = || ServerPool::new(place, placement).obeying(&self.interrupts);
        let pool = match (&contender.neutralised, contender.file_system) {
            (Some(how), _) => self.neutral_pools.entry(how.suspect()).or_insert_with(new),
            (None, None) => &mut self.pool,
            (None, Some(_)) => self.encrypted_pool.get_or_insert_with(new),
        };
        let (settings, key) = (&contender.settings, contender.engine_key());
        let cluster = pool.cluster(&installation, settings, contender.cluster, key)?;
        Ok(Some(cluster.connection(&self.scratch)))
    }

    /// The version of a contender's server: that of the program which dyno starts, or what a server at a URL answered.
    pub(super) fn version(&self, contender: &Contender) -> Option<&String> {
        match contender.url {
            Some(_) => self.versions.get(&contender.label),
            None => self.installations.get(&program_of(contender)).map(|installation| &installation.version),
        }
    }

    /// Takes the version of a contender's server at a URL.
    pub(super) fn take_version(&mut self, contender: &Contender, version: String) {
        self.versions.insert(contender.label.clone(), version);
    }

    /// The program of a contender's server, where dyno has looked for one.
    pub fn program(&self, contender: &Contender) -> Option<&Path> {
        self.installations.get(&program_of(contender)).map(|installation| &*installation.server)
    }

    /// A server of a contender for one use, outside the pool.
    pub fn alone(&mut self, contender: &Contender) -> Result<(PrivateServer, Installation)> {
        let installation = self.installation(contender)?.clone();
        let place = self.server_place(contender, &installation)?;
        let (settings, key) = (&contender.settings, contender.engine_key());
        let (placement, interrupts) = (&self.placement, &self.interrupts);
        let server =
            PrivateServer::start_with_key(&installation, settings, key, &place, placement, interrupts)?;
        Ok((server, installation))
    }

    /// The CPUs and priority of servers.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The run's temporary folder.
    pub fn folder(&self) -> &Path {
        &self.place
    }

    fn installation(&mut self, contender: &Contender) -> Result<&Installation> {
        let program = program_of(contender);
        if !self.installations.contains_key(&program) {
            let found = {
                let engine = contender.engine.server().context("the engine is no server")?;
                Installation::find(&engine, &contender.build)?
            };
            self.installations.insert(program.clone(), found);
        }
        Ok(&self.installations[&program])
    }

    /// The way in which a contender's private server ended, if it has, with the end of its log: a runner that lost its
    /// connection cannot report it.
    pub fn death(&mut self, contender: &Contender) -> Option<String> {
        if contender.engine.store().is_some() {
            return self.store_death(contender);
        }
        let installation = self.installations.get(&program_of(contender))?;
        let pool = match (&contender.neutralised, contender.file_system) {
            (Some(how), _) => self.neutral_pools.get_mut(&how.suspect())?,
            (None, None) => &mut self.pool,
            (None, Some(_)) => self.encrypted_pool.as_mut()?,
        };
        pool.death(installation, &contender.settings, contender.cluster)
    }
}

/// The engine and the build whose program a contender's server is.
fn program_of(contender: &Contender) -> (String, Build) {
    (contender.engine.name.clone(), contender.build.clone())
}
