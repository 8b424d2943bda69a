//! The servers that tries reach by a URL.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{processes_with, wait_for};
use crate::engines::Running;

/// A server that is there for all tries.
pub struct Server {
    pub scheme: &'static str,
    pub running: Running,
    /// The program in its place, once it was restarted.
    again: Mutex<Option<Child>>,
}

impl Server {
    /// Starts one.
    pub fn start(scheme: &'static str) -> Server {
        Server { scheme, running: Running::start(scheme), again: Mutex::new(None) }
    }

    /// Its socket.
    pub fn socket(&self) -> String {
        let (host, port, _) = self.running.reach();
        if self.scheme == "postgres" { format!("{host}/.s.PGSQL.{port}") } else { host }
    }

    /// Kills it, all of its processes at once, and starts the same program in the same way. Waits until it answers.
    pub fn restart(&self) {
        let folder = Path::new(&self.running.reach().0).to_owned();
        let folder = if self.scheme == "postgres" { folder } else { folder.parent().unwrap().to_owned() };
        let family = processes_with(&folder.display().to_string());
        let main = *family.iter().find(|process| !family.contains(&parent(**process))).unwrap();
        let mut command = same(main);
        let processes: Vec<u32> = children(main).into_iter().chain([main]).collect();
        for process in &processes {
            let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
        }
        let mut again = self.again.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut before) = again.take() {
            before.wait().unwrap();
        }
        // Only then is its shared memory free for the next.
        wait_for("the server's end", 20, || processes.iter().all(|process| is_over(*process)));
        *again = Some(command.spawn().unwrap());
        wait_for("the restarted server", 60, || {
            if again.as_mut().is_some_and(|server| server.try_wait().unwrap().is_some()) {
                *again = Some(command.spawn().unwrap());
            }
            self.running.try_execute("SELECT 1").is_some()
        });
    }

    /// Removes the databases that tries had to leave.
    pub fn clear(&self) {
        for name in self.running.databases().lines().filter(|name| name.starts_with("dyno_")) {
            let drop = match self.scheme {
                "postgres" => format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
                _ => format!("DROP DATABASE IF EXISTS `{name}`"),
            };
            self.running.execute(&drop);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut again) = self.again.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = kill(Pid::from_raw(again.id().cast_signed()), Signal::SIGQUIT);
            let _ = again.wait();
        }
    }
}

/// The command that started a process: its program, arguments, folder, environment and account.
fn same(process: u32) -> Command {
    let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap();
    let words = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let arguments = words(read("cmdline"));
    let mut command = Command::new(fs::read_link(format!("/proc/{process}/exe")).unwrap());
    command.args(&arguments[1..]).current_dir(fs::read_link(format!("/proc/{process}/cwd")).unwrap());
    command.env_clear().envs(words(read("environ")).iter().filter_map(|entry| entry.split_once('=')));
    let status = String::from_utf8(read("status")).unwrap();
    let id = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u32>().unwrap()
    };
    command.uid(id("Uid:")).gid(id("Gid:"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn parent(process: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn children(process: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Whether a process has ended, though its parent may not have asked for its status yet.
fn is_over(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, after)| after.trim_start().starts_with('Z'))
}
