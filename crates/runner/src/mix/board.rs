//! The seconds of a section, into which its clients add theirs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use dyno_gauge::Histogram;
use dyno_protocol::{Class, Tick};

/// The length of a tick, in nanoseconds.
pub const TICK: u64 = 1_000_000_000;
/// Significant digits of a tick's histogram: two are enough to show a stall, and take an eighth of the memory of three.
pub const TICK_DIGITS: u8 = 2;

/// The time in which operations count: those that end within it, in nanoseconds since the clients began.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub from: u64,
    /// `u64::MAX` where all steps are done once.
    pub until: u64,
}

/// The operations of one class in one tick.
#[derive(Clone, Default)]
pub(super) struct TickCounts {
    pub done: u64,
    pub failed: u64,
    pub retried: u64,
    pub undone: u64,
    /// The number of operations by duration, for the durations that a histogram of [`TICK_DIGITS`] distinguishes. A
    /// tick has few of its 4,700 durations, so an hour of ticks takes megabytes and not a gigabyte.
    response: BTreeMap<u64, u64>,
}

impl TickCounts {
    fn add(&mut self, counts: &TickCounts, response: &Histogram) {
        self.done += counts.done;
        self.failed += counts.failed;
        self.retried += counts.retried;
        self.undone += counts.undone;
        response.each(|duration, count| *self.response.entry(duration).or_default() += count);
    }

    fn reported(&self, class: &str) -> Class {
        let mut response = Histogram::with_digits(TICK_DIGITS);
        self.response.iter().for_each(|(&duration, &count)| response.record_many(duration, count));
        Class {
            class: class.to_owned(),
            done: self.done,
            failed: self.failed,
            retried: self.retried,
            undone: self.undone,
            response: response.response(),
            ..Class::default()
        }
    }
}

/// A tick of all clients.
#[derive(Clone, Default)]
struct TickSum {
    classes: Vec<TickCounts>,
    /// The hundredths in which an operation succeeded, as bits.
    succeeded: u128,
}

/// The state that the clients of a section share: the classes by tick, into which each adds a tick when it is over.
pub struct Board {
    pub(super) window: Window,
    ticks: Mutex<Ticks>,
}

struct Ticks {
    all: Vec<TickSum>,
    /// The counts added since they were last taken, by class; none where intervals are not reported.
    news: Option<Vec<TickCounts>>,
}

impl Board {
    /// An empty board, which collects news if they are reported. Where all steps are done once there are no ticks.
    pub fn new(window: Window, classes: usize, has_news: bool) -> Board {
        let ticks = if window.until == u64::MAX { 0 } else { (window.until - window.from).div_ceil(TICK) };
        let tick = || TickSum { classes: vec![TickCounts::default(); classes], succeeded: 0 };
        let all = (0..ticks).map(|_| tick()).collect();
        let news = has_news.then(|| vec![TickCounts::default(); classes]);
        Board { window, ticks: Mutex::new(Ticks { all, news }) }
    }

    /// Adds a client's tick by its position, with the hundredths of it in which an operation succeeded.
    pub(super) fn add(&self, place: usize, tick: &[(TickCounts, Histogram)], succeeded: u128) {
        let Ok(mut ticks) = self.ticks.lock() else { return };
        let Ticks { all, news } = &mut *ticks;
        let add = |classes: &mut [TickCounts]| {
            classes.iter_mut().zip(tick).for_each(|(sum, (counts, response))| sum.add(counts, response));
        };
        if let Some(tick) = all.get_mut(place) {
            add(&mut tick.classes);
            tick.succeeded |= succeeded;
        }
        if let Some(news) = news {
            add(news);
        }
    }

    /// The number of different durations that are kept of all ticks.
    #[cfg(test)]
    pub(super) fn durations(&self) -> usize {
        let ticks = self.ticks.lock().unwrap();
        ticks.all.iter().flat_map(|tick| &tick.classes).map(|counts| counts.response.len()).sum()
    }

    /// Takes what was added since this was last called, with the names of the classes. Clients that end a tick meanwhile wait
    /// only for as long as it takes to put an empty one in its place.
    pub fn news(&self, names: &[&str]) -> Vec<Class> {
        let mut empty = vec![TickCounts::default(); names.len()];
        if let Ok(mut ticks) = self.ticks.lock()
            && let Some(news) = &mut ticks.news
        {
            std::mem::swap(news, &mut empty);
        }
        empty.iter().zip(names).map(|(counts, name)| counts.reported(name)).collect()
    }

    /// The ticks, with the names of the classes.
    pub fn reported(self, names: &[&str]) -> Vec<Tick> {
        let ticks = self.ticks.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).all;
        let length = self.window.until - self.window.from;
        let reported = |(place, tick): (u64, &TickSum)| {
            let classes =
                tick.classes.iter().zip(names).map(|(counts, name)| counts.reported(name)).collect();
            let ended_ns = ((place + 1) * TICK).min(length);
            let mut reported = Tick { ended_ns, classes, ..Tick::default() };
            reported.set_succeeded(tick.succeeded);
            reported
        };
        (0..).zip(&ticks).map(reported).collect()
    }
}
