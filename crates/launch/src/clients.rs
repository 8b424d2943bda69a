//! Divides the clients of a mix among processes, and compares the clocks of these processes with dyno's.
//!
//! Each client is a process for now. Nothing here needs the processes to be on one machine: a job names the steps of its
//! clients, and the moment at which they begin is given in the process's own clock.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dyno_protocol::{ClientPart, Job, Maintenance, MixWork, Server, StepFile, Test, Work};
use nix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

/// A job whose mixes are divided among processes where it says so.
pub struct DividedJob {
    job: Job,
    /// For each test the steps of each of its clients; empty where one process has them all.
    steps: Vec<Vec<StepFile>>,
    /// Holds the files that were made for this; removed with it.
    _folder: Option<TempDir>,
}

impl DividedJob {
    /// Divides the mixes of a job that have [`parts`](MixWork::part).
    ///
    /// # Errors
    /// A file of steps that the clients share cannot be dealt out.
    pub fn of(job: &Job) -> Result<DividedJob> {
        let mut folder = None;
        let mut steps = Vec::new();
        for test in &job.tests {
            steps.push(match &test.work {
                Work::Mix(mix) if mix.part.is_some() => steps_of_clients(mix, &mut folder)?,
                _ => Vec::new(),
            });
        }
        Ok(DividedJob { job: job.clone(), steps, _folder: folder })
    }

    /// The job of the first process: all tests, with the first client of mixes that are divided.
    pub fn first(&self) -> Job {
        let tests = (0..self.job.tests.len()).map(|test| self.part(test, 0)).collect();
        Job { tests, ..self.job.clone() }
    }

    /// The jobs of the other processes for a test, by its place. A client without steps has no process.
    pub fn others(&self, test: usize) -> Vec<Job> {
        let has_steps = |client: &usize| self.steps[test][*client].count > 0;
        (1..self.steps[test].len()).filter(has_steps).map(|client| self.other(test, client)).collect()
    }

    /// The main process of the server of which costs can be read.
    pub fn server(&self) -> Option<u32> {
        self.job.server.as_ref().and_then(|server| server.process)
    }

    /// The job of a client that finds the database made and set up.
    fn other(&self, test: usize, client: usize) -> Job {
        let test = Test { setup: Vec::new(), check: None, ..self.part(test, client) };
        // The costs of a server are counted once, by dyno.
        let server = self.job.server.clone().map(|server| Server { process: None, ..server });
        let (maintenance, read_back) = (None::<Maintenance>, Vec::new());
        Job { tests: vec![test], server, maintenance, read_back, ..self.job.clone() }
    }

    /// A test, with one client where it is divided.
    fn part(&self, place: usize, client: usize) -> Test {
        let test = &self.job.tests[place];
        let (Work::Mix(mix), Some(steps)) = (&test.work, self.steps[place].get(client)) else {
            return test.clone();
        };
        let part = Some(ClientPart { before: client as u32, of: mix.clients });
        // The first process looks at what all have left in a store.
        let invariants = if client == 0 { mix.invariants.clone() } else { Vec::new() };
        let mix = MixWork { clients: 1, part, steps: vec![steps.clone()], invariants, ..mix.clone() };
        Test { work: Work::Mix(mix), ..test.clone() }
    }
}

/// The steps of each client of a mix. Those of a file that all share are dealt out, a session at a time, into a folder next
/// to that file: processes exchange nothing while they work.
fn steps_of_clients(mix: &MixWork, folder: &mut Option<TempDir>) -> Result<Vec<StepFile>> {
    let clients = mix.clients as usize;
    ensure!(
        clients > 0 && !mix.steps.is_empty(),
        "a mix without clients or steps is divided: this is an error in dyno"
    );
    if mix.steps.len() == clients && mix.session.is_none() {
        return Ok(mix.steps.clone());
    }
    let shared = &mix.steps[0];
    let path = shared.file.display();
    let below = shared.file.parent().unwrap_or(Path::new("."));
    if folder.is_none() {
        *folder = Some(TempDir::with_prefix_in("parts-", below).context("cannot make a folder for steps")?);
    }
    let folder = folder.as_ref().context("there is no folder for steps")?.path();
    let source = File::open(&shared.file).with_context(|| format!("cannot open the steps {path}"))?;
    let deal =
        Deal { source, count: shared.count, width: mix.step_bytes(), each: mix.session.unwrap_or(1).into() };
    let one = |client: usize| {
        let name = format!("{}-{}", shared.file.file_name().unwrap_or_default().display(), client + 1);
        deal.write(client as u64, clients as u64, folder.join(name))
            .with_context(|| format!("cannot deal out the steps {path}"))
    };
    (0..clients).map(one).collect()
}

/// A file of steps that is dealt out.
struct Deal {
    source: File,
    count: u64,
    /// The size of a step in bytes.
    width: u64,
    /// Consecutive steps that stay together.
    each: u64,
}

