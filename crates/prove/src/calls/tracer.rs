//! The process that watches: it stops each thread at each system call, looks which one it is, and lets it go on.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr;

use anyhow::{Context, Result, bail};
use dyno_launch::descendants;
use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::stat::fstat;
use nix::unistd::Pid;

use super::{Call, READY};

/// The signal of a stop at a system call (PTRACE_O_TRACESYSGOOD).
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// Watches a process and all that descend from it until they have ended. Standard input is their output, of which only
/// the length is looked at; the calls go to standard output.
///
/// # Errors
/// The system does not allow it.
pub fn serve(process: u32) -> Result<()> {
    let mut calls = Vec::new();
    watch(process, io::stdin().as_fd(), &mut calls, || {
        println!("{READY}");
        Ok(io::stdout().flush()?)
    })?;
    println!("{}", serde_json::to_string(&calls)?);
    Ok(())
}

/// The same; `ready` is called when no later call is missed.
pub(super) fn watch(
    process: u32,
    output: BorrowedFd,
    calls: &mut Vec<Call>,
    ready: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let mut stopping = seize_all(process)
        .context("the system does not let dyno watch another program (ptrace), as some containers do not")?;
    let mut ready = Some(ready);
    loop {
        if stopping.is_empty()
            && let Some(ready) = ready.take()
        {
            ready()?;
        }
        let mut status = 0;
        // SAFETY: the status is a number of this thread's. Not nix's: it knows no real-time signals.
        let thread = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
        match Errno::result(thread) {
            Err(Errno::EINTR) => continue,
            Err(Errno::ECHILD) => break,
            other => other?,
        };
        stopping.remove(&thread);
        if !libc::WIFSTOPPED(status) {
            continue;
        }
        let signal = libc::WSTOPSIG(status);
        let is_event = status >> 16 != 0;
        if signal == AT_CALL {
            note(Pid::from_raw(thread), output, calls);
        }
        let deliver = if is_event || signal == AT_CALL { 0 } else { signal };
        // SAFETY: the request reads no memory. A thread that was killed meanwhile has no next call.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, thread, ptr::null_mut::<u8>(), i64::from(deliver)) };
    }
    match ready {
        Some(_) => bail!("the program ended before it could be watched"),
        None => Ok(()),
    }
}

/// Seizes all threads, until no thread is left that is not traced. Returns those that have yet to stop for the first
/// time.
fn seize_all(process: u32) -> Result<BTreeSet<i32>> {
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK;
    let mut held = BTreeSet::new();
    loop {
        let before = held.len();
        for process in [process.cast_signed()].into_iter().chain(descendants(process)) {
            for thread in threads(process).into_iter().filter(|thread| !is_held(*thread)) {
                match ptrace::seize(Pid::from_raw(thread), options) {
                    Ok(()) => drop(held.insert(thread)),
                    Err(Errno::ESRCH) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if held.len() == before {
            break;
        }
    }
    held.retain(|&thread| ptrace::interrupt(Pid::from_raw(thread)).is_ok());
    Ok(held)
}

fn threads(process: i32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

/// True if a thread is traced already: a new thread is traced by the tracer of the thread that made it.
fn is_held(thread: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|tracer| tracer.trim() != "0"))
}

/// Notes the call at which a thread has stopped, if it is at the call's entry and the call is one of those counted.
fn note(thread: Pid, output: BorrowedFd, calls: &mut Vec<Call>) {
    let Ok(info) = ptrace::syscall_info(thread) else { return };
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return;
    }
    // SAFETY: of this kind of stop the kernel has filled this part.
    let entry = unsafe { info.u.entry };
    if let Some(name) = name(thread, entry.nr as i64, &entry.args) {
        let place = fstat(output).map_or(0, |output| output.st_size as u64);
        calls.push(Call { place, name: name.to_owned() });
    }
}

/// The name of a call that returns when something is durable.
fn name(thread: Pid, number: i64, arguments: &[u64; 6]) -> Option<&'static str> {
    match number {
        libc::SYS_fsync => Some("fsync"),
        libc::SYS_fdatasync => Some("fdatasync"),
        libc::SYS_sync => Some("sync"),
        libc::SYS_syncfs => Some("syncfs"),
        libc::SYS_msync => (arguments[2] & libc::MS_SYNC as u64 != 0).then_some("msync"),
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => {
            let asks = number == libc::SYS_pwritev2 && arguments[5] & libc::RWF_DSYNC as u64 != 0;
            (asks || is_synced(thread, arguments[0])).then_some("synced write")
        }
        _ => None,
    }
}

/// True if a file was opened such that each write waits until it is durable.
fn is_synced(thread: Pid, file: u64) -> bool {
    let about = fs::read_to_string(format!("/proc/{thread}/fdinfo/{file}")).unwrap_or_default();
    let flags =
        about.lines().find_map(|line| i32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_DSYNC != 0)
}
