//! Divides the clients of a mix among processes, and compares the clocks of these processes with dyno's.
//!
//! Each client is a process, or each agent has one process for its share of the clients. Nothing here needs the
//! processes to be on one machine: a job names the steps of its clients, and the moment at which they begin is given in
//! the process's own clock.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dyno_protocol::{ClientPart, Job, Maintenance, MixWork, Server, StepFile, Test, Work};
use nix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

/// A job whose mixes are divided among processes where it says so.
pub struct DividedJob {
    job: Job,
    /// For each test the parts of its processes; empty where one process has all clients.
    parts: Vec<Vec<ProcessPart>>,
    /// Holds the files that were made for this; removed with it.
    _folder: Option<TempDir>,
}

/// The clients of a mix that one process has.
struct ProcessPart {
    clients: Range<u32>,
    /// The steps of each, or those that they share.
    steps: Vec<StepFile>,
}

impl DividedJob {
    /// Divides the mixes of a job that have [`parts`](MixWork::part): each client is a process, or there are as many
    /// processes as `agents`. Where clients are fewer than agents, the last agents take no part.
    ///
    /// # Errors
    /// A file of steps that the clients share cannot be dealt out.
    pub fn of(job: &Job, agents: Option<u32>) -> Result<DividedJob> {
        let mut folder = None;
        let mut parts = Vec::new();
        for test in &job.tests {
            parts.push(match &test.work {
                Work::Mix(mix) if mix.part.is_some() => {
                    let processes = agents.map_or(mix.clients, |agents| agents.min(mix.clients));
                    parts_of(mix, processes, &mut folder)?
                }
                _ => Vec::new(),
            });
        }
        Ok(DividedJob { job: job.clone(), parts, _folder: folder })
    }

    /// The job of the first process: all tests, with the first clients of mixes that are divided.
    pub fn first(&self) -> Job {
        let tests = (0..self.job.tests.len()).map(|test| self.part(test, 0)).collect();
        Job { tests, ..self.job.clone() }
    }

    /// The jobs of the other processes for a test, by its place, with the place of each process. One without steps is
    /// left out.
    pub fn others(&self, test: usize) -> Vec<(usize, Job)> {
        let parts = self.parts[test].iter().enumerate().skip(1);
        let has_steps = |part: &ProcessPart| part.steps.iter().any(|steps| steps.count > 0);
        parts.filter(|(_, part)| has_steps(part)).map(|(place, _)| (place, self.other(test, place))).collect()
    }

    /// The main processes of the server of which costs can be read.
    pub fn server(&self) -> Vec<u32> {
        self.job.server.as_ref().map(Server::processes).unwrap_or_default()
    }

    /// The job of clients that find the database made and set up.
    fn other(&self, test: usize, place: usize) -> Job {
        let test = Test { setup: Vec::new(), check: None, ..self.part(test, place) };
        // The costs of a server are counted once, by dyno.
        let server = self.job.server.clone().map(|server| Server {
            process: None,
            further_processes: Vec::new(),
            ..server
        });
        let (maintenance, read_back) = (None::<Maintenance>, Vec::new());
        Job { tests: vec![test], server, maintenance, read_back, ..self.job.clone() }
    }

    /// A test, with the clients of one process where it is divided.
    fn part(&self, test: usize, place: usize) -> Test {
        let (test, part) = (&self.job.tests[test], self.parts[test].get(place));
        let (Work::Mix(mix), Some(ProcessPart { clients, steps })) = (&test.work, part) else {
            return test.clone();
        };
        let part = Some(ClientPart { before: clients.start, of: mix.clients });
        // The first process looks at what all have left in a store.
        let invariants = if place == 0 { mix.invariants.clone() } else { Vec::new() };
        let (clients, steps) = (clients.len() as u32, steps.clone());
        let mix = MixWork { clients, part, steps, invariants, ..mix.clone() };
        Test { work: Work::Mix(mix), ..test.clone() }
    }
}

/// The clients of a mix, in order, among this number of processes: as many for each, or one more for the first ones.
fn shares(clients: u32, processes: u32) -> impl Iterator<Item = Range<u32>> {
    let bound = move |place: u32| place * (clients / processes) + place.min(clients % processes);
    (0..processes).map(move |place| bound(place)..bound(place + 1))
}

