//! Turns: a test is done in slices, and between them the clock stands while others work.
//!
//! A loop over operations asks for a part of them at a time ([`Slices::take`]) and does that part as it would do all.
//! Without turns a part is all of them. Where a turn is used up, the question stops the clock, says so, waits for the
//! next line on standard input and starts the clock again.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;
use dyno_gauge::{Before, Gauge};
use dyno_protocol::{Section, Waiting};

use crate::orders::OrderSource;
use crate::system_clock::{nanoseconds, spin};

/// The turns of one timed section, for its loops over operations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slices<'a>(Option<&'a (dyn SectionParts + 'a)>);

/// Parts of a section, without the lifetimes of who gives them.
trait SectionParts: fmt::Debug {
    fn take(&self, wanted: u64, each: u64) -> Result<u64>;
}

impl<'a> Slices<'a> {
    /// Those of a section that is done in slices.
    pub(crate) fn of(slices: &'a SlicedSection) -> Slices<'a> {
        Slices(Some(slices))
    }

    /// Returns how many of the next `wanted` operations to do before the next call: at least one, if one is wanted.
    /// Without turns it is all of them.
    ///
    /// # Errors
    /// The source of turns has ended.
    #[inline]
    pub fn take(self, wanted: u64) -> Result<u64> {
        self.take_calls(wanted, 1)
    }

    /// The same where one call does `each` operations: as many as whole calls do, but for the last of the wanted.
    ///
    /// # Errors
    /// The source of turns has ended.
    #[inline]
    pub fn take_calls(self, wanted: u64, each: u64) -> Result<u64> {
        match self.0 {
            None => Ok(wanted),
            Some(parts) => parts.take(wanted, each),
        }
    }
}

/// A timed section that is done in slices: its clock and counters run while there is a turn.
pub struct SlicedSection<'a, 'g> {
    gauge: &'a Gauge,
    source: &'a OrderSource<'g>,
    slowdown: f64,
    of: u64,
    done: Cell<u64>,
    /// The number of operations that the turn has left.
    left: Cell<u64>,
    /// The sum of the slices so far.
    section: RefCell<Section>,
    /// The readings of the counters and the clock at which the slice began.
    began: RefCell<(Before, Instant)>,
}

impl<'a, 'g> SlicedSection<'a, 'g> {
    /// Waits for the first turn of a section of `of` operations, and starts the clock. `slowdown` is the share by which
    /// the section is made slower.
    pub fn begin(
        gauge: &'a Gauge,
        source: &'a OrderSource<'g>,
        slowdown: f64,
        of: u64,
    ) -> Result<SlicedSection<'a, 'g>> {
        let slices = SlicedSection {
            gauge,
            source,
            slowdown,
            of,
            done: Cell::new(0),
            left: Cell::new(0),
            section: RefCell::default(),
            began: RefCell::new((Before::default(), Instant::now())),
        };
        slices.wait()?;
        Ok(slices)
    }

    /// Stops the clock and returns the sum of all slices.
    pub fn end(self) -> Section {
        self.stop();
        self.section.into_inner()
    }

    fn wait(&self) -> Result<()> {
        let nanoseconds = self.section.borrow().nanoseconds;
        let waiting = Waiting { done: self.done.get(), of: self.of, nanoseconds };
        self.left.set(self.source.turn(waiting)?.operations);
        let mut began = self.began.borrow_mut();
        began.0 = self.gauge.before();
        began.1 = Instant::now();
        Ok(())
    }

    fn stop(&self) {
        let began = self.began.borrow();
        spin(began.1, self.slowdown);
        let elapsed: Duration = began.1.elapsed();
        let (client, server) = self.gauge.after(&began.0);
        self.section.borrow_mut().add(&Section {
            nanoseconds: nanoseconds(elapsed),
            client,
            server,
            ..Section::default()
        });
    }
}

impl SectionParts for SlicedSection<'_, '_> {
    fn take(&self, wanted: u64, each: u64) -> Result<u64> {
        if self.left.get() == 0 {
            self.stop();
            self.wait()?;
        }
        let left = self.left.get();
        let whole_calls = (left - left % each).max(each);
        let part = whole_calls.min(wanted);
        self.left.set(left.saturating_sub(part));
        self.done.set(self.done.get() + part);
        Ok(part)
    }
}

impl fmt::Debug for SlicedSection<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} operations", self.done.get(), self.of)
    }
}