impl Deal {
    /// Writes every `of`-th hand to a file, from that of a client on.
    fn write(&self, client: u64, of: u64, file: std::path::PathBuf) -> Result<StepFile> {
        let mut output = BufWriter::new(File::create_new(&file)?);
        let mut hand = Vec::new();
        let mut written = 0;
        for first in (client * self.each..self.count).step_by((of * self.each) as usize) {
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
    /// When dyno asked, on its own clock.
    pub asked_ns: u64,
    /// When it had the answer.
    pub heard_ns: u64,
    /// The answer.
    pub read_ns: u64,
}

/// How far the clock of a process is ahead of dyno's, in nanoseconds. It is wrong by at most half of the time that the
/// quickest exchange took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockOffset(i64);

impl ClockOffset {
    /// From the quickest of some exchanges, in which the answer was read about half-way.
    pub fn of(exchanges: &[ClockExchange]) -> ClockOffset {
        let quickest = exchanges.iter().min_by_key(|one| one.heard_ns.saturating_sub(one.asked_ns));
        let offset = |one: &ClockExchange| {
            let halfway = one.asked_ns + one.heard_ns.saturating_sub(one.asked_ns) / 2;
            one.read_ns.wrapping_sub(halfway).cast_signed()
        };
        ClockOffset(quickest.map_or(0, offset))
    }

    /// A moment of dyno's clock on that of the process.
    pub fn there(self, here_ns: u64) -> u64 {
        here_ns.saturating_add_signed(self.0)
    }

    /// A moment of the process's clock on dyno's.
    pub fn here(self, there_ns: u64) -> u64 {
        there_ns.saturating_add_signed(self.0.saturating_neg())
    }
}

/// dyno's own clock, in nanoseconds.
pub fn clock_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| u64::try_from(std::time::Duration::from(now).as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dyno_protocol::{Build, STEP_HEAD};

    use super::*;

    fn job(folder: &Path, clients: u32, session: Option<u32>, steps: u64) -> Job {
        let file = folder.join("1.steps");
        let step = |place: u64| [place.to_le_bytes(), [0; 8]].concat();
        fs::write(&file, (0..steps).flat_map(step).collect::<Vec<_>>()).unwrap();
        let part = Some(ClientPart { before: 0, of: clients });
        let steps = vec![StepFile { file, count: steps }];
        let mix = MixWork { clients, session, part, steps, ..MixWork::default() };
        let test = Test { id: "1".into(), setup: vec!["CREATE".into()], work: Work::Mix(mix), check: None };
        Job { tests: vec![test], ..Job::new("null", "rust", Build::Bundled, folder.to_owned()) }
    }

    /// The numbers of the steps of a job's mix, and its part.
    fn dealt(job: &Job) -> (Vec<u64>, ClientPart) {
        let Work::Mix(mix) = &job.tests[0].work else { panic!("no mix") };
        let bytes = fs::read(&mix.steps[0].file).unwrap();
        let all = bytes.chunks(STEP_HEAD as usize);
        let numbers: Vec<u64> = all.map(|step| u64::from_le_bytes(step[..8].try_into().unwrap())).collect();
        assert_eq!((numbers.len() as u64, mix.clients), (mix.steps[0].count, 1));
        (numbers, mix.part.unwrap())
    }

    #[test]
    fn steps_that_clients_share_are_dealt_out() {
        let folder = tempfile::tempdir().unwrap();
        let parts = DividedJob::of(&job(folder.path(), 3, None, 8)).unwrap();
        assert_eq!(dealt(&parts.first()), (vec![0, 3, 6], ClientPart { before: 0, of: 3 }));
        let others = parts.others(0);
        let all: Vec<_> = others.iter().map(dealt).collect();
        assert_eq!(all[1], (vec![2, 5], ClientPart { before: 2, of: 3 }));
        assert!(all.len() == 2 && others.iter().all(|job| job.joins() && job.tests[0].setup.is_empty()));
        drop(parts);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_steps_of_a_session_stay_together() {
        let folder = tempfile::tempdir().unwrap();
        let parts = DividedJob::of(&job(folder.path(), 2, Some(3), 11)).unwrap();
        assert_eq!(dealt(&parts.first()).0, [0, 1, 2, 6, 7, 8]);
        assert_eq!(dealt(&parts.others(0)[0]).0, [3, 4, 5, 9, 10]);
    }

    #[test]
    fn a_client_without_steps_has_no_process() {
        let folder = tempfile::tempdir().unwrap();
        let parts = DividedJob::of(&job(folder.path(), 4, None, 2)).unwrap();
        assert_eq!(parts.others(0).len(), 1);
    }

    #[test]
    fn the_quickest_exchange_gives_the_offset() {
        let exchange = |asked_ns, heard_ns, read_ns| ClockExchange { asked_ns, heard_ns, read_ns };
        // The clock there is 1,000 behind.
        let exchanges =
            [exchange(5_000, 9_000, 7_900), exchange(9_000, 9_200, 8_110), exchange(9_500, 9_900, 8_501)];
        let offset = ClockOffset::of(&exchanges);
        assert_eq!((offset.there(20_000), offset.here(19_010)), (19_010, 20_000));
        assert_eq!(ClockOffset::of(&[]).there(7), 7);
    }
}
