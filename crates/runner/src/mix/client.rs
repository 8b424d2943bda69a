//! The loop of one client.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_protocol::MixWork;

use super::attempt::{Attempt, Tried};
use super::board::Window;
use super::executor::Executor;
use super::kept::KeptRows;
use super::program::Program;
use super::recorder::Recorder;
use super::suspension::suspend_until;
use super::totals::Times;
use super::{Step, Steps, Value};
use crate::{Answer, quote};

/// The time by which a client ends its sleep early, in nanoseconds: about as much as the kernel is late in waking a
/// thread whose timer slack is [`SLACK`].
pub const EARLY: u64 = 20_000;
/// The time by which the kernel may delay the end of a sleep to end others with it, in nanoseconds; 50,000 by default
/// (`PR_SET_TIMERSLACK` in prctl(2)).
const SLACK: u64 = 1;

/// One client at work, with any executor of statements.
pub struct Client<'a> {
    pub mix: &'a MixWork,
    pub steps: &'a Steps,
    /// The next step that no client has taken, if clients share the steps.
    pub next: Option<&'a AtomicU64>,
    pub window: Window,
    /// Set when the clients are to end.
    pub stop: &'a AtomicBool,
    /// For each class the position of its first statement.
    pub firsts: &'a [usize],
    /// For each class the order of its statements, where they are not executed one after another.
    pub programs: &'a [Option<Program>],
    /// For each class what its statements keep.
    pub kept: Vec<Vec<KeptRows>>,
    /// The sink of other rows, which counts and keeps none.
    pub answer: Answer,
}

/// The outcome of an operation, and the number of tries that were repeated.
struct Ended {
    retried: u64,
    /// None: nothing came of all tries within the time.
    tried: Option<Tried>,
}

impl Client<'_> {
    /// Does steps until the time is up, or until all are done. `began` is when the clients began.
    ///
    /// # Errors
    /// An operation failed in a way that another try does not mend.
    pub fn work(&mut self, doer: &mut impl Executor, began: Instant, recorder: &mut Recorder) -> Result<()> {
        wake_in_time();
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
            if is_last {
                recorder.begin_anew();
            }
            let step = self.steps.get(place % self.steps.count());
            let due = Some(step.due()).filter(|&due| due > 0);
            // Counting takes time that is part of no operation, and makes the next one late.
            let now = if recorder.count_if_due() { since(began) } else { free };
            let sent = match due.or_else(|| self.thought(&step, free)).filter(|&moment| moment > now) {
                Some(moment) if moment >= self.window.until => break,
                Some(moment) => wait(began, moment),
                None => now,
            };
            free = self.step(doer, &step, (due, free, sent), began, recorder)?;
        }
        self.leave(own, 1, recorder, |step| step.class());
        Ok(())
    }

    /// Once the time is up, counts as unfinished all that was due before its end and was never begun: the first of every
    /// `each` steps, from `own` on where no other client takes part in the steps.
    #[cold]
    pub fn leave(&self, own: u64, each: u64, recorder: &mut Recorder, class: impl Fn(&Step) -> usize) {
        if self.window.until == u64::MAX || self.steps.get(0).due() == 0 {
            return;
        }
        for place in (own..).step_by(each as usize) {
            let place = self.next.map_or(place, |next| next.fetch_add(each, Ordering::Relaxed));
            if place >= self.steps.count() || self.steps.get(place).due() >= self.window.until {
                break;
            }
            let step = self.steps.get(place);
            recorder.unfinished(class(&step), step.due());
        }
    }

    /// Does a step that was due, whose client was free and which is sent at these moments, and records it. Returns when it
    /// was done.
    #[inline]
    pub fn step(
        &mut self,
        doer: &mut impl Executor,
        step: &Step,
        (due, free, sent): (Option<u64>, u64, u64),
        began: Instant,
        recorder: &mut Recorder,
    ) -> Result<u64> {
        let class = step.class();
        let ended = self.operation(doer, class, step, sent, began);
        let ended = ended.with_context(|| format!("class {}", self.mix.classes[class].name))?;
        let done = since(began);
        let (times, retried) = (Times { due, free, sent, done }, ended.retried);
        match ended.tried {
            Some(Tried::Done) => recorder.done(class, times, retried, false),
            Some(Tried::Undone) => recorder.done(class, times, retried, true),
            Some(Tried::Ignored) => recorder.ignored(class, times, retried),
            Some(Tried::Missing(statement)) => {
                recorder.failed(class, times, retried, || self.missing(class, statement));
            }
            None => recorder.failed(class, times, retried, String::new),
        }
        if matches!(ended.tried, Some(Tried::Done | Tried::Undone)) {
            recorder.statements(class, done, doer.executions());
        }
        Ok(done)
    }

    /// Until when a client that is free thinks before it sends a step, if it does.
    #[inline]
    fn thought(&self, step: &Step, free: u64) -> Option<u64> {
        match step.value(self.mix.think?) {
            Value::Integer(think) => Some(free.saturating_add(think.unsigned_abs())),
            _ => None,
        }
    }

    /// One operation, tried again for as long as that may help.
    #[inline]
    fn operation(
        &mut self,
        doer: &mut impl Executor,
        class: usize,
        step: &Step,
        sent: u64,
        began: Instant,
    ) -> Result<Ended> {
        let mut retried = 0;
        loop {
            let error = match self.attempt(doer, class, step) {
                Ok(tried) => return Ok(Ended { retried, tried: Some(tried) }),
                Err(error) => error,
            };
            if self.mix.classes[class].ignores.iter().any(|code| doer.has_code(&error, code)) {
                return Ok(Ended { retried, tried: Some(Tried::Ignored) });
            }
            if !doer.is_retryable(&error) {
                return Err(error);
            }
            if since(began).saturating_sub(sent) > self.mix.patience_of(class) {
                return Ok(Ended { retried, tried: None });
            }
            retried += 1;
        }
    }

    /// One try.
    #[inline]
    fn attempt(&mut self, doer: &mut impl Executor, class: usize, step: &Step) -> Result<Tried> {
        let Client { mix, firsts, programs, kept, answer, .. } = self;
        let (of, program) = (&mix.classes[class], programs[class].as_ref());
        let work = Attempt { of, first: firsts[class], program, kept: &mut kept[class], answer, step };
        match of.transaction {
            Some(purpose) => doer.transaction(purpose, work),
            None => doer.each(work),
        }
    }

    /// Says which statement returned no row.
    #[cold]
    fn missing(&self, class: usize, statement: usize) -> String {
        let text = self.mix.classes[class].statements[statement].text.join("?");
        format!("no row came of {}", quote(&text))
    }
}

/// Has the kernel wake this thread when it asked for it.
pub fn wake_in_time() {
    // If it is refused, steps are sent somewhat later than due, as their records show.
    let _ = nix::sys::prctl::set_timerslack(SLACK);
}

/// Nanoseconds since the clients began.
#[inline]
pub fn since(began: Instant) -> u64 {
    began.elapsed().as_nanos() as u64
}

/// Waits until a moment: asleep while that is far, and then awake, or suspended. Returns when that was.
pub fn wait(began: Instant, due: u64) -> u64 {
    if suspend_until(began + Duration::from_nanos(due)) {
        return since(began);
    }
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
