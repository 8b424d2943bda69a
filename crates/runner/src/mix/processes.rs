//! The section of a mix whose clients are processes: each is this program once more, with a driver of its own on the same
//! database. This process lets them go at once, and adds up what they tell.
//!
//! A client reads its job from standard input, says on standard output that it is ready, reads the moment to begin, and says
//! what became of its operations: a [`Sample`] like any other. Nothing is exchanged while they work, but for the next step,
//! where all have a part in one file: that is a number in memory which they share.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_protocol::{Job, Lasts, MixWork, Sample, Test, Work};
use memmap2::MmapMut;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{ftruncate, getppid};
use serde::{Deserialize, Serialize};

use super::section::{Part, perform_part, sleep_until};
use crate::clock::Clock;
use crate::{Engine, Session};

/// The argument with which this program is a client.
pub const CLIENT: &str = "client";
/// How long before they begin the clients are told to.
const NOTICE: Duration = Duration::from_millis(20);

/// What a client does.
#[derive(Serialize, Deserialize)]
struct ClientJob {
    /// The trial's job, with the mix as its one test: this client's part of it.
    job: Job,
    /// How many clients come before this one.
    before: usize,
    /// Where all have a part in one file of steps: the file in memory that says which is the next.
    next: Option<PathBuf>,
    /// The process whose client this is.
    parent: i32,
}

/// What a client says.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Said {
    /// It is connected and has prepared its statements.
    Ready,
    /// It has done its part.
    Done(Box<Sample>),
    /// What went wrong.
    Failed(String),
}

/// What is heard of a client: a line, or that nothing more comes.
type Heard = (usize, Option<Vec<u8>>);

/// Does a mix by processes.
pub fn perform(mix: &MixWork, job: &Job, clock: &Clock) -> Result<Sample> {
    let count = mix.clients as usize;
    ensure!(count > 0, "a mix of no clients");
    let shares = mix.steps.len() < count || mix.session.is_some();
    let memory = shares.then(shared_number).transpose()?;
    let mut clients = Clients::default();
    let (heard, hears) = mpsc::channel();
    for place in 0..count {
        let steps = if shares { &mix.steps[..1] } else { &mix.steps[place..=place] };
        let part = MixWork { clients: 1, steps: steps.to_vec(), processes: false, ..mix.clone() };
        let own = client_job(job, part, place, memory.as_ref());
        let output = clients.start(&own)?;
        let heard = heard.clone();
        thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(std::result::Result::ok);
            // Where nobody listens any more the trial has ended.
            let all = lines.map(Some).chain([None]).try_for_each(|line| heard.send((place, line)));
            drop(all);
        });
    }
    drop(heard);
    for _ in 0..count {
        match clients.next(&hears, None)? {
            Some((_, Said::Ready)) => {}
            _ => bail!("a client was done before it had begun"),
        }
    }
    let (began, moment) = (Instant::now() + NOTICE, monotonic()? + NOTICE);
    clients.begin(moment)?;
    sleep_until(began + Duration::from_nanos(mix.lasts.map_or(0, |lasts| lasts.warm_up_ns)));
    let mut samples: Vec<Option<Sample>> = (0..count).map(|_| None).collect();
    let end = mix
        .lasts
        .map(|Lasts { duration_ns, warm_up_ns }| began + Duration::from_nanos(warm_up_ns + duration_ns));
    let (within, own) = clock.time(|| {
        collect(&mut clients, &hears, &mut samples, end)?;
        // Clients whose steps came to an end before their time leave the rest of it empty.
        end.into_iter().for_each(sleep_until);
        Ok::<_, anyhow::Error>(())
    });
    within?;
    collect(&mut clients, &hears, &mut samples, None)?;
    clients.end()?;
    let mut sum = samples.into_iter().flatten();
    let mut all = sum.next().context("no client told of anything")?;
    sum.for_each(|sample| all.join(&sample));
    all.section.client.add(&own.section.client);
    all.section.server = own.section.server;
    Ok(all)
}

