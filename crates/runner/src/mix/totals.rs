//! Counts the operations of a client, by class and by second.

use dyno_gauge::Histogram;

use super::board::{Board, TICK, TICK_DIGITS, TickCounts, Window};
use super::counts::{Counts, Sum};

/// The duration of one execution in nanoseconds, after the position of its statement among those of its class that are
/// timed.
pub type Execution = (usize, u64);

/// The moments at which an operation was due, sent and done, in nanoseconds since the clients began.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// None where it was due as soon as its client was free.
    pub due: Option<u64>,
    /// The moment at which its client was free for it.
    pub free: u64,
    pub sent: u64,
    pub done: u64,
}

impl Times {
    /// The moment at which its response time begins: when it was due, or else sent.
    pub fn from(&self) -> u64 {
        self.due.unwrap_or(self.sent)
    }
}

/// The operations of one client, counted one after another. All memory is reserved before the clock starts.
pub struct Totals<'b> {
    board: &'b Board,
    all: Vec<Counts>,
    /// The current tick: its counts, and how long its operations took.
    tick: Vec<(TickCounts, Histogram)>,
    /// The hundredths of it in which an operation succeeded, as bits.
    succeeded: u128,
    /// True once the client repeats the steps.
    anew: bool,
    place: usize,
    /// The end of the tick, in nanoseconds since the clients began.
    ends: u64,
}

