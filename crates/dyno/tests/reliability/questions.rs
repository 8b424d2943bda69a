//! The five questions that every try has to answer.
//!
//! 1. Is every finished trial in the file? 2. Is every process, mount, shared-memory segment and folder gone?
//! 3. Did it end within a minute of the first signal? 4. Was there no panic? 5. Is no secret to be seen?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::events::Ended;
use super::family::{Known, MARK, Watch, segment_creators};
use super::proxy::Proxy;
use super::servers::Server;
use super::tries::{Event, Program, Try};
use crate::common::{Place, heed_signals};

/// A password and a key that are nowhere else.
pub const SECRETS: [&str; 2] =
    ["Sesame-0pen!", "5e5a3e09e25e5a3e09e25e5a3e09e25e5a3e09e25e5a3e09e25e5a3e09e2abcd"];
/// The time that the processes of a command may take to notice that it has ended.
const TO_NOTICE: Duration = Duration::from_secs(20);

/// Answers that fall short, in words.
type Falls = Vec<String>;

impl Try {
    /// Makes the try and answers the questions. None where it has not happened: the command was over before, or this is
    /// not root.
    pub fn judge(&self, servers: &[Server]) -> Option<Falls> {
        let place = Place::new();
        let data = place.path("data");
        let _disk = match self.event {
            Event::Small(megabytes) => Some(Disk::mount(&data, megabytes)?),
            _ => None,
        };
        let (server, url) = self.server(servers).unzip();
        let before = server.map(|server| server.databases());
        let mark = format!("{}-{}", std::process::id(), self.seed);
        let watch = Watch::start(&mark, &data);
        let mut command = self.command(&place, &mark);
        command.args(url.as_ref().map(|(_, url)| url));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        let ended = self.happen(child, servers, &watch, &place.path("run.jsonl"));
        let mut falls = self.of_the_end(&ended);
        falls.extend(of_the_file(&place, ended.kept));
        falls.extend(of_processes(&watch));
        let known = watch.end();
        falls.extend(of_secrets(&place, &ended, &known));
        if matches!(self.event, Event::Dyno(Signal::SIGKILL, _)) {
            falls.extend(of_the_next(&place));
        }
        falls.extend(of_places(&data, &known, id));
        if let (Some(server), Some(before)) = (server, before) {
            falls.extend(of_databases(server, &before, &ended));
        }
        ended.happened.then_some(falls)
    }

    fn command(&self, place: &Place, mark: &str) -> Command {
        let rows: String = (0..200_000).map(|row| format!("{row},{}\n", row % 97)).collect();
        place.write("rows.csv", &format!("a,b\n{rows}"));
        let mut command = place.command();
        match &self.program {
            Program::Dyno(arguments) => {
                command.args(arguments.split_whitespace());
            }
            Program::Script(script) => {
                command = Command::new("sh");
                heed_signals(&mut command);
                command.args(["-c", script]).current_dir(place.path(".")).env("TMPDIR", place.path("data"));
            }
        }
        let [password, key] = SECRETS;
        command.env(MARK, mark).env("PGPASSWORD", password).env("MYSQL_PWD", password).env("DYNO_KEY", key);
        command
    }

    /// The server that the command works on, and the way to it.
    fn server<'a>(&self, servers: &'a [Server]) -> Option<(&'a Server, (Option<Proxy>, String))> {
        let (place, fault) = match self.event {
            Event::Way(fault, place) => (place, Some(fault)),
            Event::Restart(place, _) => (place, None),
            _ => return None,
        };
        let server = &servers[place];
        let (host, port, user) = server.reach();
        let proxy = fault.map(|fault| Proxy::start(Path::new(&server.socket()), fault));
        let url = match (&proxy, server.scheme) {
            (Some(proxy), scheme) => format!("{scheme}://{user}@127.0.0.1:{}/", proxy.port),
            (None, "postgres") => format!("postgres://{user}@/postgres?host={host}&port={port}"),
            (None, scheme) => format!("{scheme}://{user}@/?socket={host}"),
        };
        Some((server, (proxy, url)))
    }

    fn of_the_end(&self, ended: &Ended) -> Falls {
        let said = ended.said();
        let mut falls = Falls::new();
        falls.ask(ended.took <= self.to_end, || format!("it ended {:?} after the first signal", ended.took));
        falls.ask(ended.result.code != Some(101), || "exit code 101".to_owned());
        falls.ask(!ended.result.stderr.contains("Usage:"), || ended.result.stderr.clone());
        falls.ask(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), || said.clone());
        falls
    }
}

