//! The calls of a private server while a trial's sections are counted: a strace of the processes that it has and of those
//! that they start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dyno_launch::descendants;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::strace;

/// The time that strace has to be at all threads of a server, and to leave them.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two looks.
const STEP: Duration = Duration::from_millis(5);

/// A strace of a server's processes. Dropped, it leaves them.
#[derive(Debug)]
pub(in crate::run) struct ServerTrace {
    child: Child,
    errors: PathBuf,
}

impl ServerTrace {
    /// Begins to list the calls of a server, by its main processes, in a folder; returns when all its threads are followed.
    ///
    /// # Errors
    /// strace must not follow them, with what it said.
    pub fn begin(mains: &[u32], folder: &Path) -> Result<ServerTrace> {
        let whole = |&main: &u32| descendants(main).into_iter().chain([main.cast_signed()]);
        let processes: Vec<i32> = mains.iter().flat_map(whole).collect();
        let errors = folder.join("strace.log");
        let log = fs::File::create(&errors).with_context(|| format!("cannot make {}", errors.display()))?;
        let program = strace::program(&file(folder));
        let mut command = Command::new(&program[0]);
        command.args(&program[1..]).args(processes.iter().map(|process| format!("--attach={process}")));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let mut trace = ServerTrace { child: child.context("cannot run strace")?, errors };
        let deadline = Instant::now() + PATIENCE;
        while !processes.iter().all(|process| is_followed(*process)) {
            if trace.child.try_wait()?.is_some() || Instant::now() > deadline {
                bail!("strace cannot follow it: {}", trace.said());
            }
            thread::sleep(STEP);
        }
        Ok(trace)
    }

    /// The first line that strace wrote.
    fn said(&self) -> String {
        let text = fs::read_to_string(&self.errors).unwrap_or_default();
        text.lines().next().unwrap_or("it says nothing").to_owned()
    }
}

impl Drop for ServerTrace {
    /// Asked to end, strace lets the server go on and writes the rest of its lines.
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT);
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(STEP);
        }
    }
}

/// The file with the calls.
pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("server")
}

/// True if all threads of a process are traced, or if there is no such process any more.
fn is_followed(process: i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return true };
    threads.flatten().all(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        !status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|tracer| tracer.trim() == "0"))
    })
}
