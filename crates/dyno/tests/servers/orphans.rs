//! Processes that outlive the main one of their server, which was killed from outside: dyno ends them all the same.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dyno_launch::user_of;
use dyno_protocol::Build;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::holder::{Held, Holder};
use super::{Choice, descendants, is_alive, servers};
use crate::common::server::{self, open_folder};
use crate::common::wait_for;

const POSTGRES: Choice = ("postgres", "system");
/// Work without an end: a process of PostgreSQL that waits for something sees that the main one is gone, and ends.
const ENDLESS: &str = "DO $$ BEGIN LOOP END LOOP; END $$";
/// The name of a process that does it, which PostgreSQL writes over its command line.
const TITLE: &str = "[local] DO";

/// A client, and the process of the server that works for it.
struct Busy {
    client: Child,
    backend: u32,
}

impl Busy {
    /// Has a server work that has its socket in a folder.
    fn start(folder: &Path, main: u32) -> Busy {
        let mut command = Command::new("psql");
        command.args(["-U", "postgres", "-p", "5432", "-d", "postgres", "-qAtc", ENDLESS, "-h"]).arg(folder);
        let client =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let find = || descendants(main).into_iter().find(|process| is_busy(*process));
        wait_for("the server to work", 60, || find().is_some());
        Busy { client, backend: find().unwrap() }
    }

    fn is_alive(&self) -> bool {
        is_alive(self.backend) && is_busy(self.backend)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
        if self.is_alive() {
            let _ = kill(Pid::from_raw(self.backend.cast_signed()), Signal::SIGKILL);
        }
    }
}

fn command_line(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}

fn is_busy(process: u32) -> bool {
    command_line(process).contains(TITLE)
}

/// Kills a main process. Its parent has not waited for it yet.
fn kill_main(process: u32) {
    kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL).unwrap();
    wait_for("the main process to end", 60, || !is_alive(process));
}

/// True if dyno sees what processes of a server's user have open, and with it the mark of the server: root without
/// CAP_SYS_PTRACE does not.
fn shows_marks(server: u32) -> bool {
    let user = user_of(Pid::from_raw(server.cast_signed())).unwrap();
    let mut probe = Command::new("sleep").arg("300").stdin(Stdio::null()).uid(user).spawn().unwrap();
    let seen = fs::read_link(format!("/proc/{}/fd/0", probe.id()));
    probe.kill().unwrap();
    probe.wait().unwrap();
    if let Err(error) = &seen {
        eprintln!("SKIPPED: the files that processes of the user {user} have open cannot be seen: {error}");
    }
    seen.is_ok()
}

/// A server that works, of a process that holds it, if there is PostgreSQL here and its mark can be seen.
fn held(place: &Path, cache: &Path) -> Option<(Holder, Held, Busy)> {
    servers().into_iter().find(|choice| *choice == POSTGRES)?;
    let mut holder = Holder::start(POSTGRES, place, cache, "", None);
    let held = holder.next().unwrap();
    if !shows_marks(held.process) {
        holder.release();
        return None;
    }
    let busy = Busy::start(held.socket.parent().unwrap(), held.process);
    Some((holder, held, busy))
}

/// A run of a dyno with the same folder for databases and the same cache.
fn run_next(place: &Path, cache: &Path) {
    let run = ["run", "speedtest", "--scale", "0.02", "--only", "15", "--trials", "1", "--quiet"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(run).args(["-o", "run.jsonl"]).current_dir(cache);
    let output = command.env("TMPDIR", place).env("XDG_CACHE_HOME", cache).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_a_dead_main_process_left_behind_ends_with_the_server_and_nothing_beside_it() {
    let Some(started) = server::start("postgres", &Build::System, &[]) else { return };
    if !shows_marks(started.server.process()) {
        return;
    }
    let folder = started.server.connection("unused").server.host;
    let busy = Busy::start(Path::new(&folder), started.server.process());
    let mut beside = Command::new("sleep").arg("300").current_dir(started.server.folder()).spawn().unwrap();
    kill_main(started.server.process());
    assert!(busy.is_alive(), "it ended unprompted, and shows nothing");
    drop(started);
    let (is_left, beside_ended) = (busy.is_alive(), beside.try_wait().unwrap());
    beside.kill().unwrap();
    beside.wait().unwrap();
    assert!(!is_left, "a process of the server still runs");
    assert_eq!(beside_ended, None, "a process that is no server's was ended");
}

#[test]
fn what_a_dead_main_process_left_behind_does_not_outlive_a_killed_dyno() {
    let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
    let Some((holder, held, busy)) = held(place.path(), cache.path()) else { return };
    kill_main(held.process);
    assert!(busy.is_alive(), "it ended unprompted, and shows nothing");
    holder.kill();
    wait_for("the process of the server to end", 60, || !busy.is_alive());
    wait_for("the server's folder to be gone", 60, || !held.socket.parent().unwrap().exists());
    run_next(place.path(), cache.path());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn what_a_dead_server_left_behind_is_ended_by_the_next_run_where_the_guard_was_killed_too() {
    let (place, cache) = (open_folder(), tempfile::tempdir().unwrap());
    let Some((holder, held, busy)) = held(place.path(), cache.path()) else { return };
    // The guard goes first: it would do something about the death of the others.
    let family = dyno_launch::descendants(holder.child.id()).into_iter();
    for guard in family.filter(|process| command_line(process.cast_unsigned()).contains("dyno-guard")) {
        kill(Pid::from_raw(guard), Signal::SIGKILL).unwrap();
    }
    kill_main(held.process);
    holder.kill();
    assert!(busy.is_alive(), "it ended unprompted, and shows nothing");
    run_next(place.path(), cache.path());
    assert!(!busy.is_alive());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