/// The parts of a mix. Steps of a file that all clients share are dealt out, a session at a time, into a folder next to
/// that file: processes exchange nothing while they work.
fn parts_of(mix: &MixWork, processes: u32, folder: &mut Option<TempDir>) -> Result<Vec<ProcessPart>> {
    ensure!(
        mix.clients > 0 && processes > 0 && !mix.steps.is_empty(),
        "a mix without clients or steps is divided: this is an error in dyno"
    );
    let shares = shares(mix.clients, processes);
    if mix.steps.len() == mix.clients as usize && mix.session.is_none() {
        let own = |clients: Range<u32>| {
            let steps = mix.steps[clients.start as usize..clients.end as usize].to_vec();
            ProcessPart { clients, steps }
        };
        return Ok(shares.map(own).collect());
    }
    let shared = &mix.steps[0];
    let path = shared.file.display();
    let below = shared.file.parent().unwrap_or(Path::new("."));
    if folder.is_none() {
        *folder = Some(TempDir::with_prefix_in("parts-", below).context("cannot make a folder for steps")?);
    }
    let folder = folder.as_ref().context("there is no folder for steps")?.path();
    let source = File::open(&shared.file).with_context(|| format!("cannot open the steps {path}"))?;
    let deal = Deal {
        source,
        count: shared.count,
        width: mix.step_bytes(),
        each: mix.session.unwrap_or(1).into(),
        clients: mix.clients.into(),
        processes: processes.into(),
    };
    let one = |(place, clients): (usize, Range<u32>)| {
        let name = format!("{}-{}", shared.file.file_name().unwrap_or_default().display(), place + 1);
        let steps = deal
            .write(place as u64, folder.join(name))
            .with_context(|| format!("cannot deal out the steps {path}"))?;
        Ok(ProcessPart { clients, steps: vec![steps] })
    };
    shares.enumerate().map(one).collect()
}

/// A file of steps that is dealt out.
struct Deal {
    source: File,
    count: u64,
    /// The size of a step in bytes.
    width: u64,
    /// Consecutive steps that stay together: a hand.
    each: u64,
    /// The number of clients, each of which has as many hands as any other.
    clients: u64,
    /// The number of processes among which the clients are divided.
    processes: u64,
}

impl Deal {
    /// The hands of a process, in order: those of its clients. Clients are dealt to processes in turn here, so that hands
    /// that follow one another go to different processes.
    fn hands(&self, process: u64) -> impl Iterator<Item = u64> {
        let (hands, clients, processes) = (self.count.div_ceil(self.each), self.clients, self.processes);
        let rounds = (0..hands).step_by(clients as usize);
        let of_round = move |round: u64| {
            (process..clients).step_by(processes as usize).map(move |client| round + client)
        };
        rounds.flat_map(of_round).take_while(move |hand| *hand < hands)
    }

    /// Writes the hands of a process to a file.
    fn write(&self, process: u64, file: PathBuf) -> Result<StepFile> {
        let mut output = BufWriter::new(File::create_new(&file)?);
        let mut hand = Vec::new();
        let mut written = 0;
        for first in self.hands(process).map(|hand| hand * self.each) {
            let steps = self.each.min(self.count - first);
            hand.resize(usize::try_from(steps * self.width)?, 0);
            self.source.read_exact_at(&mut hand, first * self.width)?;
            output.write_all(&hand)?;
            written += steps;
        }
        output.flush()?;
        Ok(StepFile { file, count: written })
    }
}

/// A question to a process for its clock, in nanoseconds: when dyno asked and heard, and what the process read between.
#[derive(Debug, Clone, Copy)]
pub struct ClockExchange {
    /// The time at which dyno asked, on its own clock.
    pub asked_ns: u64,
    /// The time at which it had the answer.
    pub heard_ns: u64,
    /// The answer.
    pub read_ns: u64,
}

/// The nanoseconds by which the clock of a process is ahead of dyno's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockOffset {
    /// The nanoseconds; negative where it is behind.
    pub ahead_ns: i64,
    /// The most by which this is wrong: half of the time that the quickest exchange took.
    pub error_ns: u64,
}

impl ClockOffset {
    /// From the quickest of some exchanges, in which the answer was read about half-way.
    pub fn of(exchanges: &[ClockExchange]) -> ClockOffset {
        let quickest = exchanges.iter().min_by_key(|one| one.heard_ns.saturating_sub(one.asked_ns));
        let offset = |one: &ClockExchange| {
            let error_ns = one.heard_ns.saturating_sub(one.asked_ns) / 2;
            let ahead_ns = one.read_ns.wrapping_sub(one.asked_ns + error_ns).cast_signed();
            ClockOffset { ahead_ns, error_ns }
        };
        quickest.map(offset).unwrap_or_default()
    }

    /// A moment of dyno's clock on that of the process.
    pub fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.ahead_ns)
    }

    /// A moment of the process's clock on dyno's.
    pub fn here(self, there_ns: u64) -> u64 {
        there_ns.saturating_add_signed(self.ahead_ns.saturating_neg())
    }
}

/// dyno's own clock, in nanoseconds.
pub fn clock_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| u64::try_from(std::time::Duration::from(now).as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
