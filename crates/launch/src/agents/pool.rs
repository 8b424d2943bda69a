//! The agents of a run: started when they are first needed, and again after one of them was lost.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::{ExpectedBuild, Fleet, Launcher};
use crate::interrupts::Interrupts;

/// The agents of a run.
#[derive(Clone)]
pub struct AgentPool(Arc<Members>);

struct Members {
    launcher: Launcher,
    expected: ExpectedBuild,
    fleet: Mutex<Option<Arc<Fleet>>>,
}

impl AgentPool {
    /// Agents that are yet to be started, of the same build as this dyno.
    pub fn new(launcher: Launcher, expected: ExpectedBuild) -> AgentPool {
        AgentPool(Arc::new(Members { launcher, expected, fleet: Mutex::new(None) }))
    }

    /// The number of agents.
    pub fn count(&self) -> u32 {
        self.0.launcher.agents() as u32
    }

    /// The agents, all of them well. The calling thread must outlive them.
    ///
    /// # Errors
    /// One of them does not start, with its host and what to do.
    pub fn fleet(&self, interrupts: &Interrupts) -> Result<Arc<Fleet>> {
        let mut fleet = self.0.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(well) = fleet.as_ref().filter(|fleet| fleet.is_well()) {
            return Ok(well.clone());
        }
        // Those that are left end before others take their place.
        *fleet = None;
        let started = Arc::new(Fleet::start(&self.0.launcher, &self.0.expected, interrupts)?);
        *fleet = Some(started.clone());
        Ok(started)
    }

    /// Ends all agents.
    pub fn end(&self) {
        *self.0.fleet.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl fmt::Debug for AgentPool {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.debug_tuple("AgentPool").field(&self.0.launcher).finish()
    }
}
