//! Ends the processes that a runner started together with it.
//!
//! A process that a runner started and that left its process group lives on when the runner is killed, and would work
//! during the next trial. Such an orphan comes to dyno, as the nearest ancestor that asked for them
//! (`PR_SET_CHILD_SUBREAPER` in prctl(2)). Servers and file systems are children of dyno too, so dyno distinguishes
//! orphans from them by a variable that all descendants of a runner inherit.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::descendants::descendants;
use crate::killing::kill_if;

/// The variable that marks a runner and what descends from it.
const MARK: &str = "DYNO_TRIAL";
/// Distinguishes the trials of one process.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// The number of checks whether a killed process is gone. Each takes a millisecond and more.
const TRIES: u32 = 1000;

/// A runner and what descends from it.
#[derive(Debug)]
pub(crate) struct Family {
    /// The variable as it stands in an environment.
    mark: String,
}

impl Family {
    /// Makes a new family for the process that `command` will start. Call it after the command's environment was
    /// cleared.
    pub fn begin(command: &mut Command) -> Result<Family> {
        nix::sys::prctl::set_child_subreaper(true).context("cannot adopt what runners leave behind")?;
        let value = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &value);
        Ok(Family { mark: format!("{MARK}={value}") })
    }

    /// Kills those that the runner, which has ended, left behind. `group` is the process group that it led.
    pub fn end(&self, group: Pid) {
        let mut dying = BTreeSet::new();
        for _ in 0..TRIES {
            let left = self.members();
            let is_last = left.is_empty();
            for pid in left {
                kill_if(pid, || self.has(pid));
                dying.insert(pid);
            }
            dying.retain(|pid| !is_reaped(*pid));
            if is_last && dying.is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        // Those that ended unprompted must be collected by dyno as well.
        let reap = || waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG));
        while reap().is_ok_and(|status| status != WaitStatus::StillAlive) {}
    }

    /// Those of the family that live.
    fn members(&self) -> Vec<Pid> {
        let found = descendants(std::process::id()).into_iter().map(Pid::from_raw);
        found.filter(|pid| self.has(*pid)).collect()
    }

    /// True if a process is of the family. A dead process has no environment.
    fn has(&self, pid: Pid) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == self.mark.as_bytes())
    }
}

/// Returns true if a killed process is gone for good.
fn is_reaped(pid: Pid) -> bool {
    match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::StillAlive) => false,
        Ok(_) => true,
        // No child of dyno's, or not yet: its parent is about to die as well.
        Err(Errno::ECHILD) => kill(pid, None).is_err(),
        Err(_) => true,
    }
}
