//! The clusters of stores among a run's servers.

use anyhow::{Result, ensure};
use dyno_engine::Contender;
use dyno_protocol::Job;

use super::Servers;
use crate::placement;
use crate::server::{Account, StoreCluster, StoreOrder};

/// The most clusters that are kept for later trials: each takes memory, and its nodes say a few times a second that they
/// are there.
const MOST_KEPT: usize = 4;

impl Servers {
    /// Has a job work on the cluster of its contender, which is started if need be, where the engine is a store with
    /// servers.
    ///
    /// # Errors
    /// The cluster cannot be started.
    pub fn join_store(&mut self, contender: &Contender, job: &mut Job) -> Result<()> {
        let Some(start) = contender.engine.store() else { return Ok(()) };
        let title = &contender.engine.title;
        ensure!(contender.neutralised.is_none(), "dyno can take no suspect away from a cluster of {title}");
        let found = self.stores.iter_mut().position(|cluster| cluster.serves(contender));
        let cluster = match found {
            Some(place) => self.stores.remove(place),
            None => {
                Account::for_server(&start.account)?.admit(&self.place)?;
                let placement = placement::of(contender, &self.placement);
                let (place, interrupts) = (&self.place, &self.interrupts);
                self.stores.truncate(MOST_KEPT - 1);
                let placement = &placement;
                StoreCluster::start(StoreOrder { contender, place, places: &[], placement, interrupts })?
            }
        };
        let server = cluster.server();
        job.server = Some(match &mut self.network {
            Some(network) => network.through_to_store(server)?,
            None => server,
        });
        self.stores.insert(0, cluster);
        Ok(())
    }

    /// Describes how a node of a contender's cluster ended, if one has.
    pub(super) fn store_death(&mut self, contender: &Contender) -> Option<String> {
        self.stores.iter_mut().find(|cluster| cluster.is_of(contender))?.death()
    }
}
