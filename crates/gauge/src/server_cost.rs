//! The kernel's counters of a server's processes, read just outside the clock.
//!
//! A server is its main process and all that descend from it: PostgreSQL starts one for each connection
//! and more for a parallel query. A cluster has several main processes. The tree is looked up anew at each reading. A process that ends within
//! the test leaves its CPU time and its device bytes to the parent that waits for it, so the sum over the
//! tree never falls. What may not be looked at reads as zero. Times are nanoseconds, sizes are bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use dyno_protocol::Cost;
use nix::time::ClockId;
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::counters::{field, wait};

mod events;

pub use events::ServerEvents;

/// A server to be read.
#[derive(Debug)]
pub struct Server {
    mains: Vec<u32>,
    /// The duration of one tick of `/proc/PID/stat`.
    tick_ns: u64,
}

/// The processes of a server, by their numbers.
#[derive(Debug)]
pub struct Processes(Vec<u32>);

/// The counters of all its processes at one moment.
#[derive(Debug, Default)]
pub struct Reading {
    cpu_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    read_bytes: u64,
    written_bytes: u64,
    /// The wait of each thread: a thread that ends takes its figure with it.
    waits: BTreeMap<u32, u64>,
}

/// Fields of `/proc/PID/stat` of one process: CPU times in ticks, those with `ended_` of its children that have ended.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stat {
    parent: u32,
    user: u64,
    system: u64,
    ended_user: u64,
    ended_system: u64,
    /// Page faults of the process and of its children that have ended.
    faults: u64,
}

impl Server {
    /// The server of these main processes.
    pub fn new(mains: &[u32]) -> Server {
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
        Server { mains: mains.to_owned(), tick_ns: 1_000_000_000 / ticks.unwrap_or(100).max(1) }
    }

    /// Adds the main process of a further node.
    pub fn add_node(&mut self, main: u32) {
        self.mains.push(main);
    }

    /// Finds its processes, which requires a look at every process of the machine. `None` if a main process is not there.
    pub fn prepare(&self) -> Option<Processes> {
        let tree = self.tree(&all())?;
        for &process in &tree {
            // Without this permission, the peak is that of the process's whole life.
            let _ = fs::write(path(process, "clear_refs"), "5");
        }
        Some(Processes(tree))
    }

    /// Reads before the clock starts. A process that has started since costs what it costs from its beginning on.
    pub fn before(&self, processes: &Processes) -> Reading {
        self.read(&processes.0)
    }

    /// The cost since a reading. `None` if a main process has ended.
    pub fn since(&self, before: &Reading) -> Option<Cost> {
        let tree = self.tree(&all())?;
        let after = self.read(&tree);
        let (user_ns, system_ns) = self.split(before, &after);
        let waits = after
            .waits
            .iter()
            .map(|(thread, wait)| wait.saturating_sub(before.waits.get(thread).copied().unwrap_or_default()));
        Some(Cost {
            user_ns,
            system_ns,
            wait_ns: waits.sum(),
            device_read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
            device_written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
            peak_memory_bytes: tree.iter().map(|&process| peak(process)).max().unwrap_or(0),
        })
    }

    /// Its processes among all of the machine. `None` if a main process is not among them.
    fn tree(&self, stats: &BTreeMap<u32, Stat>) -> Option<Vec<u32>> {
        let is_there = !self.mains.is_empty() && self.mains.iter().all(|main| stats.contains_key(main));
        is_there.then(|| tree(&self.mains, stats))
    }

    /// The CPU time is known to the nanosecond, but its two kinds to the tick only: so the former is
    /// divided as the latter are.
    fn split(&self, before: &Reading, after: &Reading) -> (u64, u64) {
        let cpu = after.cpu_ns.saturating_sub(before.cpu_ns);
        let user = after.user_ticks.saturating_sub(before.user_ticks);
        let system = after.system_ticks.saturating_sub(before.system_ticks);
        let share = if user + system == 0 { 1.0 } else { user as f64 / (user + system) as f64 };
        let user_ns = ((cpu as f64 * share) as u64).min(cpu);
        (user_ns, cpu - user_ns)
    }

    /// Reads the CPU time of all of them first: it takes least time, and where many clients are at work already the rest may
    /// take a second.
    fn read(&self, processes: &[u32]) -> Reading {
        let mut reading = Reading::default();
        let clocks: Vec<Option<u64>> = processes.iter().map(|&process| cpu_clock(process)).collect();
        for (&process, own) in processes.iter().zip(clocks) {
            self.add(process, own, &mut reading);
        }
        reading
    }

    fn add(&self, process: u32, own: Option<u64>, reading: &mut Reading) {
        // One that has ended has left its time to its parent.
        let stat = fs::read_to_string(path(process, "stat")).ok().and_then(|text| parse(&text));
        let Some(stat) = stat else { return };
        let ended = stat.ended_user + stat.ended_system;
        let own = own.unwrap_or((stat.user + stat.system) * self.tick_ns);
        reading.cpu_ns += own + ended * self.tick_ns;
        reading.user_ticks += stat.user + stat.ended_user;
        reading.system_ticks += stat.system + stat.ended_system;
        let io = fs::read_to_string(path(process, "io")).unwrap_or_default();
        reading.read_bytes += field(&io, "read_bytes:").unwrap_or(0);
        reading.written_bytes += field(&io, "write_bytes:").unwrap_or(0);
        for thread in numbers(path(process, "task")) {
            let schedstat = path(process, &format!("task/{thread}/schedstat"));
            let wait = fs::read_to_string(schedstat).ok().and_then(|text| wait(&text));
            reading.waits.insert(thread, wait.unwrap_or(0));
        }
    }
}