impl<'b> Totals<'b> {
    /// For a number of classes, `due` at times or not.
    pub fn new(board: &'b Board, classes: usize, due: bool) -> Totals<'b> {
        let ends = if board.window.until == u64::MAX { u64::MAX } else { board.window.from + TICK };
        Totals {
            board,
            all: (0..classes).map(|_| Counts::new(3, due)).collect(),
            tick: (0..classes)
                .map(|_| (TickCounts::default(), Histogram::with_digits(TICK_DIGITS)))
                .collect(),
            succeeded: 0,
            anew: false,
            place: 0,
            ends,
        }
    }

    /// Makes room for the executions of this number of statements of each class.
    pub fn time_statements(&mut self, counts: &[usize]) {
        for (class, &count) in self.all.iter_mut().zip(counts) {
            class.statements = (0..count).map(|_| Histogram::with_digits(3)).collect();
        }
    }

    /// Counts the executions of the statements of an operation that was done at a moment.
    #[inline]
    pub fn statements(&mut self, class: usize, done: u64, executions: &[Execution]) {
        let Window { from, until } = self.board.window;
        if !executions.is_empty() && (from..until).contains(&done) {
            let histograms = &mut self.all[class].statements;
            executions.iter().for_each(|&(place, duration)| histograms[place].record(duration));
        }
    }

    /// Counts an operation that succeeded, or was rolled back as planned, after `retried` tries that did not.
    #[inline]
    pub fn done(&mut self, class: usize, times: Times, retried: u64, undone: bool) {
        self.all[class].acknowledged += u64::from(!undone && !self.anew);
        if !self.is_within(times.done) {
            self.after_the_end(class, times);
            return;
        }
        let response = times.done.saturating_sub(times.from());
        let (all, (tick, responses)) = (&mut self.all[class], &mut self.tick[class]);
        all.done += 1;
        all.retried += retried;
        all.undone += u64::from(undone);
        all.response.record(response);
        if self.ends != u64::MAX {
            tick.done += 1;
            tick.retried += retried;
            tick.undone += u64::from(undone);
            responses.record(response);
            self.succeeded |= 1_u128 << ((times.done + TICK - self.ends) / (TICK / 100));
        }
        if let (Some(due), Some(reported)) = (times.due, &mut all.due) {
            reported.service.record(times.done - times.sent);
            // A client that was free only after the operation was due kept it waiting until then.
            reported.wait.record(times.free.saturating_sub(due));
            reported.late.record(times.sent - times.free.max(due));
        }
    }

    /// Counts an operation that ended with an error that the suite ignores: it is done, and has changed nothing.
    #[cold]
    pub fn ignored(&mut self, class: usize, times: Times, retried: u64) {
        self.done(class, times, retried, true);
        let Window { from, until } = self.board.window;
        self.all[class].ignored += u64::from((from..until).contains(&times.done));
    }

    /// Counts an operation that did not succeed. `why` says why; it is empty where that was for want of time.
    pub fn failed(&mut self, class: usize, times: Times, retried: u64, why: impl FnOnce() -> String) {
        if !self.is_within(times.done) {
            self.after_the_end(class, times);
            return;
        }
        let (all, (tick, _)) = (&mut self.all[class], &mut self.tick[class]);
        if all.failure.is_empty() {
            all.failure = why();
        }
        all.failed += 1;
        all.retried += retried;
        tick.failed += 1;
        tick.retried += retried;
    }

    /// From now on the client does steps that it has done before.
    #[cold]
    pub fn begin_anew(&mut self) {
        self.anew = true;
    }

    /// Counts an operation that ended outside the window, if it had to end within it.
    #[cold]
    fn after_the_end(&mut self, class: usize, times: Times) {
        if times.done >= self.board.window.until {
            self.unfinished(class, times.from());
        }
    }

    /// Counts an operation that was due or under way since a moment, and was not done at the end of the window.
    pub fn unfinished(&mut self, class: usize, since: u64) {
        if since < self.board.window.until {
            let ages = self.all[class].unfinished.get_or_insert_default();
            ages.record(self.board.window.until - since);
        }
    }

    /// The end of the current second, in nanoseconds since the clients began; `u64::MAX` where there are none.
    #[inline]
    pub fn ends(&self) -> u64 {
        self.ends
    }

    /// True if an operation that ends now counts. Advances to its tick.
    #[inline]
    fn is_within(&mut self, now: u64) -> bool {
        if now >= self.ends {
            self.turn(now);
        }
        now >= self.board.window.from && now < self.board.window.until
    }

    /// Ends ticks until one holds this moment.
    #[cold]
    fn turn(&mut self, now: u64) {
        self.board.add(self.place, &self.tick, self.succeeded);
        for (counts, response) in &mut self.tick {
            *counts = TickCounts::default();
            response.clear();
        }
        self.succeeded = 0;
        let further = 1 + (now - self.ends) / TICK;
        self.place += further as usize;
        self.ends += further * TICK;
    }

    /// Adds the last tick, and what the client did in all to what others did.
    pub fn end(mut self, sum: &mut Sum) {
        if self.ends != u64::MAX {
            self.turn(self.ends);
        }
        sum.add(self.all);
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Class, Response};

    use super::*;

    fn closed(sent: u64, done: u64) -> Times {
        Times { due: None, free: sent, sent, done }
    }

    #[test]
    fn what_ends_within_the_window_counts_once_and_in_its_tick() {
        let window = Window { from: TICK, until: 3 * TICK + TICK / 2 };
        let board = Board::new(window, 2, true);
        let mut sum = Sum::default();
        for _ in 0..2 {
            let mut totals = Totals::new(&board, 2, false);
            totals.done(0, closed(0, TICK - 1), 0, false);
            totals.done(0, closed(0, TICK), 3, true);
            totals.failed(1, closed(0, 2 * TICK - 1), 1, || "no row".into());
            totals.done(1, closed(3 * TICK, 3 * TICK + 1), 0, false);
            totals.done(1, closed(3 * TICK, window.until), 0, false);
            totals.end(&mut sum);
        }
        let classes = sum.reported(&["a", "b"]);
        let counts = |class: &Class| (class.done, class.failed, class.retried);
        assert_eq!(classes.iter().map(counts).collect::<Vec<_>>(), [(2, 0, 6), (2, 2, 2)]);
        assert!(classes[0].service.is_empty());
        assert_eq!((classes[0].undone, classes[1].failure.as_str()), (2, "no row"));
        let news = board.news(&["a", "b"]);
        assert_eq!(news.iter().map(counts).collect::<Vec<_>>(), [(2, 0, 6), (2, 2, 2)]);
        assert_eq!(news[0].response.histogram().unwrap().unwrap().len(), 2);
        assert_eq!(board.news(&["a", "b"]).iter().map(counts).collect::<Vec<_>>(), [(0, 0, 0), (0, 0, 0)]);
        let ticks = board.reported(&["a", "b"]);
        let reported =
            ticks.iter().map(|tick| (tick.ended_ns, counts(&tick.classes[0]).0, tick.classes[1].done));
        assert_eq!(reported.collect::<Vec<_>>(), [(TICK, 2, 0), (2 * TICK, 0, 0), (5 * TICK / 2, 0, 2)]);
    }

    #[test]
    fn an_hour_of_seconds_takes_as_much_memory_as_it_has_durations() {
        let board = Board::new(Window { from: 0, until: 3600 * TICK }, 1, false);
        let mut totals = Totals::new(&board, 1, false);
        for second in 0..3600 {
            for operation in 0..100 {
                let sent = second * TICK + operation * 1_000_000;
                totals.done(0, closed(sent, sent + 50_000 + 1000 * (operation % 20)), 0, false);
            }
        }
        totals.end(&mut Sum::default());
        let kept = board.durations();
        // The map of a tick takes about twice the bytes of its pairs; a histogram takes 37 kB.
        assert!(kept <= 3600 * 20 && kept * size_of::<(u64, u64)>() < 2_000_000, "{kept} durations");
    }

    #[test]
    fn a_wait_is_split_into_nobody_free_and_late() {
        let board = Board::new(Window { from: 0, until: TICK }, 1, false);
        let (mut sum, mut totals) = (Sum::default(), Totals::new(&board, 1, true));
        totals.done(0, Times { due: Some(1000), free: 500, sent: 1100, done: 1300 }, 0, false);
        totals.done(0, Times { due: Some(1000), free: 1500, sent: 1501, done: 1600 }, 0, false);
        totals.end(&mut sum);
        let class = &sum.reported(&["a"])[0];
        let values = |response: &Response| -> Vec<u64> {
            let histogram = response.histogram().unwrap().unwrap();
            histogram.iter_recorded().map(|step| step.value_iterated_to()).collect()
        };
        assert_eq!((values(&class.response), values(&class.service)), (vec![300, 600], vec![99, 200]));
        assert_eq!((values(&class.wait), values(&class.late)), (vec![0, 500], vec![1, 100]));
    }
}
