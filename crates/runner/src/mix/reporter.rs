//! Reports what clients do while they are at work, from what they hand over once a second anyway: nothing is added to an
//! operation. It is the work of the thread that waits for them.

use std::io::{self, Stdout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_protocol::{Event, Interval};

use super::classes::names;
use super::client_thread::Shared;
use crate::events::Events;

/// The delay after the end of an interval until it is reported: clients hand a second over with their next operation.
const LATER: Duration = Duration::from_millis(50);

/// Reports intervals of a mix that lasts a time.
pub struct Reporter<'a> {
    shared: &'a Shared<'a>,
    /// The moment at which the measured time began.
    began: Instant,
    every: Duration,
    /// The number of intervals reported so far.
    reported: u32,
    events: Events<Stdout>,
}

impl<'a> Reporter<'a> {
    /// For clients that began at a moment; none where the job asks for no intervals, or there is no end.
    pub fn new(shared: &'a Shared<'a>, began: Instant) -> Option<Reporter<'a>> {
        let every = Duration::from_nanos(shared.mix.interval_ns.filter(|every| *every > 0)?);
        shared.mix.lasts?;
        let began = began + Duration::from_nanos(shared.window.from);
        Some(Reporter { shared, began, every, reported: 0, events: Events::new(io::stdout()) })
    }

    /// The moment at which the next interval is due.
    pub fn next(&self) -> Instant {
        self.began + self.every * (self.reported + 1) + LATER
    }

    /// Reports an interval.
    ///
    /// # Errors
    /// The reader of the events has gone.
    pub fn report(&mut self) -> Result<()> {
        self.reported += 1;
        let nanoseconds = self.every.as_nanos() as u64;
        let elapsed_ns = nanoseconds * u64::from(self.reported);
        let classes = self.shared.board.news(&names(self.shared.mix));
        let interval = Interval { elapsed_ns, nanoseconds, classes };
        self.events.send(&Event::Interval(interval)).context("cannot write to standard output")
    }
}
