//! The life of a client that is a process.

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use dyno_protocol::Work;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use super::shared::{map, monotonic};
use super::words::{ClientJob, Said};
use crate::clock::Clock;
use crate::mix::section::{ProcessClients, perform_part};
use crate::{Engine, Session};

/// The life of a client that is a process: from its job on standard input to what it says on standard output.
pub fn be_client<E: Engine>(mut input: impl BufRead, mut output: impl Write) -> ExitCode {
    let mut say = |said: &Said| -> Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        output.write_all(&line)?;
        Ok(output.flush()?)
    };
    let said = catch_unwind(AssertUnwindSafe(|| part::<E>(&mut input, &mut say)));
    let said = match said {
        Ok(Ok(())) => Said::Closed,
        Ok(Err(error)) => Said::Failed(format!("{error:#}")),
        Err(_) => Said::Failed("a client panicked, which is an error in the runner".to_owned()),
    };
    // If the runner no longer reads, the trial has ended.
    let heard = say(&said).is_ok();
    if heard && matches!(said, Said::Closed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does a client's part.
fn part<E: Engine>(input: &mut impl BufRead, say: &mut dyn FnMut(&Said) -> Result<()>) -> Result<()> {
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
        say(&Said::Ready)?;
        let mut line = String::new();
        input.read_line(&mut line).context("cannot read when to begin")?;
        let moment = line.trim().parse().context("nobody says when to begin")?;
        Ok(Instant::now() + Duration::from_nanos(moment).saturating_sub(monotonic()?))
    };
    // SAFETY: the map is as long as the number, and lies at the beginning of a page. Clients change it by nothing else.
    let next = map.as_ref().map(|map| unsafe { AtomicU64::from_ptr(map.as_ptr().cast_mut().cast()) });
    let part = ProcessClients { before, next };
    let mut done = Err(anyhow!("a session does nothing while it is away: this is an error in the runner"));
    let clock = Clock::new(None);
    if mix.session.is_some() {
        first.step_aside(&mut || {
            done = perform_part(&mix, &mut engine, None, &clock, &part, &mut begin);
        })?;
    } else {
        done = perform_part(&mix, &mut engine, Some(&mut first), &clock, &part, &mut begin);
    }
    say(&Said::Done(Box::new(done?)))?;
    input.read_to_end(&mut Vec::new()).context("cannot read when to end")?;
    first
        .close()
        .and_then(|()| engine.close())
        .with_context(|| format!("{} did not close the database", at()))
}
