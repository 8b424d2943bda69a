//! A runner process: started with its job, read line by line, and gone when dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::interrupt::Interrupts;
use super::memory_cap::MemoryCap;
use crate::placement::Placement;

/// The longest line that a runner may write; a longer one is nonsense, not an event.
const LONGEST_LINE: u64 = 64 << 20;
/// How much of standard error is kept for messages: its end.
const KEPT_ERRORS: usize = 4096;
/// How long a runner may take to end after its last event.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a waiter hears.
#[derive(Debug)]
pub enum Message {
    /// A line of the runner's standard output.
    Line(Vec<u8>),
    /// The end of its standard output.
    End,
    /// A line that cannot be read.
    Unreadable(String),
    /// Somebody asked the run to stop.
    Interrupted,
}

/// A running runner.
pub struct Process {
    child: Child,
    messages: Receiver<Message>,
    errors: Receiver<String>,
    /// Removed after the runner has ended.
    cap: Option<MemoryCap>,
}

impl Process {
    /// Starts a runner, where and how the placement says, and gives it its job as text.
    ///
    /// Must be called by a thread that outlives the runner: the kernel kills a child when the thread
    /// that started it ends.
    pub fn start(
        command: &[String],
        job: &[u8],
        placement: &Placement,
        cap: Option<MemoryCap>,
        interrupts: &Interrupts,
    ) -> Result<Process> {
        let (program, arguments) = command.split_first().context("the runner's start command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        placement.prepare(&mut command).context("cannot place the runner")?;
        if let Some(cap) = &cap {
            cap.prepare(&mut command)?;
        }
        let mut child = command.spawn().with_context(|| format!("cannot start the runner {program}"))?;
        let (sender, messages) = channel();
        interrupts.tell(sender.clone());
        let output = child.stdout.take().context("the runner has no standard output")?;
        thread::spawn(move || read_lines(output, &sender));
        let (sender, errors) = channel();
        let stderr = child.stderr.take().context("the runner has no standard error")?;
        thread::spawn(move || sender.send(read_errors(stderr)));
        let mut input = child.stdin.take().context("the runner has no standard input")?;
        let process = Process { child, messages, errors, cap };
        // A runner that dies before it reads is found out by its events and exit status.
        let _ = input.write_all(job);
        Ok(process)
    }

    /// The next message; none when `deadline` passes first.
    pub fn next(&self, deadline: Instant) -> Option<Message> {
        match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            // The reader sends the end before it goes.
            Err(RecvTimeoutError::Disconnected) => Some(Message::End),
        }
    }

    /// Waits for the runner to end by itself and tells how; kills it if it does not end.
    pub fn finish(mut self) -> Ending {
        let deadline = Instant::now() + PATIENCE;
        let mut status = self.child.try_wait();
        while matches!(status, Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
            status = self.child.try_wait();
        }
        self.kill();
        let errors = self.errors.recv_timeout(PATIENCE).unwrap_or_default();
        Ending { status: status.ok().flatten(), errors, capped: self.cap.is_some() }
    }

    fn kill(&mut self) {
        // The runner leads a process group, so that whatever it started goes with it.
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a runner ended.
pub struct Ending {
    status: Option<ExitStatus>,
    errors: String,
    capped: bool,
}

impl Ending {
    /// Whether it ended by itself, with success.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How it ended, for people, with what it wrote to standard error.
    pub fn describe(&self) -> String {
        let how = match self.status {
            None => format!("did not end within {} s and was killed", PATIENCE.as_secs()),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => match Signal::try_from(signal) {
                    Ok(Signal::SIGKILL) if self.capped => {
                        "was killed, as the kernel does where more memory is needed than --memory allows"
                            .into()
                    }
                    Ok(name) => format!("was killed by {name}"),
                    Err(_) => format!("was killed by signal {signal}"),
                },
                (None, None) => "ended".into(),
            },
        };
        match self.errors.trim() {
            "" => how,
            errors => format!("{how}; it wrote: {errors}"),
        }
    }
}

fn read_lines(output: impl Read, sender: &Sender<Message>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let message = match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => Message::End,
            Ok(_) if line.len() as u64 == LONGEST_LINE => Message::Unreadable("a line without end".into()),
            Ok(_) => Message::Line(line),
            Err(error) => Message::Unreadable(error.to_string()),
        };
        let last = !matches!(message, Message::Line(_));
        if sender.send(message).is_err() || last {
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
