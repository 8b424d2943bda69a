//! The CPUs that the measured process and dyno run on, and at what priority: chosen and stated, not left to luck.
//!
//! The reason: a process that sleeps in a sync or waits for its server must queue for a CPU when it wakes, and what
//! wakes it and what else runs on that CPU decides how long. So the runner gets a separate CPU where one can be spared,
//! dyno keeps off it, and the record says which. On a shared machine, a runner that shares its CPU with even a small
//! periodic task lost 4 to 5 % of its time to waiting; on a separate CPU, 0.2 %.
//!
//! A priority above the usual one is offered and not chosen: on a quiet machine it changed neither the median nor the
//! spread, and on a busy one it helps against processes of the same session only, since the kernel first divides the
//! CPU between sessions (autogroup) and control groups.
//!
//! It never leaves the CPUs that the system allows, and never raises a priority that was not asked for.
//!
//! Units: CPUs are the kernel's numbers, from 0; `nice` is from -20 (first) to 19 (last).

use std::io;

use dyno_engine::Contender;
use dyno_launch::placed::{cpu_set, set_nice};
use dyno_record::{Neutralised, Placement, cpu_list};
use nix::errno::Errno;
use nix::libc;
use nix::sched::sched_setaffinity;
use nix::unistd::Pid;

use crate::machine::{Topology, allowed_cpus};

/// The reason that a placement cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PlacementError {
    /// The list of CPUs cannot be read.
    #[error("`{part}` is not a CPU or a range of CPUs; allowed here: {allowed} (write `1` or `0-2,5`)")]
    Syntax {
        /// The part that is wrong.
        part: String,
        /// The CPUs that may be named.
        allowed: String,
    },
    /// CPUs that do not exist or that the system keeps from dyno.
    #[error("CPU {asked} does not exist or is not allowed to this process; allowed here: {allowed}")]
    NotAllowed {
        /// Those asked for that cannot be had.
        asked: String,
        /// The CPUs that may be named.
        allowed: String,
    },
    /// A priority outside the kernel's range.
    #[error("nice {0} is outside -20 (first) to 19 (last)")]
    NiceRange(i32),
    /// A priority that needs a right that dyno lacks.
    #[error(
        "nice {0} is refused ({1}): a priority above that of dyno itself needs root, CAP_SYS_NICE or a \
         higher limit (`ulimit -e`); leave it out, or give a number from 0 to 19"
    )]
    NiceRefused(i32, Errno),
    /// The system refused to move dyno.
    #[error("cannot move dyno to CPU {0}: {1}")]
    Move(String, io::Error),
}

/// Chooses the placement for a run.
///
/// `cpus` are those asked for the runner, as `1` or `0-2,5`. Without it the runner gets one CPU: of
/// the fastest kind, not CPU 0 (which serves most interrupts and housekeeping), the last of those.
/// dyno gets all others, without hyper-threads of the runner's cores while that leaves any. Without
/// `nice`, the runner has dyno's own priority.
///
/// Looks at what the calling thread may use: call it before [`apply_to_self`].
///
/// # Errors
/// CPUs that cannot be read or had, or a priority that cannot be had, with what is allowed.
pub fn choose(cpus: Option<&str>, nice: Option<i32>) -> Result<Placement, PlacementError> {
    let allowed = allowed_cpus();
    let topology = Topology::read(&allowed);
    let nice = nice.unwrap_or_else(own_nice);
    if !(-20..=19).contains(&nice) {
        return Err(PlacementError::NiceRange(nice));
    }
    try_nice(nice).map_err(|errno| PlacementError::NiceRefused(nice, errno))?;
    let asked = cpus.map(|text| asked_cpus(text, &allowed)).transpose()?;
    let mut placement = split(asked, &allowed, &topology);
    placement.nice = nice;
    if nice != own_nice() {
        let scope = "only processes of the same session or control group give way to it or go before it";
        placement.note.push_str(&format!("; runner at nice {nice}: {scope}"));
    }
    Ok(placement)
}

