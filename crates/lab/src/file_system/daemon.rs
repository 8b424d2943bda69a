//! The program of an encrypted file system: started with its password, and ended.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use dyno_engine::Key;
use dyno_launch::environment;
use dyno_launch::waiting::wait_at_most;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{END_PATIENCE, PROGRAM, is_mounted, let_go};

/// The program at work.
#[derive(Debug)]
pub struct Daemon {
    /// Its process.
    pub child: Child,
    /// Its output: a file, since dyno does not read it meanwhile, and a full pipe would stop the program and all users
    /// of its files.
    log: File,
}

impl Daemon {
    /// Starts the program and writes the password to its standard input, which no other process can read.
    pub fn start(command: &mut Command, key: &Key) -> Result<Daemon> {
        let log = tempfile::tempfile().context("cannot make a log")?;
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        environment::clean(command);
        let mut child = command.spawn().with_context(|| format!("cannot run {PROGRAM}"))?;
        if let Some(mut input) = child.stdin.take() {
            // A program that has ended reports the reason in its output.
            let _ = writeln!(input, "{}", key.secret().reveal());
        }
        Ok(Daemon { child, log })
    }

    /// The program's output, in one line.
    pub fn said(&self) -> String {
        // Not by the file's own position, which the program shares and writes at.
        let mut said = vec![0; 4096];
        let length = self.log.read_at(&mut said, 0).unwrap_or(0);
        said.truncate(length);
        String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Ends the program, which unmounts; if it is stuck, the kernel is asked to release it, which also frees processes
    /// that wait for its files.
    pub fn end(&mut self, folder: &Path) {
        // Once it is waited for, its number may be that of another process of the machine.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM);
        }
        if wait_at_most(&mut self.child, END_PATIENCE).is_none() {
            let_go(folder);
            let _ = self.child.kill();
            wait_at_most(&mut self.child, END_PATIENCE);
        }
        if is_mounted(folder) {
            let_go(folder);
        }
    }
}
