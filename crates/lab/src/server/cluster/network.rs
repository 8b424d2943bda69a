//! The network of a private cluster: a switch, and a network namespace with a cable to it for each node.
//!
//! No namespace has a name, and nothing of it is in the machine's own network. The kernel removes all of it with dyno's
//! last file descriptor and the last server in it, so that a dyno that is killed leaves nothing. Clients on this
//! machine reach a node by its socket, whatever its cable does.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_needs as needs;
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::Uid;

/// The program that sets up links and addresses.
const IP: &str = "ip";
/// The name of the bridge within its namespace.
const SWITCH: &str = "switch";

/// A network namespace, which lasts as long as this or a process in it.
#[derive(Debug, Clone)]
pub struct Namespace(Arc<OwnedFd>);

impl Namespace {
    /// A new one without links.
    fn new() -> Result<Namespace> {
        // A thread that has left the machine's network must not do anything else.
        let made = thread::spawn(|| -> io::Result<OwnedFd> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok(File::open("/proc/thread-self/ns/net")?.into())
        });
        let made = made.join().map_err(|_| anyhow!("the thread that makes network namespaces panicked"))?;
        Ok(Namespace(Arc::new(made.context("cannot make a network namespace")?)))
    }

    /// Makes a command run within it. Call it before the command changes its account.
    pub fn enter(&self, command: &mut Command) {
        let namespace = self.0.clone();
        // SAFETY: between fork and exec, one system call on a descriptor that is open.
        unsafe { command.pre_exec(move || Ok(setns(&*namespace, CloneFlags::CLONE_NEWNET)?)) };
    }

    /// A path by which another process of the machine finds it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Has `ip` execute lines within it.
    fn set_up(&self, lines: &[String]) -> Result<()> {
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

/// A switch and the nodes that are plugged into it.
#[derive(Debug)]
pub struct ClusterNetwork {
    switch: Namespace,
    nodes: Vec<Namespace>,
}

impl ClusterNetwork {
    /// Makes one for a number of nodes.
    ///
    /// # Errors
    /// dyno is not root, the kernel makes no network namespaces, or `ip` is missing.
    pub fn new(nodes: u32) -> Result<ClusterNetwork> {
        if !Uid::effective().is_root() {
            bail!(
                "each node of a cluster is in a network namespace, which only root can make: run dyno as root, or \
                 measure a cluster that runs already at the address of one of its nodes (--url)"
            );
        }
        let switch = Namespace::new()?;
        switch
            .set_up(&[format!("link add name {SWITCH} type bridge"), format!("link set dev {SWITCH} up")])?;
        let mut network = ClusterNetwork { switch, nodes: Vec::new() };
        for _ in 0..nodes {
            network.plug_in()?;
        }
        Ok(network)
    }

    /// The namespace of a node.
    pub fn node(&self, node: usize) -> &Namespace {
        &self.nodes[node]
    }

    /// The address of a node.
    pub fn address(node: usize) -> String {
        format!("10.99.0.{}", node + 1)
    }

    /// Pulls the cable of a node: its link is down, and the node sees that.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn pull_cable(&self, node: usize) -> Result<()> {
        self.switch.set_up(&[format!("link set dev {} down", port(node))])
    }

    /// Cuts a node off from all others, which it cannot see: its link stays up, and no packet arrives.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn cut_off(&self, node: usize) -> Result<()> {
        self.switch.set_up(&[format!("link set dev {} nomaster", port(node))])
    }

    /// Ends both.
    ///
    /// # Errors
    /// `ip` fails.
    pub fn repair(&self, node: usize) -> Result<()> {
        let port = port(node);
        self.switch
            .set_up(&[format!("link set dev {port} master {SWITCH}"), format!("link set dev {port} up")])
    }

    fn plug_in(&mut self) -> Result<()> {
        let node = self.nodes.len();
        let namespace = Namespace::new()?;
        let port = port(node);
        self.switch.set_up(&[
            format!("link add name {port} type veth peer name eth0 netns {}", namespace.path()),
            format!("link set dev {port} master {SWITCH}"),
            format!("link set dev {port} up"),
        ])?;
        namespace.set_up(&[
            "link set dev lo up".to_owned(),
            format!("address add {}/24 dev eth0", ClusterNetwork::address(node)),
            "link set dev eth0 up".to_owned(),
        ])?;
        self.nodes.push(namespace);
        Ok(())
    }
}

/// The name of a node's port at the switch.
fn port(node: usize) -> String {
    format!("port{}", node + 1)
}