/// Moves dyno, with all threads that it has so far, to its CPUs. Later threads and processes
/// inherit the CPUs of the thread that starts them, so call it early.
///
/// # Errors
/// The system refuses, as when CPUs were taken away since the choice.
pub fn apply_to_self(placement: &Placement) -> Result<(), PlacementError> {
    let wrap = |error| PlacementError::Move(cpu_list::format(&placement.dyno_cpus), error);
    let set = cpu_set(&placement.dyno_cpus).map_err(|errno| wrap(errno.into()))?;
    for entry in std::fs::read_dir("/proc/self/task").map_err(wrap)? {
        let name = entry.map_err(wrap)?.file_name();
        let Some(thread) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        match sched_setaffinity(Pid::from_raw(thread), &set) {
            // The thread ended between the listing and the call.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(errno) => return Err(wrap(errno.into())),
        }
    }
    Ok(())
}

/// The placement of a contender's processes in a run with this one: on a further CPU where too few processors are the
/// suspect that is neutralised.
pub(crate) fn of(contender: &Contender, placement: &Placement) -> Placement {
    let mut placement = placement.clone();
    if let Some(Neutralised::Processors { cpu }) = contender.neutralised
        && !placement.runner_cpus.contains(&cpu)
    {
        placement.runner_cpus.push(cpu);
        placement.runner_cpus.sort_unstable();
    }
    placement
}

/// A CPU that a run with this placement could use besides those of its runners; none if they have all.
pub fn further_cpu(placement: &Placement) -> Option<usize> {
    placement.dyno_cpus.iter().copied().find(|cpu| !placement.runner_cpus.contains(cpu))
}

/// The calling thread's priority, 0 if the system does not report it.
fn own_nice() -> i32 {
    // -1 is a priority as well as a sign of failure; only the error number distinguishes the two.
    Errno::clear();
    // SAFETY: a system call on plain numbers. The type of the first differs between C libraries.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS as _, 0) };
    if Errno::last_raw() == 0 { nice } else { 0 }
}

/// Asks the system for a priority: tried on a thread that ends at once, since priorities belong
/// to threads. The rights and limits behind the answer are too many to work out.
fn try_nice(nice: i32) -> Result<(), Errno> {
    std::thread::spawn(move || set_nice(nice)).join().unwrap_or(Err(Errno::UnknownErrno))
}

fn asked_cpus(text: &str, allowed: &[usize]) -> Result<Vec<usize>, PlacementError> {
    let list = || cpu_list::format(allowed);
    let asked = cpu_list::parse(text).map_err(|part| PlacementError::Syntax { part, allowed: list() })?;
    if asked.is_empty() {
        return Err(PlacementError::Syntax { part: text.to_owned(), allowed: list() });
    }
    let refused: Vec<usize> = asked.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    if !refused.is_empty() {
        return Err(PlacementError::NotAllowed { asked: cpu_list::format(&refused), allowed: list() });
    }
    Ok(asked)
}

/// Divides the allowed CPUs, which are not empty, between runner and dyno.
fn split(asked: Option<Vec<usize>>, allowed: &[usize], topology: &Topology) -> Placement {
    let chosen = asked.is_none();
    let runner_cpus = asked.unwrap_or_else(|| vec![default_cpu(allowed, topology)]);
    let others: Vec<usize> = allowed.iter().copied().filter(|cpu| !runner_cpus.contains(cpu)).collect();
    let cores: Vec<usize> = runner_cpus.iter().flat_map(|&cpu| topology.core_of(cpu)).collect();
    let apart: Vec<usize> = others.iter().copied().filter(|cpu| !cores.contains(cpu)).collect();
    let (dyno_cpus, warning) = match (others.is_empty(), apart.is_empty()) {
        (true, _) => (allowed.to_vec(), "; no CPU is left for dyno alone"),
        (false, true) => {
            (others, "; they are hyper-threads of the same core, so dyno slows the runner a little")
        }
        (false, false) => (apart, ""),
    };
    let how = if chosen { "chosen by dyno" } else { "as the suite or you asked" };
    let note = format!(
        "runner on CPU {} ({how}), dyno on CPU {}{warning}",
        cpu_list::format(&runner_cpus),
        cpu_list::format(&dyno_cpus),
    );
    Placement { runner_cpus, dyno_cpus, nice: 0, note }
}

/// The last CPU of the fastest kind, and CPU 0 only where no other is allowed.
fn default_cpu(allowed: &[usize], topology: &Topology) -> usize {
    let speed = |cpu: usize| topology.speed.get(&cpu).copied().unwrap_or(0);
    allowed.iter().copied().max_by_key(|&cpu| (cpu != 0, speed(cpu), cpu)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