fn path(process: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{process}/{file}"))
}

/// The entries of a folder whose names are numbers.
fn numbers(folder: impl Into<PathBuf>) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder.into()).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every process of the machine.
fn all() -> BTreeMap<u32, Stat> {
    let stat = |process| Some((process, parse(&fs::read_to_string(path(process, "stat")).ok()?)?));
    numbers("/proc").filter_map(stat).collect()
}

/// Processes and their descendants.
fn tree(mains: &[u32], stats: &BTreeMap<u32, Stat>) -> Vec<u32> {
    let mut found = mains.to_owned();
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(stats.iter().filter(|(_, stat)| stat.parent == parent).map(|(process, _)| *process));
        next += 1;
    }
    found
}

/// Reads `pid (name) state ppid …`; the name may hold spaces and parentheses.
fn parse(stat: &str) -> Option<Stat> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        user: number(11)?,
        system: number(12)?,
        ended_user: number(13)?,
        ended_system: number(14)?,
        faults: (7..=10).filter_map(number).sum(),
    })
}

/// The CPU time of all threads of a process, ended ones included.
fn cpu_clock(process: u32) -> Option<u64> {
    let process = Pid::from_raw(i32::try_from(process).ok()?);
    let time = ClockId::pid_cpu_clock_id(process).ok()?.now().ok()?;
    u64::try_from(time.tv_sec() * 1_000_000_000 + time.tv_nsec()).ok()
}

fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(path(process, "status")).unwrap_or_default();
    field(&status, "VmHWM:").map_or(0, |kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_stat_is_read_behind_any_name() {
        let text = "42 (a) b (c) S 7 1 1 0 -1 4194304 1 2 3 4 11 12 13 14 20 0 1 0 99 1 1";
        let stat = Stat { parent: 7, user: 11, system: 12, ended_user: 13, ended_system: 14, faults: 10 };
        assert_eq!(parse(text), Some(stat));
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn descendants_are_found_and_strangers_left() {
        let stat = |parent| Stat { parent, user: 0, system: 0, ended_user: 0, ended_system: 0, faults: 0 };
        let stats =
            [(1, 0), (5, 1), (6, 5), (7, 6), (8, 1), (4, 7)].map(|(own, parent)| (own, stat(parent))).into();
        assert_eq!(tree(&[5], &stats), [5, 6, 7, 4]);
        assert_eq!(tree(&[5, 8], &stats), [5, 8, 6, 7, 4]);
    }

    /// A shell that works, waits for a process that works, and then for its input to end.
    fn shell() -> Child {
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let script = format!("read go; {work}; sh -c '{work}'; echo done; read end");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn the_work_of_a_process_that_has_ended_is_counted() {
        use std::io::{BufRead, BufReader, Write};
        let mut child = shell();
        let server = Server::new(&[child.id()]);
        let before = server.before(&server.prepare().unwrap());
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"go\n").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let cost = server.since(&before).unwrap();
        let alone = cpu_clock(child.id()).unwrap();
        drop(input);
        child.wait().unwrap();
        // Two equal pieces of work, of which the process itself did one.
        let all = cost.user_ns + cost.system_ns;
        assert!(all > alone + alone / 4, "{all} ns in all, {alone} ns of the process itself");
        assert!(cost.peak_memory_bytes > 0);
        assert!(server.prepare().is_none());
    }

    #[test]
    fn the_work_of_all_nodes_is_counted_as_long_as_all_are_there() {
        use std::io::{BufRead, BufReader, Write};
        let mut nodes = [shell(), shell()];
        let mut server = Server::new(&[nodes[0].id()]);
        server.add_node(nodes[1].id());
        let before = server.before(&server.prepare().unwrap());
        let inputs = nodes.each_mut().map(|node| node.stdin.take().unwrap());
        for (mut input, node) in inputs.iter().zip(&mut nodes) {
            input.write_all(b"go\n").unwrap();
            let mut line = String::new();
            BufReader::new(node.stdout.take().unwrap()).read_line(&mut line).unwrap();
        }
        let cost = server.since(&before).unwrap();
        let first = Server::new(&[nodes[0].id()]).since(&Reading::default()).unwrap();
        // Both did the same.
        let (all, first) = (cost.user_ns + cost.system_ns, first.user_ns + first.system_ns);
        assert!(all > first + first / 4, "{all} ns of both, {first} ns of the first");
        nodes[1].kill().unwrap();
        nodes[1].wait().unwrap();
        assert!(server.since(&before).is_none() && server.prepare().is_none());
        drop(inputs);
        nodes[0].wait().unwrap();
    }
}
