//! The servers of a run's contenders: one is found or started when a trial needs it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use dyno_protocol as protocol;

use crate::engine::Contender;
use crate::pairing::Pairing;
use crate::placement::Placement;
use crate::server::{Installation, ServerPool, scratch_name};

/// Servers by contender, and the name of the database that is this run's own on each of them.
#[derive(Debug)]
pub struct Servers {
    pool: ServerPool,
    /// By the contender's label: looking for one asks programs for their version.
    installations: BTreeMap<String, Installation>,
    scratch: String,
}

impl Servers {
    /// None started yet. `place` is the run's temporary folder; private servers run where `pairing`
    /// puts them.
    pub fn new(place: PathBuf, placement: &Placement, pairing: Pairing) -> Servers {
        let pool = ServerPool::new(place, pairing.pair(placement).server);
        Servers { pool, installations: BTreeMap::new(), scratch: scratch_name() }
    }

    /// How a contender's runner reaches its server, which is started if need be; none where the engine
    /// is within the runner's own process.
    ///
    /// # Errors
    /// The server is not installed or does not start.
    pub fn reach(&mut self, contender: &Contender) -> Result<Option<protocol::Server>> {
        if !contender.engine.server {
            return Ok(None);
        }
        if let Some(url) = &contender.url {
            return Ok(Some(url.connection(&self.scratch)));
        }
        if !self.installations.contains_key(&contender.label) {
            let found = Installation::find(&contender.engine.name, &contender.build)?;
            self.installations.insert(contender.label.clone(), found);
        }
        let server = self.pool.server(&self.installations[&contender.label], &contender.settings)?;
        Ok(Some(server.connection(&self.scratch)))
    }

    /// How a contender's private server ended, with the end of its log, if it has: what a runner that lost
    /// its connection cannot tell.
    pub fn death(&mut self, contender: &Contender) -> Option<String> {
        let installation = self.installations.get(&contender.label)?;
        self.pool.death(installation, &contender.settings)
    }
}
