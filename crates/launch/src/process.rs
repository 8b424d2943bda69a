//! A runner process: started with its job, read line by line, and gone when dropped. Several may write to one inbox.

mod ending;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use dyno_record::Placement;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::family::Family;
use crate::interrupts::{Interrupts, WakeGuard};
use crate::memory_cap::MemoryCap;
use crate::waiting::{ends_within, wait_at_most};
use crate::{environment, placed};
pub use ending::Ending;

/// The longest line that a runner may write, in bytes; a longer one is nonsense, not an event.
const LONGEST_LINE: u64 = 16 << 20;
/// The number of lines read before the first of them is taken. A runner that writes faster must wait.
const LINES_AHEAD: usize = 4;
/// The number of texts for a process that wait until it reads. The job and the orders of a runner never fill this.
const TEXTS_AHEAD: usize = 32;
/// The most that a runner may write in one trial, in bytes; one that writes more does not come to an end.
const LONGEST_OUTPUT: u64 = 1 << 30;
/// The number of bytes at the end of standard error that are kept for messages.
const KEPT_ERRORS: usize = 4096;
/// The time that a runner may take to end after its last event.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a launcher may take to end after SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);

/// The messages to the thread that waits.
#[derive(Debug)]
pub enum Message {
    /// A line of a runner's standard output.
    Line(Vec<u8>),
    /// The end of its standard output.
    End,
    /// A line that cannot be read.
    Unreadable(String),
    /// The machine on which the process runs cannot be reached any more, in words.
    Lost(String),
    /// A signal asked the run to stop.
    Interrupted,
}

/// The output of processes, for the one thread that waits for all of them.
pub struct Inbox {
    sender: SyncSender<(usize, Message)>,
    messages: Receiver<(usize, Message)>,
    interrupts: Interrupts,
    /// The most that a process may write, in bytes.
    longest_output: u64,
    _woken: WakeGuard,
}

impl Inbox {
    /// An empty one; an interrupt comes to it too, and wakes the thread that waits for it.
    pub fn new(interrupts: &Interrupts) -> Inbox {
        let (sender, messages) = sync_channel(LINES_AHEAD);
        let interrupted = sender.clone();
        // If the queue is full, the waiting thread is about to take the next message and sees the signal.
        let woken = interrupts.notify(move || drop(interrupted.try_send((0, Message::Interrupted))));
        let interrupts = interrupts.clone();
        Inbox { sender, messages, interrupts, longest_output: LONGEST_OUTPUT, _woken: woken }
    }

    /// An empty one for launchers, whose output has no limit and which no interrupt reaches.
    pub(crate) fn of_launchers() -> Inbox {
        Inbox { longest_output: u64::MAX, ..Inbox::new(&Interrupts::default()) }
    }

    /// A way to add messages.
    pub(crate) fn sender(&self) -> SyncSender<(usize, Message)> {
        self.sender.clone()
    }

