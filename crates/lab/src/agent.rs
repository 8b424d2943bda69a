//! The agent: what `dyno agent` does on a host. It keeps the files that dyno sends in a folder that only its user may
//! enter, starts one runner at a time, and passes lines between it and dyno.
//!
//! It ends when its standard input ends, on a signal, and when dyno is silent. Then its runner is killed and its folder
//! is removed; if the agent itself is killed, the kernel ends the runner, and a guard removes the folder. The guard kills
//! an agent that is stopped for so long that dyno has given it up.

mod store;

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_launch::agents::{
    AgentHello, AgentOrder, AgentReport, BEAT, OrderLine, ReportWriter, SENT, SILENCE, read_line, visit_files,
};
use dyno_launch::{Ending, Guard, Inbox, Interrupts, Message, Process};
use dyno_protocol::Job;
use dyno_record::{Placement, cpu_list};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tempfile::TempDir;

use crate::interference::{Moment, Watched};
use crate::key::limit_core_dumps;
use crate::machine::{self, allowed_cpus};
use crate::placement;
use crate::scratch::{BY_TMPDIR, Scratch, default_parent};
use store::SentFiles;

/// The longest line that dyno writes, in bytes: a job.
const LONGEST_LINE: u64 = 256 << 20;
/// The number of events that wait. dyno may send faster than the agent writes to its disk, and has to wait then.
const EVENTS_AHEAD: usize = 4;
/// The most open files, of a driver's connections among them, that an agent asks for.
const MOST_FILES: u64 = 1 << 20;
/// The time in which the last words are written.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The time until an inbox is asked again; nothing depends on it.
const LONG: Duration = Duration::from_secs(3600);

/// Something for the agent to do.
enum AgentEvent {
    Line(Vec<u8>),
    /// Standard input or output has ended.
    Closed,
    /// The output of a runner has ended, by its number.
    RunnerEnded(u64),
    Interrupted,
}

/// A dyno that serves another one.
struct Agent {
    name: String,
    reports: Sender<AgentReport>,
    events: SyncSender<AgentEvent>,
    runner: Option<ServedRunner>,
    files: SentFiles,
    placement: Placement,
    watched: Watched,
    scratch: Scratch,
    _guard: Guard,
}

/// The runner at work.
struct ServedRunner {
    trial: u64,
    process: Process,
    before: Option<Moment>,
    _folder: TempDir,
}

/// Serves a dyno on standard input and output until that ends. Returns the signal that ended it, if one did.
///
/// # Errors
/// No folder can be made, or a file cannot be kept.
pub fn serve(version: &str, commit: &str) -> Result<Option<i32>> {
    // Jobs hold passwords.
    limit_core_dumps();
    allow_files()?;
    let (machine, cpus) = (machine::read(), allowed_cpus());
    let host = machine::fact("/proc/sys/kernel/hostname").unwrap_or_else(|| "a host".into());
    let interrupts = Interrupts::listen()?;
    let (events, happens) = sync_channel(EVENTS_AHEAD);
    let name = format!("{:016x}", fastrand::Rng::with_seed(seed()?).u64(..));
    let (reports, output) = channel();
    let (read, write, signalled) = (events.clone(), events.clone(), events.clone());
    thread::spawn(move || read_orders(BufReader::new(io::stdin().lock()), &read));
    let (written, all_written) = channel::<()>();
    let written_under = name.clone();
    thread::spawn(move || {
        write_reports(&written_under, &output, &write);
        drop(written);
    });
    // If the queue is full, the agent is about to take the next event and sees the signal.
    let _woken = interrupts.notify(move || drop(signalled.try_send(AgentEvent::Interrupted)));
    let (pulse, own_host) = (reports.clone(), host.clone());
    let served = Agent::new(name, (reports.clone(), events), &cpus).and_then(|mut agent| {
        let (version, commit) = (version.to_owned(), commit.to_owned());
        let machine = serde_json::to_value(machine).context("cannot describe the machine")?;
        let boot_id = machine::fact("/proc/sys/kernel/random/boot_id");
        agent.report(AgentReport::Hello(Box::new(AgentHello { version, commit, host, boot_id, machine })));
        thread::spawn(move || {
            while pulse.send(AgentReport::Beat).is_ok() {
                thread::sleep(BEAT);
            }
        });
        agent.work(&happens, &interrupts)
    });
    if let Err(error) = &served {
        let message = format!("cannot go on: {error:#}");
        let _ = reports.send(AgentReport::Trouble { host: Some(own_host), message });
        // The thread that writes may be stuck, and others hold the way to it.
        let _ = all_written.recv_timeout(LAST_WORDS);
    }
    served.map(|()| interrupts.signal())
}

