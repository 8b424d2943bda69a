//! Ends a private server when dyno dies without having stopped it, and an agent that is stopped for long.
//!
//! The kernel signals a server when dyno dies (`PR_SET_PDEATHSIG`), but it forgets to for programs with
//! file capabilities, it signals only the main process, and it removes no sockets. So each server has a guard: a
//! shell that waits for a line from dyno. When instead the pipe ends, dyno is dead, and the guard ends the server, with
//! what a main process that died has left behind, and removes its folders. While dyno lives it sleeps.
//!
//! The guard of an agent also looks from time to time whether the agent is stopped (SIGSTOP): its runner would work on,
//! and load the server of later trials.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;

use crate::server_mark::ServerMark;

/// The number of looks, two seconds apart, at which an agent is stopped before it is killed: dyno gives it up before that,
/// and says why.
const STOPPED_LOOKS: u32 = 5;

/// The arguments are the signal, the server, after how many looks at which it is stopped it is killed (0: there are no
/// looks), the mark of its processes with the number of its file (empty: they have none), and the folders.
///
/// The server is no child of the shell, so the shell looks whether it is there; who inherited it may be slow to take notice
/// of its end, so what is only left to be noticed (`Z`) is gone. Where dyno noticed the end of the server, its number may be
/// that of another process by now, which began at another time (field 22 of its `stat`). A server that has stopped takes no
/// signal until it goes on, and one of several processes has to end the others. A server that does not go within 10 s goes
/// by force. Then the processes that have its mark and its user are killed: no file system is asked about their files.
const SCRIPT: &str = r#"
signal=$1 server=$2 looks=$3 mark=$4 number=$5
shift 5
state() {
    read -r line <"/proc/$server/stat" || return 1
    set -- ${line##*) }
    echo "$1 ${20}"
}
born=$(state)
user_of() {
    while read -r key _ user _; do
        if [ "$key" = Uid: ]; then echo "$user"; return; fi
    done <"/proc/$1/status"
}
user=$(user_of "$server")
is_there() {
    now=$(state) || return 1
    [ "${now#Z }" = "$now" ] && [ "${now#* }" = "${born#* }" ]
}
end_marked() {
    killed=
    for process in /proc/[0-9]*; do
        process=${process#/proc/}
        [ -L "/proc/$process/fd/$number" ] && [ "$(readlink "/proc/$process/fd/$number")" = "$mark" ] &&
            [ "$(user_of "$process")" = "$user" ] && kill -s KILL "$process" && killed=yes
    done
    [ -n "$killed" ]
}
watch() {
    left=$looks
    while [ "$left" -gt 0 ] && sleep 2 && is_there; do
        if [ "${now#T }" = "$now" ]; then left=$looks; else left=$((left - 1)); fi
    done
    [ "$left" -gt 0 ] || ! is_there || kill -s KILL "$server"
}
if [ "$looks" -gt 0 ]; then watch & fi
# The looks end with the shell, which leads its group.
read -r _ && { kill -s TERM 0; exit; }
is_there && kill -s "$signal" "$server" && kill -s CONT "$server"
left=200
while is_there && [ $left -gt 0 ]; do
    sleep 0.05
    left=$((left - 1))
done
[ $left -gt 0 ] || ! is_there || kill -s KILL "$server"
left=200
while [ -n "$mark" ] && [ $left -gt 0 ] && end_marked; do
    sleep 0.05
    left=$((left - 1))
done
rm -rf -- "$@"
"#;

/// A watching shell. Dropped, it goes away and touches nothing.
#[derive(Debug)]
pub struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Watches over a server that `signal` ends, whose processes have a mark, and that leaves `folders` behind.
    ///
    /// # Errors
    /// There is no shell.
    pub(crate) fn watch(server: u32, signal: Signal, mark: &ServerMark, folders: &[&Path]) -> Result<Guard> {
        Guard::start((server, signal), 0, Some(mark), folders)
    }

    /// Watches over this process, an agent, that leaves `folder` behind: it is killed once it has been stopped for some ten
    /// seconds, and the kernel ends its runner.
    ///
    /// # Errors
    /// There is no shell.
    pub fn watch_agent(folder: &Path) -> Result<Guard> {
        Guard::start((process::id(), Signal::SIGKILL), STOPPED_LOOKS, None, &[folder])
    }

    fn start(
        (server, signal): (u32, Signal),
        looks: u32,
        mark: Option<&ServerMark>,
        folders: &[&Path],
    ) -> Result<Guard> {
        let name = signal.as_str().trim_start_matches("SIG");
        let number = mark.and_then(ServerMark::number).map(|number| number.to_string());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "dyno-guard", name]);
        command.args([server, looks].map(|number| number.to_string()));
        command.arg(mark.map(ServerMark::link_text).unwrap_or_default()).arg(number.unwrap_or_default());
        command.args(folders);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // An interrupt from the terminal is for dyno, which then releases the guard.
        command.process_group(0);
        let mut shell = command.spawn().context("cannot start the guard of a server, /bin/sh")?;
        let pipe = shell.stdin.take();
        Ok(Guard { shell, pipe })
    }

    fn release(&mut self) -> io::Result<()> {
        if let Some(mut pipe) = self.pipe.take() {
            pipe.write_all(b"done\n")?;
        }
        self.shell.wait().map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A guard that was killed from outside cannot be released, and need not be.
        let _ = self.release();
    }
}
