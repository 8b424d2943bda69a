//! Client processes, as the runner that starts them has them.

use std::env;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use nix::sys::signal::Signal;

use super::CLIENT;
use super::words::{ClientJob, Said};

/// A message of a client, by its position: a line, or that nothing more comes.
pub type Heard = (usize, Option<Vec<u8>>);

/// Client processes. They end with this.
#[derive(Default)]
pub struct Clients(Vec<Client>);

struct Client {
    process: Child,
    /// It has said that it has closed the database.
    closed: bool,
}

impl Clients {
    /// Starts one and gives it its job. Returns its standard output.
    pub fn start(&mut self, job: &ClientJob) -> Result<impl Read + use<>> {
        // The program itself, though it may have been replaced meanwhile.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(env::args_os().next().unwrap_or_default()).arg(CLIENT);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start a process for a client")?;
        let output = child.stdout.take().context("a client has no standard output")?;
        self.0.push(Client { process: child, closed: false });
        let place = self.0.len() - 1;
        let mut text = serde_json::to_vec(job)?;
        text.push(b'\n');
        self.report(place, &text)?;
        Ok(output)
    }

    fn report(&mut self, place: usize, text: &[u8]) -> Result<()> {
        let input = self.0[place].process.stdin.as_mut().context("a client has no standard input")?;
        if input.write_all(text).is_err() {
            return Err(self.lost(place));
        }
        Ok(())
    }

    /// Sends all of them the instant at which they begin.
    pub fn begin(&mut self, moment: Duration) -> Result<()> {
        let line = format!("{}\n", moment.as_nanos());
        (0..self.0.len()).try_for_each(|place| self.report(place, line.as_bytes()))
    }

    /// The next message of a client, with its position; none where a moment comes first.
    ///
    /// # Errors
    /// A client has failed, or has ended before it was done.
    pub fn next(&mut self, hears: &Receiver<Heard>, until: Option<Instant>) -> Result<Option<(usize, Said)>> {
        let left = until.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        let (place, line) = match hears.recv_timeout(left) {
            Ok(heard) => heard,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("no client says anything any more"),
        };
        let Some(line) = line else {
            // One that has closed the database has nothing more to say.
            return if self.0[place].closed { self.next(hears, until) } else { Err(self.lost(place)) };
        };
        match serde_json::from_slice(&line).context("a client says what nobody understands")? {
            Said::Failed(message) => Err(anyhow!(message)),
            said => {
                self.0[place].closed = matches!(said, Said::Closed);
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

    /// Lets all of them, which are done, close the database, and waits until they have ended.
    pub fn end(&mut self, hears: &Receiver<Heard>) -> Result<()> {
        self.0.iter_mut().for_each(|client| drop(client.process.stdin.take()));
        for _ in 0..self.0.len() {
            let said = self.next(hears, None)?;
            ensure!(matches!(said, Some((_, Said::Closed))), "a client said twice that it is done");
        }
        for (place, client) in self.0.iter_mut().enumerate() {
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
