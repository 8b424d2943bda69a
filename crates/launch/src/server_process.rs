//! A server that dyno has started: its main process, and what sees to it that none of its processes outlives it or dyno.

use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::descendants::stopped_descendants;
use crate::guard::Guard;
use crate::server_mark::{PATIENCE, ServerMark, reap, user_of};

/// The main process of a server. When dyno notices its end, however it came, the processes that it left behind are ended.
/// Dropped, it lets the server run: who starts one ends it.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    /// Its exit status, once it has ended.
    status: Option<ExitStatus>,
    mark: ServerMark,
    /// The user that the server runs as.
    user: Option<u32>,
    _guard: Guard,
}

impl ServerProcess {
    /// Starts a server by a command that is prepared. If dyno dies first, a guard ends the server by the signal `death`
    /// and removes `folders`, of which the first is the server's own.
    ///
    /// # Errors
    /// The program cannot be started, or there is no shell for the guard.
    pub fn start(mut command: Command, death: Signal, folders: &[&Path]) -> Result<ServerProcess> {
        let own = folders.first().context("a server has no folder")?;
        let mut mark = ServerMark::of_folder(own).context("cannot look at the server's folder")?;
        let file = mark.give(&mut command).context("cannot mark the server's processes")?;
        let mut child = command.spawn()?;
        drop(file);
        let user = user_of(Pid::from_raw(child.id().cast_signed()));
        let guard = Guard::watch(child.id(), death, &mark, folders).inspect_err(|_| {
            let _ = child.kill();
            let _ = child.wait();
        })?;
        Ok(ServerProcess { child, status: None, mark, user, _guard: guard })
    }

    /// The number of the main process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status of the main process, once it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
            if self.status.is_some() {
                self.end_leftovers();
            }
        }
        self.status
    }

    /// Sends a signal to the main process, unless it has ended: its number may be that of another process then.
    pub fn signal(&mut self, signal: Signal) {
        if self.ended().is_none() {
            let _ = kill(self.pid(), signal);
        }
    }

    /// Kills the main process, unless it has ended.
    pub fn kill_main(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            self.wait();
        }
    }

    /// Kills all processes at once, unless the main one has ended. A process that it starts meanwhile would stay, wait for
    /// a lock that a killed one holds, and let its client wait for ever.
    pub fn kill_all(&mut self) {
        if self.ended().is_some() {
            return;
        }
        let children: Vec<Pid> = stopped_descendants(self.id()).into_iter().map(Pid::from_raw).collect();
        let _ = self.child.kill();
        for child in &children {
            let _ = kill(*child, Signal::SIGKILL);
        }
        self.wait();
        // They may have become dyno's, which then has to take note of their end.
        let deadline = Instant::now() + PATIENCE;
        children.into_iter().for_each(|child| reap(child, deadline));
    }

    fn wait(&mut self) {
        self.status = self.child.wait().ok();
        self.end_leftovers();
    }

    /// Ends what the main process, which has ended, left behind.
    fn end_leftovers(&self) {
        if let Some(user) = self.user {
            self.mark.end_all(user);
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::process::Stdio;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Starts a server in a folder; its child leads another session. Returns the server and the child.
    fn started(folder: &Path) -> (ServerProcess, Pid) {
        let script = "setsid sh -c 'echo $$; exec sleep 983' & exec sleep 983";
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(writer);
        let server = ServerProcess::start(command, Signal::SIGKILL, &[folder]).unwrap();
        let mut number = Vec::new();
        while number.last() != Some(&b'\n') {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            number.extend(byte);
        }
        let number = String::from_utf8(number).unwrap();
        (server, Pid::from_raw(number.trim().parse().unwrap()))
    }

    fn is_alive(process: Pid) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn what_a_server_leaves_behind_is_ended_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut beside = Command::new("sleep").arg("983").current_dir(folder.path()).spawn().unwrap();
        let (mut server, child) = started(folder.path());
        assert!(server.ended().is_none() && is_alive(child));
        kill(server.pid(), Signal::SIGKILL).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.ended().is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(server.ended().is_some() && !is_alive(child));
        assert_eq!(beside.try_wait().unwrap(), None, "a process that is no server's was ended");
        beside.kill().unwrap();
        beside.wait().unwrap();
    }

    #[test]
    fn a_server_that_is_killed_leaves_no_process() {
        let folder = tempfile::tempdir().unwrap();
        for end in [ServerProcess::kill_main, ServerProcess::kill_all] {
            let (mut server, child) = started(folder.path());
            end(&mut server);
            assert!(server.ended().is_some() && !is_alive(child));
        }
    }
}
