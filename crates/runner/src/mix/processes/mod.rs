//! The section of a mix whose clients are processes: each is this program once more, with its own driver on the same
//! database. This process starts all of them at one instant and merges their samples.
//!
//! A client reads its job from standard input, says on standard output that it is ready, reads the moment to begin, and
//! reports its operations as a [`Sample`] like any other. Once its input ends it closes the database, and says so.
//! While they work, clients share only the position of the next step, where all use one file: a number in shared
//! memory.
//!
//! `words` is what both say, `clients` the processes as this one has them, `client` the life of one, and `shared` what all of
//! them have in common.

mod client;
mod clients;
mod shared;
mod words;

use std::io::{BufRead, BufReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use dyno_protocol::{Job, MixWork, Sample, Test, TimeWindow, Work};

use super::section::sleep_until;
use crate::clock::Clock;
use clients::{Clients, Heard};
use shared::{monotonic, shared_number};
use words::{ClientJob, Said};

pub use client::be_client;

/// The argument with which this program is a client.
pub const CLIENT: &str = "client";
/// The time between the announcement of the start to the clients and the start.
const NOTICE: Duration = Duration::from_millis(20);

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
            // The receiver is gone once the trial has ended.
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
    let counted = clock.count(mix.lasts.is_some_and(|lasts| lasts.warm_up_ns > 0));
    let (began, moment) = (Instant::now() + NOTICE, monotonic()? + NOTICE);
    clients.begin(moment)?;
    sleep_until(began + Duration::from_nanos(mix.lasts.map_or(0, |lasts| lasts.warm_up_ns)));
    let mut samples: Vec<Option<Sample>> = (0..count).map(|_| None).collect();
    let end = mix
        .lasts
        .map(|TimeWindow { duration_ns, warm_up_ns }| began + Duration::from_nanos(warm_up_ns + duration_ns));
    let (within, own) = clock.time_clients(counted, || {
        collect(&mut clients, &hears, &mut samples, end)?;
        // Clients whose steps came to an end before their time leave the rest of it empty.
        end.into_iter().for_each(sleep_until);
        Ok::<_, anyhow::Error>(())
    });
    within?;
    collect(&mut clients, &hears, &mut samples, None)?;
    clients.end(&hears)?;
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
    // The standard output of a client goes to this process.
    let work = Work::Mix(MixWork { interval_ns: None, ..mix });
    let test = Test { id: String::new(), setup: Vec::new(), work, check: None };
    // A file that is inherited has the same number in each client.
    let next = memory.map(|memory| Path::new("/proc/self/fd").join(memory.as_raw_fd().to_string()));
    // The cost of a server's processes is counted once, by this process.
    let server = job.server.clone().map(|server| dyno_protocol::Server { process: None, ..server });
    let job = Job { tests: vec![test], turns: false, server, ..job.clone() };
    ClientJob { job, before: place, next, parent: std::process::id().cast_signed() }
}
