//! Starts processes where a placement says: on its CPUs, at its priority.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use dyno_record::Placement;
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::{Pid, getpid};

/// Makes a command start in its place: on the runner's CPUs, at its priority, at the head of a new process group, and
/// killed when dyno dies.
///
/// - The group lets dyno end a runner with all that it started, and keeps an interrupt from the
///   terminal to dyno, which decides what to do with the trial. So dyno must end the group itself.
/// - The death signal reaches the started process only, not what that starts in turn, and is sent
///   when the *thread* that started it ends, not the process. Start runners from a thread that
///   lives as long as they do.
///
/// A refusal by the system becomes the error of [`Command::spawn`].
///
/// # Errors
/// The runner's CPUs are beyond what a set of CPUs holds.
pub fn prepare(placement: &Placement, command: &mut Command) -> io::Result<()> {
    let set = cpu_set(&placement.runner_cpus)?;
    let nice = placement.nice;
    let parent = getpid();
    command.process_group(0);
    // SAFETY: between fork and exec only calls that are safe in a signal handler may be made. The
    // closure makes system calls on values that it owns; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || enter(&set, nice, parent)) };
    Ok(())
}

/// Makes a command start where dyno is, at the head of a new process group, and killed when dyno dies.
pub(crate) fn guard(command: &mut Command) {
    let parent = getpid();
    command.process_group(0);
    // SAFETY: as above.
    unsafe { command.pre_exec(move || die_with(parent)) };
}

/// Has the kernel kill the started process when dyno dies: system calls only.
fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // dyno may have died before the signal was asked for; then no signal would come.
    if nix::unistd::getppid() != parent {
        return Err(Errno::ESRCH.into());
    }
    Ok(())
}

/// The started process's own part, between fork and exec: system calls only.
fn enter(set: &CpuSet, nice: i32, parent: Pid) -> io::Result<()> {
    die_with(parent)?;
    sched_setaffinity(Pid::from_raw(0), set)?;
    Ok(set_nice(nice)?)
}

/// Places the calling thread as runners are placed.
///
/// # Errors
/// The CPUs or the priority cannot be had.
pub fn enter_thread(placement: &Placement) -> io::Result<()> {
    sched_setaffinity(Pid::from_raw(0), &cpu_set(&placement.runner_cpus)?)?;
    Ok(set_nice(placement.nice)?)
}

/// Sets the calling thread's priority.
pub fn set_nice(nice: i32) -> Result<(), Errno> {
    // SAFETY: a system call on plain numbers. The type of the first differs between C libraries.
    Errno::result(unsafe { libc::setpriority(libc::PRIO_PROCESS as _, 0, nice) }).map(drop)
}

/// A set of CPUs for the kernel.
pub fn cpu_set(cpus: &[usize]) -> Result<CpuSet, Errno> {
    let mut set = CpuSet::new();
    cpus.iter().try_for_each(|&cpu| set.set(cpu))?;
    Ok(set)
}
