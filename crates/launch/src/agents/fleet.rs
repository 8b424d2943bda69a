//! The agents of a run as dyno sees them: started, heard, sent what they lack, and ended.

mod greeting;
mod roster;
mod sending;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::TrySendError;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use super::launcher::Launcher;
use super::reports::ReportReader;
use super::wire::{AgentHello, AgentOrder, OrderLine};
use crate::interrupts::Interrupts;
use crate::process::Inbox;

pub use greeting::ExpectedBuild;
use roster::Roster;
pub use roster::Route;
use sending::KnownDigest;

/// The interval at which dyno looks whether a launcher has taken what waits for it.
const LOOKS: Duration = Duration::from_millis(2);

/// The agents of a run. All of them end when it is dropped.
pub struct Fleet {
    /// Their own descriptions, by rank, with the name by which messages call each.
    agents: Vec<(String, AgentHello)>,
    roster: Arc<Roster>,
    /// Numbers the runners.
    trials: AtomicU64,
    digests: Mutex<BTreeMap<PathBuf, KnownDigest>>,
    interrupts: Interrupts,
}

impl Fleet {
    /// Starts agents and waits until all of them have answered. The calling thread must outlive them.
    ///
    /// # Errors
    /// One does not start or is of another build, with its host and what to do.
    pub(super) fn start(
        launcher: &Launcher,
        expected: &ExpectedBuild,
        interrupts: &Interrupts,
    ) -> Result<Fleet> {
        let inbox = Inbox::of_launchers();
        let mut reader = ReportReader::default();
        let (agents, roster) = greeting::greet(launcher, expected, (&inbox, &mut reader), interrupts)?;
        let roster = Arc::new(roster);
        let heard = roster.clone();
        thread::spawn(move || heard.listen(&inbox, reader));
        let pulsing = roster.clone();
        thread::spawn(move || pulsing.pulse());
        let (trials, digests, interrupts) = (AtomicU64::new(1), Mutex::default(), interrupts.clone());
        Ok(Fleet { agents, roster, trials, digests, interrupts })
    }

    /// The agents' own descriptions, by rank, with the name by which messages call each.
    pub fn agents(&self) -> &[(String, AgentHello)] {
        &self.agents
    }

    /// The name by which messages call an agent.
    pub fn host(&self, rank: usize) -> &str {
        &self.agents[rank].0
    }

    /// True if another agent may use the same processors. Each would count the work of the other's runner as time that others
    /// took.
    pub fn shares_processors(&self, rank: usize) -> bool {
        shares_processors(&self.agents, rank)
    }

    /// True while no agent is lost.
    pub(super) fn is_well(&self) -> bool {
        (0..self.agents.len()).all(|rank| self.trouble(rank).is_none())
    }

    /// The reason that an agent is lost, if it is.
    pub(super) fn trouble(&self, rank: usize) -> Option<String> {
        self.roster.lock().seats[rank].lost.clone()
    }

    /// Expects a new runner of an agent. Returns the runner's number.
    pub(super) fn route(&self, rank: usize, route: impl FnOnce(u64) -> Route) -> Result<u64> {
        let trial = self.trials.fetch_add(1, Ordering::Relaxed);
        let mut members = self.roster.lock();
        let seat = &mut members.seats[rank];
        if let Some(lost) = &seat.lost {
            bail!("{lost}");
        }
        seat.route = Some(route(trial));
        Ok(trial)
    }

    /// Sends an order to an agent. One that is lost is found out by its silence.
    pub(super) fn order(&self, rank: usize, order: AgentOrder) {
        let (name, _) = self.roster.input(rank);
        if let Ok(line) = line(vec![name], order) {
            let _ = self.put(rank, line);
        }
    }

    /// Puts a line before an agent's launcher, and waits for as long as much is there already.
    ///
    /// # Errors
    /// The agent is lost, or a signal asks the run to stop meanwhile.
    fn put(&self, rank: usize, mut line: Vec<u8>) -> Result<()> {
        while let (_, Some(input)) = self.roster.input(rank) {
            match input.try_send(line) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(left)) => line = left,
                Err(TrySendError::Disconnected(_)) => break,
            }
            drop(input);
            self.check()?;
            thread::sleep(LOOKS);
        }
        bail!(self.trouble(rank).unwrap_or_else(|| format!("{} is lost", self.host(rank))))
    }

    /// For work with agents that an interrupt ends. They are given up: what waits for them would delay their end.
    ///
    /// # Errors
    /// A signal asked the run to stop.
    fn check(&self) -> Result<()> {
        self.interrupts.check().inspect_err(|_| {
            self.roster.lose(|seat| Some(format!("{} was given up when the run was interrupted", seat.host)));
        })
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.roster.close();
    }
}

/// True if another of these agents is on the machine of one, by its place, and may use some of the same processors.
fn shares_processors(agents: &[(String, AgentHello)], rank: usize) -> bool {
    let own = &agents[rank].1;
    let is_beside = |other: &AgentHello| {
        let theirs = &other.machine.cpu.allowed;
        own.boot_id.is_some()
            && own.boot_id == other.boot_id
            && own.machine.cpu.allowed.iter().any(|cpu| theirs.contains(cpu))
    };
    agents.iter().enumerate().any(|(place, (_, other))| place != rank && is_beside(other))
}

/// An order as it is written.
fn line(to: Vec<String>, order: AgentOrder) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&OrderLine { to, order })?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_on_one_machine_share_the_processors_that_both_may_use() {
        let agents = [("x", [0, 1]), ("x", [1, 2]), ("x", [3, 4]), ("y", [0, 1])]
            .map(|(boot_id, cpus)| ("n".to_owned(), AgentHello::on("node", boot_id, &cpus)));
        let found = [0, 1, 2, 3].map(|rank| shares_processors(&agents, rank));
        assert_eq!(found, [true, true, false, false]);
    }
}