impl Ended {
    /// All that the command printed.
    fn said(&self) -> String {
        format!("{}{}", self.result.stdout, self.result.stderr)
    }
}

trait Ask {
    fn ask(&mut self, holds: bool, what: impl FnOnce() -> String);
}

impl Ask for Falls {
    fn ask(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.push(what());
        }
    }
}

/// The whole trials of a run file; 0 where there is no whole file.
pub fn trials(file: &Path) -> usize {
    dyno_record::load(file).map_or(0, |run| run.trials.len())
}

fn of_the_file(place: &Place, kept: usize) -> Falls {
    let mut falls = Falls::new();
    let after = trials(&place.path("run.jsonl"));
    falls.ask(after >= kept, || format!("{kept} trials were in the file, and {after} are"));
    if after > 0 {
        let shown = place.dyno("show run.jsonl");
        falls.ask(matches!(shown.code, Some(0 | 3)), || format!("show: {}", shown.stderr));
    }
    falls
}

/// Servers and runners that lost dyno have a moment to end.
fn of_processes(watch: &Watch) -> Falls {
    let until = Instant::now() + TO_NOTICE;
    while !watch.alive().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let left = watch.alive();
    for process in &left {
        let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
    }
    let mut falls = Falls::new();
    falls.ask(left.is_empty(), || format!("processes are left: {left:?}"));
    falls
}

fn of_secrets(place: &Place, ended: &Ended, known: &Known) -> Falls {
    let record = fs::read_to_string(place.path("run.jsonl")).unwrap_or_default();
    let said = ended.said();
    let mut falls = Falls::new();
    for secret in SECRETS {
        falls.ask(!said.contains(secret), || "a secret was printed".to_owned());
        falls.ask(!record.contains(secret), || "a secret is in the run file".to_owned());
        let is_named = known.lines.values().any(|line| line.contains(secret));
        falls.ask(!is_named, || "a secret is in a command line".to_owned());
    }
    falls
}

/// Removes with the next program whatever a killed one left.
fn of_the_next(place: &Place) -> Falls {
    let next = "run speedtest --scale 0.02 --trials 1 --no-warm-up --only 15 --with sqlite:memory --quiet -o next.jsonl";
    let mut falls = Falls::new();
    falls.ask(place.dyno(next).code == Some(0), || "the next run failed".to_owned());
    falls
}

fn of_places(data: &Path, known: &Known, dyno: u32) -> Falls {
    let mut falls = Falls::new();
    let left: Vec<PathBuf> = fs::read_dir(data).unwrap().flatten().map(|entry| entry.path()).collect();
    falls.ask(left.is_empty(), || format!("left behind: {left:?}"));
    let creators = segment_creators();
    let segments = known.lines.keys().any(|process| *process != dyno && creators.contains(process));
    falls.ask(!segments, || "a System V segment is left".to_owned());
    let memory: Vec<&PathBuf> = known.memory.iter().filter(|file| file.exists()).collect();
    falls.ask(memory.is_empty(), || format!("shared memory is left: {memory:?}"));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    falls.ask(!mounts.contains(&format!("{}/", data.display())), || "a mount is left".to_owned());
    falls
}

/// A database that is cut off for good cannot be removed, and dyno says so.
fn of_databases(server: &Server, before: &str, ended: &Ended) -> Falls {
    let mut falls = Falls::new();
    let (now, said) = (server.databases(), ended.said());
    let is_said = said.contains("dyno_scratch_") || said.contains("dyno_import_");
    falls.ask(now == before || is_said, || format!("databases: {before} then {now}, said: {said}"));
    server.clear();
    falls
}

/// A small file system in memory.
struct Disk(PathBuf);

impl Disk {
    /// None where this is not root.
    fn mount(folder: &Path, megabytes: u64) -> Option<Disk> {
        let size = format!("size={megabytes}m");
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).status();
        status.is_ok_and(|status| status.success()).then(|| Disk(folder.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(&self.0).status();
        let is_gone = status.is_ok_and(|status| status.success());
        assert!(is_gone || std::thread::panicking(), "the disk is busy");
    }
}