impl Agent {
    fn new(
        name: String,
        (reports, events): (Sender<AgentReport>, SyncSender<AgentEvent>),
        cpus: &[usize],
    ) -> Result<Agent> {
        let scratch = Scratch::create_or(&default_parent(), BY_TMPDIR)?;
        let guard = Guard::watch_agent(scratch.folder())?;
        Ok(Agent {
            name,
            reports,
            events,
            runner: None,
            files: SentFiles::new(scratch.folder().join("files"))?,
            placement: placement::choose(Some(&cpu_list::format(cpus)), None)?,
            watched: Watched { cpus: cpus.to_vec(), with_dyno: true },
            scratch,
            _guard: guard,
        })
    }

    /// Obeys until dyno is gone or a signal comes.
    fn work(&mut self, happens: &Receiver<AgentEvent>, interrupts: &Interrupts) -> Result<()> {
        let mut heard = Instant::now();
        while interrupts.signal().is_none() {
            match happens.recv_timeout(SILENCE.saturating_sub(heard.elapsed())) {
                Ok(AgentEvent::Line(line)) => {
                    heard = Instant::now();
                    if let Some(OrderLine { to, order }) = read_line(&line)
                        && (to.is_empty() || to.contains(&self.name))
                    {
                        self.obey(order)?;
                    }
                }
                Ok(AgentEvent::RunnerEnded(trial)) => self.runner_ended(trial),
                Ok(AgentEvent::Closed | AgentEvent::Interrupted) | Err(_) => break,
            }
        }
        Ok(())
    }

    fn obey(&mut self, order: AgentOrder) -> Result<()> {
        match order {
            AgentOrder::File { sha256, executable, part, last } => {
                self.files.take(&sha256, executable, &part, last)?;
            }
            AgentOrder::Forget { files } => {
                files.iter().try_for_each(|sha256| self.files.forget(sha256))?;
            }
            AgentOrder::Start { trial, program, arguments, job } => {
                if let Err(error) = self.start(trial, &program, arguments, *job) {
                    let description = format!("could not be started: {error:#}");
                    let ending = Ending { description, ..Ending::default() };
                    self.report(AgentReport::Ended { trial, ending });
                }
            }
            AgentOrder::Input { trial, line } => {
                if let Some(runner) = self.runner(trial) {
                    runner.process.write(format!("{line}\n").into_bytes());
                }
            }
            AgentOrder::EndInput { trial } => {
                if let Some(runner) = self.runner(trial) {
                    runner.process.end_input();
                }
            }
            AgentOrder::Stop { trial } => {
                if self.runner(trial).is_some() {
                    self.runner = None;
                }
            }
            AgentOrder::Beat => {}
        }
        Ok(())
    }

    /// The runner at work, if it has this number.
    fn runner(&mut self, trial: u64) -> Option<&mut ServedRunner> {
        self.runner.as_mut().filter(|runner| runner.trial == trial)
    }