/// Takes what clients say of their parts, until all have or a moment has come.
fn collect(
    clients: &mut Clients,
    hears: &Receiver<Heard>,
    samples: &mut [Option<Sample>],
    until: Option<Instant>,
) -> Result<()> {
    while samples.iter().any(Option::is_none) {
        match clients.next(hears, until)? {
            Some((place, Said::Done(sample))) => samples[place] = Some(*sample),
            Some(_) => bail!("a client said twice that it is ready"),
            None => break,
        }
    }
    Ok(())
}

/// The job of a client by its place.
fn client_job(job: &Job, mix: MixWork, place: usize, memory: Option<&OwnedFd>) -> ClientJob {
    let test = Test { id: String::new(), setup: Vec::new(), work: Work::Mix(mix), check: None };
    // A file that is inherited has the same number in each client.
    let next = memory.map(|memory| Path::new("/proc/self/fd").join(memory.as_raw_fd().to_string()));
    // What a server's processes cost is counted once, by this process.
    let server = job.server.clone().map(|server| dyno_protocol::Server { process: None, ..server });
    let job = Job { tests: vec![test], turns: false, server, ..job.clone() };
    ClientJob { job, before: place, next, parent: std::process::id().cast_signed() }
}

/// A number in memory that clients inherit: 0.
fn shared_number() -> Result<OwnedFd> {
    let memory = memfd_create(c"next step", MFdFlags::empty()).context("cannot share memory with clients")?;
    ftruncate(&memory, size_of::<u64>() as i64).context("cannot share memory with clients")?;
    Ok(memory)
}

/// The monotonic clock, which all processes have in common.
fn monotonic() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_MONOTONIC).context("cannot read the clock")?.into())
}

/// Client processes. They end with this.
#[derive(Default)]
struct Clients(Vec<Client>);

struct Client {
    process: Child,
    /// It has said what became of its operations.
    done: bool,
}

impl Clients {
    /// Starts one and gives it its job. Returns its standard output.
    fn start(&mut self, job: &ClientJob) -> Result<impl Read + use<>> {
        // The program itself, though it may have been replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(env::args_os().next().unwrap_or_default()).arg(CLIENT);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a process for a client")?;
        let output = child.stdout.take().context("a client has no standard output")?;
        self.0.push(Client { process: child, done: false });
        let place = self.0.len() - 1;
        let mut text = serde_json::to_vec(job)?;
        text.push(b'\n');
        self.tell(place, &text)?;
        Ok(output)
    }

    fn tell(&mut self, place: usize, text: &[u8]) -> Result<()> {
        let input = self.0[place].process.stdin.as_mut().context("a client has no standard input")?;
        if input.write_all(text).is_err() {
            return Err(self.lost(place));
        }
        Ok(())
    }

    /// Tells all of them when they begin.
    fn begin(&mut self, moment: Duration) -> Result<()> {
        let line = format!("{}\n", moment.as_nanos());
        (0..self.0.len()).try_for_each(|place| self.tell(place, line.as_bytes()))
    }

    /// What the next client says, with its place; none where a moment comes first.
    ///
    /// # Errors
    /// A client has failed, or has ended before it was done.
    fn next(&mut self, hears: &Receiver<Heard>, until: Option<Instant>) -> Result<Option<(usize, Said)>> {
        let left = until.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        let (place, line) = match hears.recv_timeout(left) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("no client says anything any more"),
        };
        let Some(line) = line else {
            // One that is done has nothing more to say.
            return if self.0[place].done { self.next(hears, until) } else { Err(self.lost(place)) };
        };
        match serde_json::from_slice(&line).context("a client says what nobody understands")? {
            Said::Failed(message) => Err(anyhow!(message)),
            said => {
                self.0[place].done = matches!(said, Said::Done(_));
                Ok(Some((place, said)))
            }
        }
    }

    /// Why a client has ended that should be at work.
    fn lost(&mut self, place: usize) -> anyhow::Error {
        let count = self.0.len();
        let how = match self.0[place].process.wait() {
            Err(error) => error.to_string(),
            Ok(status) => match (status.code(), status.signal().map(Signal::try_from)) {
                (Some(code), _) => format!("it ended with exit code {code}"),
                (None, Some(Ok(signal))) => format!("it was killed by {signal}"),
                _ => "it has ended".to_owned(),
            },
        };
        anyhow!(
            "client {} of {count}, a process of its own, is gone in the middle of its work: {how}",
            place + 1
        )
    }

    /// Waits until all of them, which are done, have ended.
    fn end(&mut self) -> Result<()> {
        for (place, client) in self.0.iter_mut().enumerate() {
            drop(client.process.stdin.take());
            let status = client.process.wait().context("cannot wait for a client")?;
            ensure!(status.success(), "client {} was done and then did not end well ({status})", place + 1);
        }
        self.0.clear();
        Ok(())
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        for client in &mut self.0 {
            // One that has ended is no trouble.
            let _ = client.process.kill();
            let _ = client.process.wait();
        }
    }
}

