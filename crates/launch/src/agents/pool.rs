//! The agents of a run: started when they are first needed, and again after one of them was lost.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Result, bail};

use super::{AgentHello, ExpectedBuild, Fleet, Launcher};
use crate::interrupts::Interrupts;

/// The agents of a run.
#[derive(Clone)]
pub struct AgentPool(Arc<Members>);

struct Members {
    launcher: Launcher,
    expected: ExpectedBuild,
    fleet: Mutex<Option<Arc<Fleet>>>,
    /// The agents of the first start, which the record of the run describes.
    first: OnceLock<Vec<(String, AgentHello)>>,
}

impl AgentPool {
    /// Agents that are yet to be started, of the same build as this dyno.
    pub fn new(launcher: Launcher, expected: ExpectedBuild) -> AgentPool {
        let (fleet, first) = (Mutex::new(None), OnceLock::new());
        AgentPool(Arc::new(Members { launcher, expected, fleet, first }))
    }

    /// The number of agents.
    pub fn count(&self) -> u32 {
        self.0.launcher.agents() as u32
    }

    /// The agents, all of them well. The calling thread must outlive them.
    ///
    /// # Errors
    /// One of them does not start, with its host and what to do; or those that were started anew are on other machines than
    /// the first ones.
    pub fn fleet(&self, interrupts: &Interrupts) -> Result<Arc<Fleet>> {
        let mut fleet = self.0.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(well) = fleet.as_ref().filter(|fleet| fleet.is_well()) {
            return Ok(well.clone());
        }
        // Those that are left end before others take their place.
        *fleet = None;
        let started = Arc::new(Fleet::start(&self.0.launcher, &self.0.expected, interrupts)?);
        check_same(self.0.first.get_or_init(|| started.agents().to_vec()), started.agents())?;
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

/// Agents must be on the machines that the record of the run describes.
///
/// # Errors
/// One is not, with its host.
fn check_same(first: &[(String, AgentHello)], now: &[(String, AgentHello)]) -> Result<()> {
    for ((host, was), (_, is)) in first.iter().zip(now) {
        if let Some(change) = change(was, is) {
            bail!(
                "the agents were started anew, and the one on {host} {change}: the run file describes the machines of the \
                 beginning, so dyno measures nothing on others; begin another run"
            );
        }
    }
    Ok(())
}

/// The difference between the machines of two agents, if there is one.
fn change(was: &AgentHello, is: &AgentHello) -> Option<String> {
    let usable = |hello: &AgentHello| (hello.machine.cpu.allowed.clone(), hello.machine.cpu.quota_ns);
    if was.host != is.host {
        Some(format!("is on the machine {}, and was on {}", is.host, was.host))
    } else if was.boot_id != is.boot_id {
        Some("is on another machine of that name, or its machine was started anew".to_owned())
    } else if usable(was) != usable(is) {
        Some("may use other processors than before".to_owned())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(host: &str, boot_id: &str, cpu: usize) -> (String, AgentHello) {
        ("n1".to_owned(), AgentHello::on(host, boot_id, &[cpu]))
    }

    #[test]
    fn agents_that_are_started_anew_elsewhere_are_refused() {
        let first = [agent("node-1", "x", 0), agent("node-2", "y", 0)];
        let complaint = |second: (String, AgentHello)| {
            check_same(&first, &[first[0].clone(), second]).unwrap_err().to_string()
        };
        assert!(check_same(&first, &first).is_ok());
        let said = complaint(agent("node-3", "z", 0));
        assert!(said.contains("the one on n1 is on the machine node-3, and was on node-2"), "{said}");
        assert!(complaint(agent("node-2", "z", 0)).contains("its machine was started anew"));
        assert!(complaint(agent("node-2", "y", 1)).contains("may use other processors than before"));
    }
}