    fn start(&mut self, trial: u64, program: &str, arguments: Vec<String>, mut job: Job) -> Result<()> {
        self.runner = None;
        let folder = self.scratch.trial()?;
        job.directory = folder.path().to_owned();
        visit_files(&mut job, &mut |path| self.files.path(path))?;
        let program = self.files.path(&PathBuf::from(format!("{SENT}{program}")))?;
        let command: Vec<String> = [program.display().to_string()].into_iter().chain(arguments).collect();
        let mut text = serde_json::to_vec(&job).context("cannot write the job")?;
        text.push(b'\n');
        let before = self.watched.moment();
        let inbox = Inbox::new(&Interrupts::default());
        let process = Process::start(&command, &text, &self.placement, None, (&inbox, 0))?;
        self.runner = Some(ServedRunner { trial, process, before, _folder: folder });
        let (to, events) = (self.reports.clone(), self.events.clone());
        thread::spawn(move || {
            pass_on(trial, &inbox, &to);
            events.send(AgentEvent::RunnerEnded(trial))
        });
        Ok(())
    }

    fn runner_ended(&mut self, trial: u64) {
        let Some(runner) = self.runner.take_if(|runner| runner.trial == trial) else { return };
        let ending = runner.process.finish();
        let moments = runner.before.zip(self.watched.moment());
        let others = moments.map(|(before, after)| self.watched.others(&before, &after));
        self.report(AgentReport::Ended { trial, ending: Ending { others, ..ending } });
    }

    fn report(&self, report: AgentReport) {
        let _ = self.reports.send(report);
    }
}

/// Lets the agent and its runners have open as many files as the host allows, up to [`MOST_FILES`].
fn allow_files() -> Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(MOST_FILES)), hard)?)
}

/// A seed that no other agent has.
fn seed() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("the kernel gives no random bytes")?;
    Ok(u64::from_le_bytes(bytes))
}

/// Passes on what a runner writes, until its output ends.
fn pass_on(trial: u64, inbox: &Inbox, to: &Sender<AgentReport>) {
    loop {
        match inbox.next(Instant::now() + LONG) {
            Some((_, Message::Line(line))) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                let _ = to.send(AgentReport::Output { trial, line });
            }
            Some((_, Message::Unreadable(what))) => {
                // dyno refuses the line and says what it holds.
                let _ = to.send(AgentReport::Output { trial, line: what });
                return;
            }
            Some(_) => return,
            None => {}
        }
    }
}

fn read_orders(mut input: impl BufRead, events: &SyncSender<AgentEvent>) {
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        let is_line = matches!(read, Ok(1..)) && line.ends_with(b"\n");
        let event = if is_line { AgentEvent::Line(line) } else { AgentEvent::Closed };
        if events.send(event).is_err() || !is_line {
            return;
        }
    }
}

/// Writes reports as they come: whatever waits for dyno to read, waits here and nowhere else.
fn write_reports(name: &str, reports: &Receiver<AgentReport>, events: &SyncSender<AgentEvent>) {
    let mut writer = ReportWriter::new(name, io::stdout().lock());
    for report in reports {
        if writer.write(report).is_err() {
            let _ = events.send(AgentEvent::Closed);
            return;
        }
    }
}

/// The digest that stands for a file in a job.
fn digest_of(path: &Path) -> Result<&str> {
    let digest = path.to_str().and_then(|text| text.strip_prefix(SENT));
    let digest = digest.filter(|digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()));
    digest.with_context(|| format!("the job names a file of another machine, {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A dyno that sends lines without end, and counts them.
    struct Flood(Arc<AtomicUsize>);

    impl Read for Flood {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::SeqCst);
            to[..2].copy_from_slice(b"x\n");
            Ok(2)
        }
    }

    #[test]
    fn lines_that_are_not_taken_wait_outside_the_memory() {
        let (events, happens) = sync_channel(EVENTS_AHEAD);
        let sent = Arc::new(AtomicUsize::new(0));
        let flood = BufReader::new(Flood(sent.clone()));
        let reads = thread::spawn(move || read_orders(flood, &events));
        for _ in 0..100 {
            assert!(matches!(happens.recv(), Ok(AgentEvent::Line(line)) if line == b"x\n"));
        }
        thread::sleep(Duration::from_millis(200));
        assert!(sent.load(Ordering::SeqCst) <= 100 + EVENTS_AHEAD + 1, "{sent:?}");
        // The reader ends with the agent, however full the queue is.
        drop(happens);
        reads.join().unwrap();
    }
}
