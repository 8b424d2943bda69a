//! One try: a command, something that happens to it at a moment drawn from a seed, and five questions.
//!
//! 1. Is every finished trial in the file? 2. Is every process, mount, shared-memory segment and folder gone?
//! 3. Did it end within a minute of the first signal? 4. Was there no panic? 5. Is no secret to be seen?

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::family::{MARK, Watch, segment_creators};
use super::proxy::{Fault, Proxy};
use crate::common::{Place, Result};
use crate::engines::Running;

/// How long a command may take to end after its first signal.
const TO_END: Duration = Duration::from_secs(60);
/// How long a command runs before it gets one in any case.
const TO_RUN: Duration = Duration::from_secs(10);
/// A word that is nowhere else.
pub const PASSWORD: &str = "Sesame-0pen!";

/// A server that is there for all tries.
pub struct Server {
    pub scheme: &'static str,
    pub running: Running,
}

/// What is tried.
#[derive(Debug, Clone)]
pub struct Try {
    pub seed: u64,
    arguments: String,
    event: Event,
}

/// What happens.
#[derive(Debug, Clone)]
enum Event {
    /// A signal to dyno after milliseconds.
    Dyno(Signal, u64),
    /// Dyno stands still for a second.
    Pause(u64),
    /// A signal to one of the processes that dyno has started.
    Other(Signal, u64),
    /// One of these stands still for a second.
    PauseOther(u64),
    /// The folder of the databases is a file system of megabytes.
    Small(u64),
    /// The way to a server at a URL, by its place.
    Way(Fault, usize),
}

const MIXES: [&str; 5] = [
    "bank --only transfer --set accounts=50 --clients 32 --with sqlite:wal,postgres",
    "app --set users=50 --clients 4 --rate 100 --sessions 3 --with sqlite:wal,mariadb",
    "orders --set scale=0.01 --set warehouses=1 --clients 4 --with sqlite:wal,postgres",
    "ycsb --set records=300 --clients 4 --processes --with lmdb,sqlite:wal",
    "bank --only transfer --set accounts=50 --clients 4 --sustain p90<=400ms --with sqlite:wal,mariadb",
];
const SMALL: &str = "--set warm_up=0.1 --duration 0.3s --trials 2 --quiet -o run.jsonl";

impl Try {
    /// The one of a seed.
    pub fn draw(seed: u64, servers: &[Server]) -> Try {
        let mut random = fastrand::Rng::with_seed(seed);
        let mix = |random: &mut fastrand::Rng| format!("run {} {SMALL}", random.choice(MIXES).unwrap());
        let whole = |random: &mut fastrand::Rng| match random.u8(0..8) {
            0 => "prove --with sqlite:wal --commits 20 --cuts 20 --kills 3 --no-errors".to_owned(),
            1 => "import rows.csv --header --into new.db --table t --index a".to_owned(),
            _ => mix(random),
        };
        let signals = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
        let kind = random.u8(0..10);
        let arguments = if matches!(kind, 4..7) { mix(&mut random) } else { whole(&mut random) };
        // An import is over in a moment.
        let longest = if arguments.starts_with("import") { 400 } else { 9000 };
        let millis = random.u64(10..longest);
        let (arguments, event) = match kind {
            0..3 => (arguments, Event::Dyno(*random.choice(&signals).unwrap(), millis)),
            3 => (arguments, Event::Pause(millis)),
            4..6 => (arguments, Event::Other(*random.choice(&signals).unwrap(), millis)),
            6 => (arguments, Event::PauseOther(millis)),
            7 => (arguments, Event::Small(random.u64(2..48))),
            _ => {
                let fault = match random.u8(0..6) {
                    0 => Fault::Refuse(random.usize(0..12)),
                    1 => Fault::Cut(random.usize(1..40_000)),
                    2 => Fault::Garbage(random.usize(1..40_000)),
                    3 => Fault::Stall(random.usize(1..40_000)),
                    4 => Fault::Slow(random.u64(1..40)),
                    _ => Fault::None,
                };
                let work = ["bank --set accounts=50 --clients 4", "speedtest --scale 0.02", "import"];
                let arguments = match *random.choice(&work).unwrap() {
                    "import" => "import rows.csv --header --table t --into".to_owned(),
                    "speedtest --scale 0.02" => {
                        "run speedtest --scale 0.02 --trials 1 --quiet -o run.jsonl --url".to_owned()
                    }
                    bank => format!("run {bank} {SMALL} --url"),
                };
                (arguments, Event::Way(fault, random.usize(0..servers.len())))
            }
        };
        Try { seed, arguments, event }
    }

