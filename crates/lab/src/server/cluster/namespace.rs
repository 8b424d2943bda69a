//! A network namespace without a name: the kernel removes it with the last file and the last process in it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use dyno_needs as needs;
use nix::sched::{CloneFlags, setns, unshare};

/// The program that sets up links and addresses.
const IP: &str = "ip";

/// A network namespace, which lasts as long as this or a process in it.
#[derive(Debug, Clone)]
pub struct Namespace(Arc<OwnedFd>);

impl Namespace {
    /// A new one without links.
    ///
    /// # Errors
    /// The kernel makes none.
    pub fn new() -> Result<Namespace> {
        // A thread that has left the machine's network must not do anything else.
        let made = thread::spawn(|| -> io::Result<OwnedFd> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok(File::open("/proc/thread-self/ns/net")?.into())
        });
        let made = made.join().map_err(|_| anyhow!("the thread that makes network namespaces panicked"))?;
        Ok(Namespace(Arc::new(made.context("cannot make a network namespace")?)))
    }

    /// The result of a function that a thread within it calls.
    ///
    /// # Errors
    /// The thread cannot enter it, or panics.
    pub fn within<T: Send + 'static>(&self, act: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let namespace = self.0.clone();
        let entered = thread::spawn(move || setns(&*namespace, CloneFlags::CLONE_NEWNET).map(|()| act()));
        let entered = entered.join().map_err(|_| anyhow!("a thread in a network namespace panicked"))?;
        entered.context("cannot enter a network namespace")
    }

    /// Makes a command run within it. Call it before the command changes its account.
    pub fn enter(&self, command: &mut Command) {
        let namespace = self.0.clone();
        // SAFETY: between fork and exec, one system call on a descriptor that is open.
        unsafe { command.pre_exec(move || Ok(setns(&*namespace, CloneFlags::CLONE_NEWNET)?)) };
    }

    /// A path by which another process of the machine finds it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Has `ip` execute lines within it.
    ///
    /// # Errors
    /// It is not there, or it fails, with what it says.
    pub fn set_up(&self, lines: &[String]) -> Result<()> {
        let mut command = Command::new(IP);
        command
            .args(["-batch", "-"])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        self.enter(&mut command);
        let mut child = command.spawn().with_context(|| format!("cannot run {IP}{}", needs::advice(IP)))?;
        let mut input = child.stdin.take().context("ip has no input")?;
        // Where it ends early, its output says why.
        let _ = input.write_all((lines.join("\n") + "\n").as_bytes());
        drop(input);
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cannot set up the network of a cluster: ip says: {}", said.trim());
        Ok(())
    }
}
