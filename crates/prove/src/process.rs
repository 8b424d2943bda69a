//! Programs that work on a disk or look at one: each in a separate process group and with a time limit; nothing that it
//! started outlives it.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_launch::Interrupts;
use dyno_launch::stopped_descendants;
use dyno_launch::waiting::has_ended;
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getppid};

use crate::calls::CallWatch;
use crate::subject::WorkMode;

/// The interval at which dyno checks whether a program has ended.
const STEP: Duration = Duration::from_micros(500);
/// The most output of a program that is kept, in bytes.
const KEPT: usize = 16 << 20;
/// The room that a program's output has at least, in bytes.
const ROOM: i64 = 64 << 10;
/// The time that killed processes may take to be gone.
const BURIAL: Duration = Duration::from_secs(10);

/// The end of a program.
#[derive(Debug)]
pub struct Ended {
    /// Its status; None if it was killed because its time was over.
    pub status: Option<ExitStatus>,
    /// Its standard output, if that was not the recorder's.
    pub output: String,
    /// Its standard error.
    pub errors: String,
}

impl Ended {
    /// True if it reports success.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// True if nothing is known of what it looked at: it did not end in time, or the system killed it, as where memory is
    /// short.
    pub fn is_late(&self) -> bool {
        self.status.is_none_or(|status| status.signal() == Some(libc::SIGKILL))
    }

    /// Describes its end and its messages, for people.
    pub fn describe(&self) -> String {
        let how = match self.status {
            None => "did not end in time and was killed".to_owned(),
            Some(status) => format!("ended with {status}"),
        };
        match self.errors.trim() {
            "" => how,
            errors => format!("{how}; it wrote: {}", errors.lines().next_back().unwrap_or_default()),
        }
    }
}

/// A program that looks at data did not end in time, so nothing is known of them.
#[derive(Debug)]
pub struct Late(pub String);

impl std::fmt::Display for Late {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Late {}

/// The destination of a program's output.
pub enum Output {
    /// To the recorder of the disk.
    Recorder(File),
    /// To whom it may concern.
    Kept,
}

/// The limits of a program.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'a> {
    /// The longest that it may take.
    pub patience: Duration,
    /// The moment when it is killed, and its watcher.
    pub manner: WorkMode<'a>,
}

/// Runs a program with an input to its end or its limit. All processes that it started end with it.
///
/// Must be called by a thread that outlives it.
///
/// # Errors
/// It cannot be started, or dyno is asked to stop.
pub fn run(
    command: &mut Command,
    input: &[u8],
    output: Output,
    limit: Limit,
    interrupts: &Interrupts,
) -> Result<Ended> {
    let program = command.get_program().display().to_string();
    // Files and not pipes: no thread has to read while it works.
    let (kept, errors) = (with_room()?, with_room()?);
    let output = match output {
        Output::Recorder(file) => file,
        Output::Kept => kept.try_clone()?,
    };
    command.stdin(given(input, limit.manner.watch)?).stdout(Stdio::from(output));
    command.stderr(Stdio::from(errors.try_clone()?));
    die_with_dyno(command, limit.manner.watch.is_some());
    nix::sys::prctl::set_child_subreaper(true)?;
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    // The command holds the recorder's file, which would keep its files mounted.
    command.stdout(Stdio::null());
    if let (Some(watch), Some(mut pipe)) = (limit.manner.watch, child.stdin.take()) {
        // The program does nothing before it has its input. If it has ended already, the error does not matter.
        watch.begin(child.id()).inspect_err(|_| {
            end_all(&mut child);
        })?;
        let _ = pipe.write_all(input);
    }
    let start = Instant::now();
    let end = limit.manner.kill_after.unwrap_or(limit.patience);
    let has_ended = wait(&child, start, end, interrupts);
    let status = end_all(&mut child);
    limit.manner.watch.map_or(Ok(()), |watch| watch.end(child.id()))?;
    let status = status.filter(|_| has_ended || limit.manner.kill_after.is_some());
    interrupts.check()?;
    Ok(Ended { status, output: text(&kept), errors: text(&errors) })
}

/// Waits for a program until its time is over: whether it ended. After a stall of the whole machine it may have ended
/// long ago, so it is asked once more after the clock. Its number stays its own until the rest of its group is killed.
fn wait(child: &Child, start: Instant, end: Duration, interrupts: &Interrupts) -> bool {
    loop {
        let is_over = start.elapsed() >= end || interrupts.signal().is_some();
        let has_ended = has_ended(child);
        if has_ended || is_over {
            return has_ended;
        }
        thread::sleep(STEP);
    }
}

/// A file for output that has some room: a program could not even report that a disk is full.
fn with_room() -> Result<File> {
    let file = tempfile::tempfile()?;
    match fallocate(&file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, ROOM) {
        // Not every file system gives room beforehand.
        Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(file),
        Err(error) => Err(io::Error::from(error)).context("there is no room for what a program writes"),
    }
}

/// The standard input: a file, or a pipe if the program is to wait until it is watched.
fn given(input: &[u8], watch: Option<&CallWatch>) -> Result<Stdio> {
    if watch.is_some() {
        return Ok(Stdio::piped());
    }
    // In memory alone: it may hold a key.
    let mut file = File::from(memfd_create("dyno", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(input)?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

/// Gives a command a separate process group, and the kernel the order to kill it when dyno dies. Also allows the
/// watcher, from which it does not descend, to trace it where the system is strict (Yama).
fn die_with_dyno(command: &mut Command, is_watched: bool) {
    command.process_group(0);
    let parent = nix::unistd::getpid();
    // SAFETY: between fork and exec, system calls on plain numbers.
    unsafe {
        command.pre_exec(move || {
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
            if is_watched {
                libc::prctl(libc::PR_SET_PTRACER, libc::c_ulong::MAX);
            }
            if getppid() == parent { Ok(()) } else { Err(io::Error::from(Errno::ESRCH)) }
        });
    }
}

/// Kills a program and all that descends from it, at once as far as that goes.
fn end_all(child: &mut Child) -> Option<ExitStatus> {
    let group = Pid::from_raw(child.id().cast_signed());
    let others: Vec<Pid> = stopped_descendants(child.id()).into_iter().map(Pid::from_raw).collect();
    let _ = killpg(group, Signal::SIGKILL);
    for &other in &others {
        let _ = kill(other, Signal::SIGKILL);
    }
    let status = dyno_launch::waiting::wait_at_most(child, BURIAL);
    // Those that lost their parent are dyno's to bury.
    let deadline = Instant::now() + BURIAL;
    for other in others {
        while kill(other, None).is_ok() && Instant::now() < deadline {
            let _ = waitpid(other, Some(WaitPidFlag::WNOHANG));
            thread::sleep(STEP);
        }
    }
    while waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG))
        .is_ok_and(|status| status.pid().is_some())
    {}
    status
}

/// The content of a file.
fn text(file: &File) -> String {
    let length = file.metadata().map_or(0, |data| data.len() as usize).min(KEPT);
    let mut bytes = vec![0; length];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}
