//! Waits for a plan while a thread makes it: hears signals, shows progress, and gives up on a template that takes too
//! much memory or time.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use dyno_lab::machine::available_memory;
use dyno_launch::Interrupts;
use dyno_plan::Plan;
use dyno_suite::Bounds;
use dyno_suite::progress::{PlanningProgress, used_memory};
use nix::sys::resource::{Resource, getrlimit};

use super::outcome::AsInput;
use crate::progress::Progress;

/// The interval between two checks for an interrupt.
const LOOK: Duration = Duration::from_millis(20);
/// The time that the thread has to stop while it writes; a thread that does not stop ends with dyno.
const STOPS: Duration = Duration::from_secs(2);
/// The time limit of one template. A million statements take a second or two.
const LONGEST: Duration = Duration::from_secs(180);
/// The stack that a program's first thread usually has.
const STACK: usize = 8 << 20;

/// Makes a plan whose templates may take `memory` each and whose inputs have `bytes`; None where a signal came first.
///
/// # Errors
/// The plan cannot be made, or a template takes too much.
pub fn make(
    plan: impl FnOnce(&PlanningProgress) -> Result<Plan> + Send + 'static,
    memory: u64,
    bytes: u64,
    interrupts: &Interrupts,
    progress: &mut Progress,
) -> Result<Option<Plan>> {
    progress.announces(bytes);
    let watch = PlanningProgress::default();
    let (sender, made) = channel();
    let watched = watch.clone();
    let work = move || {
        // The receiver is gone where dyno has given up.
        let _ = sender.send(plan(&watched));
    };
    thread::Builder::new()
        .name("plan".into())
        .stack_size(STACK)
        .spawn(work)
        .context("cannot start a thread")?;
    loop {
        match made.recv_timeout(LOOK) {
            Ok(_) if interrupts.signal().is_some() => return Ok(None),
            Ok(plan) => return plan.input().map(Some),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(anyhow!("the plan was not made: its thread died"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupts.signal().is_some() {
            watch.stop();
            let _ = made.recv_timeout(STOPS);
            return Ok(None);
        }
        if let Some(complaint) = takes_too_much(&watch, memory) {
            watch.stop();
            return Err(complaint).input();
        }
        progress.prepares(watch.written(), bytes);
    }
}

/// The error if the template that is being rendered exceeds its time or memory.
fn takes_too_much(watch: &PlanningProgress, most: u64) -> Option<anyhow::Error> {
    let rendering = watch.rendering()?;
    let place = &rendering.place;
    if rendering.began.elapsed() > LONGEST {
        let minutes = LONGEST.as_secs() / 60;
        return Some(anyhow!(
            "{place}: it takes more than {minutes} minutes to render; is there a loop without end?"
        ));
    }
    let more = used_memory().saturating_sub(rendering.memory);
    (more > most).then(|| {
        anyhow!(
            "{place}: its text takes more than {} MiB of memory; does a loop double it? A smaller --scale makes fewer \
             statements",
            most >> 20
        )
    })
}

/// The memory limit of one template, in bytes: half as much again as its longest text, but at most half of what is
/// available, and of what `ulimit -v` allows a quarter, since a text that grows is copied.
pub fn memory(bounds: Bounds) -> u64 {
    let here = available_memory().map_or(u64::MAX, |available| available / 2);
    let allowed = getrlimit(Resource::RLIMIT_AS).map_or(u64::MAX, |(soft, _)| soft);
    (bounds.bytes / 2 * 3).min(here).min(allowed / 4)
}
