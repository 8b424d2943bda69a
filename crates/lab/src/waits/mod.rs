//! Looks at the threads of a runner and of its server, some thousand times a second: for the pass of `--why`, of which
//! no figure is a measured time.
//!
//! A thread of dyno's reads files of `/proc` and touches no other process. Calls that are shorter than the time
//! between two looks are seen as often as their share of the time says. A process that lives for less than [`SEARCH`]
//! may be missed.

mod budget;
mod state;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dyno_launch::descendants;

use crate::around::now;
pub use budget::WatchedClients;
use state::{STATES, ThreadState};

/// The mean time between two looks. Each is as long by chance, from half to one and a half of it, so that no rhythm
/// of an engine's falls in step with the looks.
const STEP: Duration = Duration::from_micros(500);
/// The time between searches for new processes.
const SEARCH: Duration = Duration::from_millis(100);
/// The time between searches for new threads of the processes that dyno knows.
const SEARCH_THREADS: Duration = Duration::from_millis(10);

/// Looks that are being taken.
pub struct WaitWatch {
    /// Dropped to end them.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<Looks>>,
}

/// The looks taken while a trial ran.
#[derive(Debug, Clone, Default)]
pub struct Looks(Vec<Look>);

/// The number of threads in each state at one moment.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    /// The time on the system's monotonic clock, in nanoseconds.
    at_ns: u64,
    runner: [u16; STATES],
    server: [u16; STATES],
    /// Those of the server's that have been seen to wait for a client or another process.
    serving: [u16; STATES],
}

/// The two sides whose threads are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchedSide {
    Runner,
    Server,
}

/// A thread that is looked at.
struct WatchedThread {
    side: WatchedSide,
    process: u32,
    /// Its `syscall`.
    file: File,
    /// True if it has been seen to wait for a client or another process.
    serves: bool,
}

/// The threads of the two sides, by their numbers.
struct WatchedThreads {
    roots: Vec<(WatchedSide, u32)>,
    processes: Vec<(WatchedSide, u32)>,
    threads: BTreeMap<u32, WatchedThread>,
}

impl WaitWatch {
    /// Begins to look at a runner's process and a server's main processes, with all that descend from them.
    pub fn begin(runner: u32, server: &[u32]) -> WaitWatch {
        let (end, ends) = mpsc::channel::<()>();
        let roots = [(WatchedSide::Runner, runner)].into_iter();
        let mut threads = WatchedThreads::new(
            roots.chain(server.iter().map(|&main| (WatchedSide::Server, main))).collect(),
        );
        let thread = thread::spawn(move || {
            let mut looks = Vec::new();
            let (mut searched, mut searched_threads) = (Instant::now(), Instant::now());
            loop {
                looks.push(threads.look());
                if searched.elapsed() > SEARCH {
                    threads.search();
                    searched = Instant::now();
                }
                if searched_threads.elapsed() > SEARCH_THREADS {
                    threads.search_threads();
                    searched_threads = Instant::now();
                }
                let pause = STEP.mul_f64(0.5 + fastrand::f64());
                if ends.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return Looks(looks);
                }
            }
        });
        WaitWatch { end: Some(end), thread: Some(thread) }
    }

    /// Ends the looks.
    pub fn end(mut self) -> Looks {
        self.end = None;
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl WatchedThreads {
    fn new(roots: Vec<(WatchedSide, u32)>) -> WatchedThreads {
        let mut threads = WatchedThreads { roots, processes: Vec::new(), threads: BTreeMap::new() };
        threads.search();
        threads.search_threads();
        threads
    }

    /// Searches for processes.
    fn search(&mut self) {
        let with_descendants = |&(side, root): &(WatchedSide, u32)| {
            let own = descendants(root).into_iter().filter_map(|process| u32::try_from(process).ok());
            std::iter::once(root).chain(own).map(move |process| (side, process)).collect::<Vec<_>>()
        };
        self.processes = self.roots.iter().flat_map(with_descendants).collect();
    }

    /// Searches for threads of the processes that are known.
    fn search_threads(&mut self) {
        for &(side, process) in &self.processes {
            let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
            let numbers = tasks.filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
            for thread in numbers {
                if self.threads.contains_key(&thread) {
                    continue;
                }
                if let Ok(file) = File::open(format!("/proc/{process}/task/{thread}/syscall")) {
                    self.threads.insert(thread, WatchedThread { side, process, file, serves: false });
                }
            }
        }
    }

    /// Looks at each thread once. One that has ended is looked at no more.
    fn look(&mut self) -> Look {
        let mut look = Look { at_ns: now(), ..Look::default() };
        self.threads.retain(|_, thread| {
            let mut text = [0; 256];
            let Ok(length) = thread.file.read_at(&mut text, 0) else { return false };
            let Ok(text) = std::str::from_utf8(&text[..length]) else { return false };
            let state = ThreadState::read(thread.process, text);
            match thread.side {
                WatchedSide::Runner => look.runner[state as usize] += 1,
                WatchedSide::Server => {
                    thread.serves |= state == ThreadState::Peer;
                    look.server[state as usize] += 1;
                    look.serving[state as usize] += u16::from(thread.serves);
                }
            }
            true
        });
        look
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_seen_at_work_and_waiting() {
        // It works, then waits for its input to end.
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; read end";
        let mut child = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        let watch = WaitWatch::begin(child.id(), &[]);
        let seen_by = Instant::now() + Duration::from_secs(60);
        let waits = |process: u32| fs::read_to_string(format!("/proc/{process}/wchan")).unwrap();
        while !waits(child.id()).contains("pipe") && Instant::now() < seen_by {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(50));
        let looks = watch.end();
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        child.wait().unwrap();
        let in_state =
            |state: ThreadState| looks.0.iter().filter(|look| look.runner[state as usize] == 1).count();
        let (running, waiting) = (in_state(ThreadState::Running), in_state(ThreadState::Peer));
        assert!(running > 5 && waiting > 5, "{running} running, {waiting} waiting, of {}", looks.0.len());
        assert_eq!(looks.0.last().unwrap().runner[ThreadState::Peer as usize], 1);
    }
}
