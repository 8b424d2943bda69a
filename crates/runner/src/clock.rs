//! The two readings of the clock, with the counters just outside them.

use std::time::Instant;

use anyhow::Result;
use dyno_gauge::{Before, Gauge, Ready};
use dyno_protocol::{Sample, Section};

use crate::orders::OrderSource;
use crate::slices::{SlicedSection, Slices};
use crate::system_clock::{monotonic, nanoseconds, spin};

/// The counters of a section whose clients are let go before its clock starts.
pub enum Counted {
    /// Ready to be read when it starts, because the clients warm up before.
    Ready(Ready),
    /// Read before a client was let go.
    Read(Before),
}

/// Times sections of one trial.
pub struct Clock<'a> {
    gauge: Gauge,
    source: Option<&'a OrderSource<'a>>,
    slowdown: f64,
}

impl<'a> Clock<'a> {
    /// Opens the counters of this process, and of the server of these main processes, if there is one.
    pub fn new(server: &[u32]) -> Clock<'a> {
        Clock { gauge: Gauge::open(server), source: None, slowdown: 0.0 }
    }

    /// The same clock with a source of turns.
    pub fn with_turns(self, source: Option<&'a OrderSource<'a>>) -> Clock<'a> {
        Clock { source, ..self }
    }

    /// The same where sections are to be slower by a share of what they take.
    pub fn slowed(self, slowdown: f64) -> Clock<'a> {
        Clock { slowdown, ..self }
    }

    /// Does the work, which knows no turns, and returns what it came to and what it cost: the sample's section.
    #[inline]
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (T, Sample) {
        self.time_from(self.gauge.before(), work)
    }

    /// Gets the counters ready before clients are let go. Those of clients that do not warm up are read here: once
    /// hundreds of them are at work, a thread that reads is kept from its next call for a large part of the section.
    pub fn count(&self, warms_up: bool) -> Counted {
        let ready = self.gauge.prepare();
        if warms_up { Counted::Ready(ready) } else { Counted::Read(self.gauge.before_by(&ready)) }
    }

    /// Times the rest of a section whose clients are at work.
    pub fn time_clients<T>(&self, counted: Counted, work: impl FnOnce() -> T) -> (T, Sample) {
        let before = match counted {
            Counted::Ready(ready) => self.gauge.before_at_work(&ready),
            Counted::Read(before) => before,
        };
        self.time_from(before, work)
    }

    #[inline]
    fn time_from<T>(&self, before: Before, work: impl FnOnce() -> T) -> (T, Sample) {
        let began_ns = monotonic();

        let clock = Instant::now();
        let result = work();
        spin(clock, self.slowdown);
        let elapsed = clock.elapsed();

        let (client, server) = self.gauge.after(&before);
        let section =
            Section { nanoseconds: nanoseconds(elapsed), began_ns, client, server, ..Section::default() };
        (result, Sample { section, ..Sample::default() })
    }

    /// Times work of `of` operations (1: a single piece), in slices where the job wants turns.
    ///
    /// # Errors
    /// There was no first turn.
    #[inline]
    pub fn time_in_turns<T>(&self, of: u64, work: impl FnOnce(Slices) -> T) -> Result<(T, Sample)> {
        let Some(source) = self.source else { return Ok(self.time(|| work(Slices::default()))) };
        let slices = SlicedSection::begin(&self.gauge, source, self.slowdown, of)?;
        let result = work(Slices::of(&slices));
        Ok((result, Sample { section: slices.end(), ..Sample::default() }))
    }
}