    /// The row of the table that it belongs to.
    pub fn kind(&self) -> String {
        let what = match self.event {
            Event::Dyno(signal, _) => format!("{signal} to dyno"),
            Event::Pause(_) => "dyno stands still".to_owned(),
            Event::Other(signal, _) => format!("{signal} to one of its processes"),
            Event::PauseOther(_) => "one of its processes stands still".to_owned(),
            Event::Small(_) => "the disk fills".to_owned(),
            Event::Way(fault, _) => {
                format!(
                    "the way to a server: {}",
                    format!("{fault:?}").split('(').next().unwrap().to_lowercase()
                )
            }
        };
        let work = self.arguments.split_whitespace().take_while(|word| !word.starts_with('-'));
        format!("{what} | {}", work.take(2).filter(|word| *word != "rows.csv").collect::<Vec<_>>().join(" "))
    }

    /// Makes the try and answers the questions. None where it has not happened: the command was over before, or this is
    /// not root.
    pub fn judge(&self, servers: &[Server]) -> Option<Vec<String>> {
        let place = Place::new();
        let rows: String = (0..200_000).map(|row| format!("{row},{}\n", row % 97)).collect();
        place.write("rows.csv", &format!("a,b\n{rows}"));
        let mark = format!("{}-{}", std::process::id(), self.seed);
        let data = place.path("data");
        let small = matches!(self.event, Event::Small(_));
        if let Event::Small(megabytes) = self.event {
            let size = format!("size={megabytes}m");
            let mounted =
                Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&data).status();
            if !mounted.is_ok_and(|status| status.success()) {
                return None;
            }
        }
        let mut command = place.command();
        command.args(self.arguments.split_whitespace()).env(MARK, &mark);
        command.env("PGPASSWORD", PASSWORD).env("MYSQL_PWD", PASSWORD);
        let proxy = self.way(servers);
        if let Some((_, url)) = &proxy {
            command.arg(url);
        }
        let before = proxy.as_ref().map(|(server, _)| server.running.databases());
        let watch = Watch::start(&mark, &data);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        let (result, took, kept, happened) = self.happen(child, &watch, &place.path("run.jsonl"));
        let mut fell = Vec::new();
        let mut ask = |holds: bool, what: String| {
            if !holds {
                fell.push(what)
            }
        };
        ask(took <= TO_END, format!("it ended {took:?} after the first signal"));
        ask(result.code != Some(101), "exit code 101".to_owned());
        ask(!result.stderr.contains("Usage:"), result.stderr.clone());
        let said = format!("{}{}", result.stdout, result.stderr);
        ask(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), said.clone());
        let record = fs::read_to_string(place.path("run.jsonl")).unwrap_or_default();
        ask(!said.contains(PASSWORD) && !record.contains(PASSWORD), "a password was written".to_owned());
        let after = trials(&place.path("run.jsonl"));
        ask(after >= kept, format!("{kept} trials were in the file, and {after} are"));
        if after > 0 {
            let shown = place.dyno("show run.jsonl");
            ask(matches!(shown.code, Some(0 | 3)), format!("show: {}", shown.stderr));
        }
        gone(&watch, &mut ask);
        let known = watch.end();
        ask(
            !known.lines.values().any(|line| line.contains(PASSWORD)),
            "a password is in a command line".to_owned(),
        );
        let was_killed = matches!(self.event, Event::Dyno(Signal::SIGKILL, _));
        if was_killed {
            // What a killed program leaves, the next one removes.
            let next = "run speedtest --scale 0.02 --trials 1 --no-warm-up --only 15 --with sqlite:memory --quiet -o next.jsonl";
            ask(place.dyno(next).code == Some(0), "the next run failed".to_owned());
        }
        let left: Vec<_> = fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path()).collect();
        ask(left.is_empty(), format!("left behind: {left:?}"));
        let creators = segment_creators();
        let segments = known.lines.keys().any(|process| *process != id && creators.contains(process));
        ask(!segments, "a System V segment is left".to_owned());
        ask(
            !known.memory.iter().any(|file| file.exists()),
            format!("shared memory is left: {:?}", known.memory),
        );
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let inside = format!("{}/", data.display());
        ask(!mounts.contains(&inside), "a mount is left".to_owned());
        if let (Some((server, _)), Some(before)) = (&proxy, before) {
            let now = server.running.databases();
            // What is cut off for good cannot be removed, and dyno says so.
            let is_said = said.contains("dyno_scratch_");
            ask(now == before || is_said, format!("databases: {before} then {now}, said: {said}"));
            server.clear();
        }
        if small {
            ask(Command::new("umount").arg(&data).status().unwrap().success(), "the disk is busy".to_owned());
        }
        happened.then_some(fell)
    }

    fn way<'a>(&self, servers: &'a [Server]) -> Option<(&'a Server, String)> {
        let Event::Way(fault, place) = self.event else { return None };
        let server = &servers[place];
        let (host, port, user) = server.running.reach();
        let socket = if server.scheme == "postgres" { format!("{host}/.s.PGSQL.{port}") } else { host };
        let proxy = Proxy::start(Path::new(&socket), fault);
        Some((server, format!("{}://{user}@127.0.0.1:{}/", server.scheme, proxy.port)))
    }

    /// Lets it happen and waits for the end: what the command came to, how long after the first signal, how many
    /// trials were in the file before, and whether there was something for it to happen to.
    fn happen(&self, child: Child, watch: &Watch, file: &Path) -> (Result, Duration, usize, bool) {
        let id = child.id();
        let began = Instant::now();
        let waiter = std::thread::spawn(move || Result::from(child.wait_with_output().unwrap()));
        let is_over = || waiter.is_finished();
        let sleep = |milliseconds: u64| {
            let until = Instant::now() + Duration::from_millis(milliseconds);
            while Instant::now() < until && !is_over() {
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        let send = |process: u32, signal| {
            let _ = kill(Pid::from_raw(process.cast_signed()), signal);
        };
        let mut first = None;
        let (mut kept, mut happened) = (0, true);
        match self.event {
            Event::Dyno(signal, after) => {
                sleep(after);
                kept = trials(file);
                first = Some(Instant::now());
                happened = !is_over();
                if happened {
                    send(id, signal);
                }
            }
            Event::Pause(after) => {
                sleep(after);
                happened = !is_over();
                if happened {
                    send(id, Signal::SIGSTOP);
                    std::thread::sleep(Duration::from_secs(1));
                    send(id, Signal::SIGCONT);
                }
            }
            Event::Other(signal, after) => {
                sleep(after);
                kept = trials(file);
                let victim = self.victim(id, watch);
                happened = victim.is_some();
                victim.into_iter().for_each(|victim| send(victim, signal));
            }
            Event::PauseOther(after) => {
                sleep(after);
                let victim = self.victim(id, watch);
                happened = victim.is_some();
                if let Some(victim) = victim {
                    send(victim, Signal::SIGSTOP);
                    std::thread::sleep(Duration::from_secs(1));
                    send(victim, Signal::SIGCONT);
                }
            }
            Event::Small(_) | Event::Way(..) => {}
        }
        while !is_over() {
            match first {
                None if began.elapsed() > TO_RUN => {
                    kept = kept.max(trials(file));
                    first = Some(Instant::now());
                    send(id, Signal::SIGINT);
                }
                Some(first) if first.elapsed() > TO_END + Duration::from_secs(5) => send(id, Signal::SIGKILL),
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let took = first.map_or(Duration::ZERO, |first| first.elapsed());
        (waiter.join().unwrap(), took, kept, happened)
    }

    /// One of the processes but dyno itself.
    fn victim(&self, dyno: u32, watch: &Watch) -> Option<u32> {
        let others: Vec<u32> = watch.alive().into_iter().filter(|process| *process != dyno).collect();
        fastrand::Rng::with_seed(self.seed).choice(others)
    }
}

impl Server {
    /// Removes the databases that tries had to leave.
    fn clear(&self) {
        for name in self.running.databases().lines().filter(|name| name.starts_with("dyno_")) {
            let drop = match self.scheme {
                "postgres" => format!("DROP DATABASE IF EXISTS \"{name}\" WITH (FORCE)"),
                _ => format!("DROP DATABASE IF EXISTS `{name}`"),
            };
            self.running.execute(&drop);
        }
    }
}

/// The whole trials of a run file; none where there is no whole file.
fn trials(file: &Path) -> usize {
    dyno_record::load(file).map_or(0, |run| run.trials.len())
}

/// Servers and runners that lost dyno have a moment to end.
fn gone(watch: &Watch, ask: &mut impl FnMut(bool, String)) {
    let until = Instant::now() + Duration::from_secs(20);
    while !watch.alive().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let left = watch.alive();
    ask(left.is_empty(), format!("processes are left: {left:?}"));
    for process in left {
        let _ = kill(Pid::from_raw(process.cast_signed()), Signal::SIGKILL);
    }
}
