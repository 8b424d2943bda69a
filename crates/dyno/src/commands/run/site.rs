//! The place where trials run: the machine, its storage, the scratch folder, and the options of every trial.

use std::time::Duration;

use anyhow::{Context, Result};
use dyno_lab::machine::{self, allowed_cpus};
use dyno_lab::placement;
use dyno_lab::scratch::{self, Scratch};
use dyno_lab::trial::TrialOptions;
use dyno_launch::Interrupts;
use dyno_launch::agents::AgentPool;
use dyno_record::{Machine, Placement, Storage, cpu_list};
use dyno_suite::Cpus;

use super::request::RunRequest;
use crate::cli::PlaceArgs;
use crate::commands::outcome::AsInput;

/// The place where trials run. Its scratch folder is removed when it is dropped.
pub struct Site {
    pub machine: Machine,
    pub storage: Storage,
    pub scratch: Scratch,
    pub options: TrialOptions,
    /// The CPUs that dyno might use before it moved.
    before: Vec<usize>,
}

impl Site {
    /// Moves dyno to its CPUs, listens for signals, removes what dead runs left and makes a scratch folder.
    ///
    /// # Errors
    /// The CPUs that are asked for are not allowed here, or the folder cannot be made.
    pub fn prepare(request: &RunRequest, place: &PlaceArgs, agents: Option<AgentPool>) -> Result<Site> {
        let all = (request.suite.cpus() == Cpus::All).then(|| cpu_list::format(&allowed_cpus()));
        let cpus = request.wanted.cpus.as_deref().or(all.as_deref());
        let placement = placement::choose(cpus, request.wanted.nice).map_err(anyhow::Error::from).input()?;
        // Before dyno moves: the CPUs that it may use are part of the machine's record.
        let before = allowed_cpus();
        let machine = machine::read();
        placement::apply_to_self(&placement)?;
        let interrupts = Interrupts::listen()?;
        let parent = place.dir.clone().unwrap_or_else(scratch::default_parent);
        let scratch = Scratch::create(&parent)?;
        let storage =
            machine::storage(&parent).with_context(|| format!("cannot look at {}", parent.display()))?;
        let options = TrialOptions {
            placement,
            sharing: request.wanted.sharing,
            timeout: Duration::from_nanos(request.schedule.timeout_ns),
            memory_bytes: request.limits.memory_bytes,
            interrupts,
            agents,
            watches: false,
        };
        Ok(Site { machine, storage, scratch, options, before })
    }
}

impl Drop for Site {
    /// A next run of the same command chooses among all CPUs again.
    fn drop(&mut self) {
        let all = Placement { dyno_cpus: std::mem::take(&mut self.before), ..self.options.placement.clone() };
        let _ = placement::apply_to_self(&all);
    }
}
