//! The loop of one client.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result};
use dyno_protocol::{MixClass, MixWork};

use super::recorder::{Recorder, Times, Window};
use super::{Prepared, Step, Steps};
use crate::Answer;

/// How much earlier than due a client ends its sleep, in nanoseconds: about as much later than asked the kernel wakes
/// a thread whose timer slack is [`SLACK`].
const EARLY: u64 = 20_000;
/// How much the kernel may put off the end of a sleep to end others with it, in nanoseconds; 50,000 where nobody asks
/// (`PR_SET_TIMERSLACK` in prctl(2)).
const SLACK: u64 = 1;

/// One client at work.
pub struct Client<'a, P> {
    pub mix: &'a MixWork,
    pub statements: P,
    pub steps: &'a Steps,
    /// Where others have a part in the steps: the next one that nobody has.
    pub next: Option<&'a AtomicU64>,
    pub window: Window,
    /// Whether somebody wants the clients to end.
    pub stop: &'a AtomicBool,
    /// For each class the position of its first statement.
    pub firsts: &'a [usize],
    /// Where rows go. It counts and keeps none.
    pub answer: Answer,
}

/// How an operation ended.
enum Ended {
    Done { retried: u64 },
    Failed { retried: u64 },
}

impl<P: Prepared> Client<'_, P> {
    /// Does steps until the time is up, or until all are done. `began` is when the clients began.
    ///
    /// # Errors
    /// An operation failed in a way that another try does not mend.
    pub fn work(&mut self, began: Instant, recorder: &mut Recorder) -> Result<()> {
        // Where it is refused, steps are sent somewhat later than due, which their record tells.
        let _ = nix::sys::prctl::set_timerslack(SLACK);
        let mut own = 0;
        let mut free = since(began);
        while free < self.window.until && !self.stop.load(Ordering::Relaxed) {
            let place = match self.next {
                Some(next) => next.fetch_add(1, Ordering::Relaxed),
                None => own,
            };
            own += 1;
            // Steps with times are done once; others begin anew where a time is what ends them.
            let is_last = place >= self.steps.count();
            if is_last && (self.window.until == u64::MAX || self.steps.get(0).due() > 0) {
                break;
            }
            let step = self.steps.get(place % self.steps.count());
            let due = Some(step.due()).filter(|&due| due > 0);
            let sent = match due.filter(|&due| due > free) {
                Some(due) if due >= self.window.until => break,
                Some(due) => wait(began, due),
                None => free,
            };
            let class = step.class();
            let ended = self.operation(class, &step, sent, began);
            let ended = ended.with_context(|| format!("class {}", self.mix.classes[class].name))?;
            let done = since(began);
            match ended {
                Ended::Done { retried } => recorder.done(class, Times { due, free, sent, done }, retried),
                Ended::Failed { retried } => recorder.failed(class, done, retried),
            }
            free = done;
        }
        Ok(())
    }

    /// One operation, tried again for as long as that may help.
    #[inline]
    fn operation(&mut self, class: usize, step: &Step, sent: u64, began: Instant) -> Result<Ended> {
        let (mix, first) = (self.mix, self.firsts[class]);
        let class = &mix.classes[class];
        let mut retried = 0;
        loop {
            let error = match self.attempt(class, first, step) {
                Ok(()) => return Ok(Ended::Done { retried }),
                Err(error) => error,
            };
            if !self.statements.may_pass(&error) {
                return Err(error);
            }
            if since(began).saturating_sub(sent) > self.mix.patience_ns {
                return Ok(Ended::Failed { retried });
            }
            retried += 1;
        }
    }

    /// One try. `first` is the position of the class's first statement.
    #[inline]
    fn attempt(&mut self, class: &MixClass, first: usize, step: &Step) -> Result<()> {
        let Some(purpose) = class.transaction else {
            return self.statements_of(class, first, step);
        };
        self.statements.begin(purpose)?;
        let done = self.statements_of(class, first, step).and_then(|()| self.statements.commit());
        done.map_err(|error| self.undo(error))
    }

    #[inline]
    fn statements_of(&mut self, class: &MixClass, first: usize, step: &Step) -> Result<()> {
        let mut statements = first..first + class.statements.len();
        statements.try_for_each(|statement| self.statements.run(statement, step, &mut self.answer))
    }

    /// Ends the transaction in which an error happened.
    #[cold]
    fn undo(&mut self, error: Error) -> Error {
        match self.statements.rollback() {
            Ok(()) => error,
            // What went wrong first is the cause.
            Err(second) => error.context(format!("and the rollback failed ({second:#})")),
        }
    }
}

/// Nanoseconds since the clients began.
#[inline]
fn since(began: Instant) -> u64 {
    began.elapsed().as_nanos() as u64
}

/// Waits until a moment: asleep while that is far, and then awake. Returns when that was.
fn wait(began: Instant, due: u64) -> u64 {
    let now = since(began);
    if due > now + EARLY {
        std::thread::sleep(Duration::from_nanos(due - now - EARLY));
    }
    loop {
        let now = since(began);
        if now >= due {
            return now;
        }
        std::hint::spin_loop();
    }
}