    /// The next message with the number of its process; none when `deadline` passes first.
    pub fn next(&self, deadline: Instant) -> Option<(usize, Message)> {
        if self.interrupts.signal().is_some() {
            return Some((0, Message::Interrupted));
        }
        self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

/// A running runner.
pub struct Process {
    child: Child,
    began: SystemTime,
    /// The processes that it starts.
    family: Family,
    /// It has ended, and so has its family.
    gone: bool,
    /// The lines for its standard input.
    input: Option<SyncSender<Vec<u8>>>,
    errors: Receiver<String>,
    /// Removed after all that run under it have ended.
    cap: Option<Arc<MemoryCap>>,
}

impl Process {
    /// Starts a runner, where and how the placement says, and gives it its job as text. Its standard input stays open
    /// for what [`Process::write`] adds until [`Process::end_input`]. What it writes goes to the inbox, under its
    /// number.
    ///
    /// Must be called by a thread that outlives the runner: the kernel kills a child when the thread
    /// that started it ends.
    pub fn start(
        command: &[String],
        job: &[u8],
        placement: &Placement,
        cap: Option<Arc<MemoryCap>>,
        (inbox, number): (&Inbox, usize),
    ) -> Result<Process> {
        let (program, arguments) = command.split_first().context("the runner's start command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments);
        environment::clean(&mut command);
        let family = Family::begin(&mut command)?;
        placed::prepare(placement, &mut command).context("cannot place the runner")?;
        if let Some(cap) = &cap {
            cap.prepare(&mut command)?;
        }
        let process = Process::spawn(command, family, cap, (inbox, number))
            .with_context(|| format!("cannot start the runner {program}"))?;
        process.write(job.to_vec());
        Ok(process)
    }

    /// Starts a program that starts agents, with dyno's own environment: it may need the variables of an `ssh-agent` or
    /// of a job of Slurm. What the agents write goes to the inbox, under the launcher's number, without a limit: one
    /// launcher serves a whole run.
    ///
    /// Must be called by a thread that outlives the launcher, as [`Process::start`].
    pub(crate) fn launch(command: &[String], (inbox, number): (&Inbox, usize)) -> Result<Process> {
        let (program, arguments) = command.split_first().context("the launcher's command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments);
        // A launcher may pass its environment on to every host, as `srun` does.
        for name in environment::SECRET {
            command.env_remove(name);
        }
        let family = Family::begin(&mut command)?;
        placed::guard(&mut command);
        Process::spawn(command, family, None, (inbox, number))
            .with_context(|| format!("cannot start {program}, which --on names: is it installed?"))
    }

    fn spawn(
        mut command: Command,
        family: Family,
        cap: Option<Arc<MemoryCap>>,
        (inbox, number): (&Inbox, usize),
    ) -> Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let began = SystemTime::now();
        let mut child = command.spawn()?;
        let (sender, most) = (inbox.sender.clone(), inbox.longest_output);
        let output = child.stdout.take().context("the process has no standard output")?;
        thread::spawn(move || read_lines(output, number, most, &sender));
        let (sender, errors) = channel();
        let stderr = child.stderr.take().context("the process has no standard error")?;
        thread::spawn(move || sender.send(read_errors(stderr)));
        let mut stdin = child.stdin.take().context("the process has no standard input")?;
        let (input, texts) = sync_channel::<Vec<u8>>(TEXTS_AHEAD);
        // A pipe holds 64 KiB, so a runner that does not read would keep dyno from its clock and its signals. One that
        // dies before it reads is found out by its events and exit status.
        thread::spawn(move || texts.iter().try_for_each(|text| stdin.write_all(&text)));
        Ok(Process { child, began, family, gone: false, input: Some(input), errors, cap })
    }

    /// Adds to the process's standard input, without waiting until it is read, unless much waits already.
    pub fn write(&self, text: Vec<u8>) {
        if let Some(input) = &self.input {
            // A runner that has closed it is found out by its events.
            let _ = input.send(text);
        }
    }

    /// A way for other threads to add to the process's standard input.
    pub(crate) fn input(&self) -> Option<SyncSender<Vec<u8>>> {
        self.input.clone()
    }

    /// Its number in the kernel, and when it was started.
    pub fn identity(&self) -> (u32, SystemTime) {
        (self.child.id(), self.began)
    }

    /// Ends the runner's standard input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for the runner to end unprompted and returns how it ended; kills it if it does not end.
    pub fn finish(self) -> Ending {
        // Its number stays its own until the rest of its group is killed.
        let is_unprompted = ends_within(&self.child, END_TIMEOUT);
        self.ending(is_unprompted, END_TIMEOUT)
    }

    /// Ends a launcher, whose input ends, and returns how it ended. If it is still there after a while, SIGTERM asks it to
    /// end, and only then is it killed: what it has started on other machines would outlive that.
    pub(crate) fn end_within(mut self, patience: Duration) -> Ending {
        self.end_input();
        let is_unprompted = ends_within(&self.child, patience);
        if !is_unprompted {
            // To the launcher alone, which knows what else has to end.
            let _ = kill(self.pid(), Signal::SIGTERM);
            ends_within(&self.child, TERM_TIMEOUT);
        }
        self.ending(is_unprompted, patience)
    }

    /// Kills what is left, and returns how it ended.
    fn ending(mut self, is_unprompted: bool, patience: Duration) -> Ending {
        let status = self.kill().filter(|_| is_unprompted);
        let errors = self.errors.recv_timeout(END_TIMEOUT).unwrap_or_default();
        Ending::of(status, &errors, self.cap.is_some(), patience)
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Ends all that belongs to the runner; returns how it ended itself, if it did.
    fn kill(&mut self) -> Option<ExitStatus> {
        if self.gone {
            return None;
        }
        self.gone = true;
        let group = self.pid();
        // The runner leads a process group, so that most of what it started goes with it at once.
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.kill();
        // A process that waits for a stuck file system cannot be killed; dyno should not wait for it too.
        let status = wait_at_most(&mut self.child, END_TIMEOUT);
        self.family.end(group);
        status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_lines(output: impl Read, number: usize, most: u64, sender: &SyncSender<(usize, Message)>) {
    let mut output = BufReader::new(output);
    let mut total = 0;
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        total += line.len() as u64;
        let message = match read {
            Ok(0) => Message::End,
            Ok(_) if line.len() as u64 == LONGEST_LINE => {
                Message::Unreadable(format!("a line is longer than {} MiB", LONGEST_LINE >> 20))
            }
            Ok(_) if total > most => {
                Message::Unreadable(format!("it is more than {} MiB in one trial", LONGEST_OUTPUT >> 20))
            }
            Ok(_) => Message::Line(line),
            Err(error) => Message::Unreadable(error.to_string()),
        };
        let last = !matches!(message, Message::Line(_));
        if sender.send((number, message)).is_err() || last {
            return;
        }
    }
}

/// The end of what a runner writes to standard error.
fn read_errors(mut stderr: impl Read) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; KEPT_ERRORS];
    while let Ok(read @ 1..) = stderr.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        let surplus = kept.len().saturating_sub(KEPT_ERRORS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
