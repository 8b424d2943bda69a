//! Ends a private server when dyno dies without having stopped it.
//!
//! The kernel signals a server when dyno dies (`PR_SET_PDEATHSIG`), but it forgets to for programs with
//! capabilities of their own, and it removes no sockets. So each server has a guard: a shell that
//! waits for a line from dyno. When instead the pipe ends, dyno is dead, and the guard ends the server and
//! removes its folders. While dyno lives it sleeps.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;

/// The arguments are the signal, the server and the folders. The server is no child of the shell, so
/// the shell looks whether it is there; who inherited it may be slow to take notice of its end, so what is
/// only left to be noticed (`Z`) is gone. Where dyno noticed the end of the server, its number may be that of another
/// process by now, which began at another time (field 22 of its `stat`). A server that has stopped takes no signal until it goes
/// on, and one of several processes has to end the others. A server that does not go within 10 s goes by force.
const SCRIPT: &str = r#"
signal=$1 server=$2
shift 2
state() {
    read -r line <"/proc/$server/stat" || return 1
    set -- ${line##*) }
    echo "$1 ${20}"
}
born=$(state)
read -r _ && exit
is_there() {
    now=$(state) || return 1
    [ "${now#Z }" = "$now" ] && [ "${now#* }" = "${born#* }" ]
}
is_there && kill -s "$signal" "$server" && kill -s CONT "$server"
left=200
while is_there && [ $left -gt 0 ]; do
    sleep 0.05
    left=$((left - 1))
done
[ $left -gt 0 ] || ! is_there || kill -s KILL "$server"
rm -rf -- "$@"
"#;

/// A watching shell. Dropped, it goes away and touches nothing.
#[derive(Debug)]
pub struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Watches over a server that `signal` ends and that leaves `folders` behind.
    pub fn watch(server: u32, signal: Signal, folders: &[&Path]) -> Result<Guard> {
        let name = signal.as_str().trim_start_matches("SIG");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "dyno-guard", name]).arg(server.to_string()).args(folders);
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