/// The life of a client that is a process: from its job on standard input to what it says on standard output.
pub fn be_client<E: Engine>(mut input: impl BufRead, mut output: impl Write) -> ExitCode {
    let mut say = |said: &Said| -> Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        output.write_all(&line)?;
        Ok(output.flush()?)
    };
    let said = catch_unwind(AssertUnwindSafe(|| part::<E>(&mut input, &mut || say(&Said::Ready))));
    let said = match said {
        Ok(Ok(sample)) => Said::Done(Box::new(sample)),
        Ok(Err(error)) => Said::Failed(format!("{error:#}")),
        Err(_) => Said::Failed("a client panicked, which is an error in the runner".to_owned()),
    };
    // Where nobody listens any more the trial has ended.
    let heard = say(&said).is_ok();
    if heard && matches!(said, Said::Done(_)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does a client's part.
fn part<E: Engine>(input: &mut impl BufRead, ready: &mut dyn FnMut() -> Result<()>) -> Result<Sample> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).context("cannot read the client's job")?;
    let ClientJob { mut job, before, next, parent } =
        serde_json::from_slice(&line).context("a client is started by its runner, not by hand")?;
    // No client outlives its runner, not even one that is in the middle of a call.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).context("cannot end with the runner")?;
    ensure!(getppid().as_raw() == parent, "the runner has ended");
    let Some(Work::Mix(mix)) = job.tests.pop().map(|test| test.work) else {
        bail!("a client's job has no mix");
    };
    let at = || format!("client {}", before + 1);
    let map = next.as_deref().map(map).transpose()?;
    let mut engine = E::join(&job).with_context(at)?;
    let mut first = engine.session().with_context(at)?;
    let mut begin = || {
        ready()?;
        let mut line = String::new();
        input.read_line(&mut line).context("cannot read when to begin")?;
        let moment = line.trim().parse().context("nobody says when to begin")?;
        Ok(Instant::now() + Duration::from_nanos(moment).saturating_sub(monotonic()?))
    };
    // SAFETY: the map is as long as the number, and lies at the beginning of a page. Clients change it by nothing else.
    let next = map.as_ref().map(|map| unsafe { AtomicU64::from_ptr(map.as_ptr().cast_mut().cast()) });
    let part = Part { before, next };
    let mut done = Err(anyhow!("a session does nothing while it is away: this is an error in the runner"));
    let clock = Clock::new(None);
    if mix.session.is_some() {
        first.step_aside(&mut || {
            done = perform_part(&mix, &mut engine, None, &clock, &part, &mut begin);
        })?;
    } else {
        done = perform_part(&mix, &mut engine, Some(&mut first), &clock, &part, &mut begin);
    }
    let sample = done?;
    first
        .close()
        .and_then(|()| engine.close())
        .with_context(|| format!("{} did not close the database", at()))?;
    Ok(sample)
}

/// Maps the number that clients share.
fn map(path: &Path) -> Result<MmapMut> {
    let open = std::fs::OpenOptions::new().read(true).write(true).open(path);
    // SAFETY: it is memory, whose length nobody changes.
    open.and_then(|file| unsafe { MmapMut::map_mut(&file) }).context("cannot share memory with other clients")
}
