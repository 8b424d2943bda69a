//! Lets what is tried happen, and waits for the end of the command.

use std::path::Path;
use std::process::Child;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::family::Watch;
use super::questions::trials;
use super::servers::Server;
use super::tries::{Event, Try};
use crate::common::Result;

/// A command that no event has signalled gets SIGINT after this time.
const TO_RUN: Duration = Duration::from_secs(10);
/// A command that overruns its limit by this time is killed.
const GRACE: Duration = Duration::from_secs(5);

/// The end of a command.
pub struct Ended {
    pub result: Result,
    /// The time that it ran after its first signal.
    pub took: Duration,
    /// The trials that were in its file when it got the signal.
    pub kept: usize,
    /// True if it was at work when something was to happen to it.
    pub happened: bool,
}

/// A command at work.
struct Work<'a> {
    id: u32,
    began: Instant,
    waiter: JoinHandle<Result>,
    watch: &'a Watch,
    file: &'a Path,
    first: Option<Instant>,
    kept: usize,
}

impl Try {
    /// Lets it happen to a command that writes its run to `file`, and waits for the end.
    pub fn happen(&self, child: Child, servers: &[Server], watch: &Watch, file: &Path) -> Ended {
        let id = child.id();
        let waiter = thread::spawn(move || Result::from(child.wait_with_output().unwrap()));
        let mut work = Work { id, began: Instant::now(), waiter, watch, file, first: None, kept: 0 };
        let happened = work.meet(self, servers);
        work.end(self.to_end, happened)
    }
}

impl Work<'_> {
    /// True if the command was at work when the event came.
    fn meet(&mut self, what: &Try, servers: &[Server]) -> bool {
        match what.event {
            Event::Dyno(signal, after) => {
                self.wait(after);
                let is_at_work = !self.waiter.is_finished();
                self.begin_to_end();
                is_at_work.then(|| send(self.id, signal)).is_some()
            }
            Event::Pause(after) => {
                self.wait(after);
                !self.waiter.is_finished() && pause(self.id)
            }
            Event::Other(signal, after) => {
                self.wait(after);
                self.kept = trials(self.file);
                self.victim(what.seed).map(|victim| send(victim, signal)).is_some()
            }
            Event::PauseOther(after) => {
                self.wait(after);
                self.victim(what.seed).is_some_and(pause)
            }
            Event::Restart(place, after) => {
                self.wait(after);
                self.kept = trials(self.file);
                let is_at_work = !self.waiter.is_finished();
                is_at_work.then(|| servers[place].restart()).is_some()
            }
            Event::Small(_) | Event::Way(..) => true,
        }
    }

    /// Waits for milliseconds, or until the command has ended.
    fn wait(&self, milliseconds: u64) {
        let until = Instant::now() + Duration::from_millis(milliseconds);
        while Instant::now() < until && !self.waiter.is_finished() {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn begin_to_end(&mut self) {
        self.kept = self.kept.max(trials(self.file));
        self.first = Some(Instant::now());
    }

    /// One of the processes but dyno itself.
    fn victim(&self, seed: u64) -> Option<u32> {
        let others: Vec<u32> = self.watch.alive().into_iter().filter(|process| *process != self.id).collect();
        fastrand::Rng::with_seed(seed).choice(others)
    }

    fn end(mut self, to_end: Duration, happened: bool) -> Ended {
        while !self.waiter.is_finished() {
            match self.first {
                None if self.began.elapsed() > TO_RUN => {
                    self.begin_to_end();
                    send(self.id, Signal::SIGINT);
                }
                Some(first) if first.elapsed() > to_end + GRACE => send(self.id, Signal::SIGKILL),
                _ => {}
            }
            thread::sleep(Duration::from_millis(20));
        }
        let took = self.first.map_or(Duration::ZERO, |first| first.elapsed());
        Ended { result: self.waiter.join().unwrap(), took, kept: self.kept, happened }
    }
}

fn send(process: u32, signal: Signal) {
    let _ = kill(Pid::from_raw(process.cast_signed()), signal);
}

fn pause(process: u32) -> bool {
    send(process, Signal::SIGSTOP);
    thread::sleep(Duration::from_secs(1));
    send(process, Signal::SIGCONT);
    true
}
