//! The account under which a private server runs.
//!
//! PostgreSQL refuses to run as root, and no server needs to: when dyno is root, servers run under the
//! engine's own account or as `nobody`; else under dyno's own. Such an account must be able to enter the
//! folders on the way to the server's programs and data. dyno opens its own temporary folder for that,
//! to be entered and not listed, and changes no other: where another folder is in the way it says which.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Pid, Uid, User, getpid, getppid, setgid, setgroups, setuid};

/// The account that runs a server.
#[derive(Debug, Clone)]
pub struct Account {
    /// The user to change to; `None` to keep dyno's own.
    other: Option<Other>,
}

#[derive(Debug, Clone)]
struct Other {
    name: String,
    uid: Uid,
    gid: Gid,
}

impl Account {
    /// The account for servers of an engine whose usual one has this name.
    ///
    /// # Errors
    /// dyno is root and the machine has neither the engine's account nor `nobody`.
    pub fn for_server(usual: &str) -> Result<Account> {
        if !Uid::effective().is_root() {
            return Ok(Account { other: None });
        }
        let known = [usual, "nobody"].into_iter().find_map(|name| User::from_name(name).ok().flatten());
        let user = known.with_context(|| {
            format!("servers do not run as root, and there is neither an account `{usual}` nor `nobody`")
        })?;
        Ok(Account { other: Some(Other { name: user.name, uid: user.uid, gid: user.gid }) })
    }

    /// Gives a file or folder to the account. No link is followed.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        match &self.other {
            Some(other) => lchown(path, Some(other.uid.as_raw()), Some(other.gid.as_raw())),
            None => Ok(()),
        }
    }

    /// Lets the account's group enter a folder of mode 0700, which stays dyno's: the account can neither list it nor
    /// put a link in the place of what is in it.
    pub fn admit_group(&self, folder: &Path) -> io::Result<()> {
        let Some(other) = &self.other else { return Ok(()) };
        chown(folder, None, Some(other.gid.as_raw()))?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o710))
    }

    /// Makes a command run under the account, and the kernel send it `death` when the thread that
    /// started it ends. The kernel forgets such a wish when a process changes its account, so this one
    /// comes after the change; call it after anything else that prepares the command and needs root.
    pub fn prepare(&self, command: &mut Command, death: Signal) {
        let other = self.other.as_ref().map(|other| (other.uid, other.gid));
        let parent = getpid();
        // SAFETY: between fork and exec only calls that are safe in a signal handler may be made. The
        // closure makes system calls on plain numbers.
        unsafe { command.pre_exec(move || become_other(other, death, parent)) };
    }

    /// Lets the account enter a folder of dyno's own.
    pub fn admit(&self, folder: &Path) -> Result<()> {
        if self.other.is_none() {
            return Ok(());
        }
        let admit = || {
            let mut permissions = fs::metadata(folder)?.permissions();
            permissions.set_mode(permissions.mode() | 0o011);
            fs::set_permissions(folder, permissions)
        };
        admit().with_context(|| format!("cannot open {} to the server's account", folder.display()))
    }

    /// Checks that the account can get at a file or folder.
    ///
    /// # Errors
    /// It cannot; the message names the folder that is in the way.
    pub fn check_way(&self, path: &Path) -> Result<()> {
        let Some(other) = &self.other else { return Ok(()) };
        let mut test = Command::new("/bin/sh");
        test.args(["-c", "test -x \"$1\"", "sh"]).arg(path).stdin(Stdio::null());
        // The account may read the environment of its processes.
        test.env_clear();
        self.prepare(&mut test, Signal::SIGKILL);
        let reached = test.status().context("cannot look for a way to the server's files")?.success();
        if reached {
            return Ok(());
        }
        let closed = |folder: &&Path| {
            fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & 0o001 == 0)
        };
        let ancestors: Vec<&Path> = path.ancestors().skip(1).collect();
        let barrier = ancestors.into_iter().rev().find(closed).unwrap_or(path);
        bail!(
            "dyno is root, so the server runs under the account `{}`, which may not enter {}, on the way to \
             {}; choose a place that every account may enter (--dir for databases, /opt for programs), or \
             run dyno under another account",
            other.name,
            barrier.display(),
            path.display()
        )
    }
}

/// Leaves the terminal of the session: a process of another account that has it could type into it what the user's shell
/// then executes (`TIOCSTI`).
fn leave_terminal() {
    // SAFETY: the calls get a text that ends with zero, numbers, and a descriptor that was just opened.
    unsafe {
        let terminal = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        if terminal >= 0 {
            libc::ioctl(terminal, libc::TIOCNOTTY);
            libc::close(terminal);
        }
    }
}

/// The started process's own part, between fork and exec: system calls only.
fn become_other(other: Option<(Uid, Gid)>, death: Signal, parent: Pid) -> io::Result<()> {
    leave_terminal();
    if let Some((uid, gid)) = other {
        setgroups(&[])?;
        setgid(gid)?;
        setuid(uid)?;
    }
    nix::sys::prctl::set_pdeathsig(death)?;
    // dyno may have died before the signal was asked for; then it would never be sent.
    if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
}
