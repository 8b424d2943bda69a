//! Records the operations of a client.
//!
//! The loop only appends an entry for each operation to a list of fixed length. When the list is full, or a second has ended,
//! the entries are counted between two operations: that time is part of the section and of no operation.

use super::board::Board;
use super::counts::Sum;
use super::totals::{Execution, Times, Totals};

/// Entries that are counted together: few enough for a processor's first cache, and enough that the parts of the histograms
/// that are in use have come into it with the first of them.
const ENTRIES: usize = 256;
/// Executions of statements that are counted together.
const EXECUTIONS: usize = 2048;

/// The records of one client. All memory is reserved before the clock starts.
pub struct Recorder<'b> {
    entries: Vec<Entry>,
    executions: Vec<TimedExecution>,
    /// True if the entries are to be counted before the next operation.
    is_due: bool,
    /// True once the client repeats the steps.
    anew: bool,
    totals: Totals<'b>,
}

/// An operation that was done.
#[derive(Clone, Copy)]
struct Entry {
    times: Times,
    retried: u32,
    class: u16,
    ending: Ending,
}

/// The way in which an operation was done.
#[derive(Clone, Copy)]
enum Ending {
    Done,
    Undone,
    Ignored,
}

/// One execution of a statement of a class, in an operation that was done at a moment.
#[derive(Clone, Copy)]
struct TimedExecution {
    class: usize,
    done: u64,
    execution: Execution,
}

impl<'b> Recorder<'b> {
    /// For a number of classes, `due` at times or not.
    pub fn new(board: &'b Board, classes: usize, due: bool) -> Recorder<'b> {
        let totals = Totals::new(board, classes, due);
        let (entries, executions) = (Vec::with_capacity(ENTRIES), Vec::new());
        Recorder { entries, executions, is_due: false, anew: false, totals }
    }

    /// Makes room for the executions of this number of statements of each class.
    pub fn time_statements(&mut self, counts: &[usize]) {
        self.totals.time_statements(counts);
        if counts.iter().any(|&count| count > 0) {
            self.executions.reserve(2 * EXECUTIONS);
        }
    }

    /// Records the executions of the statements of an operation that was done at a moment.
    #[inline]
    pub fn statements(&mut self, class: usize, done: u64, executions: &[Execution]) {
        let timed = executions.iter().map(|&execution| TimedExecution { class, done, execution });
        self.executions.extend(timed);
        self.is_due |= self.executions.len() >= EXECUTIONS;
    }

    /// Records an operation that succeeded, or was rolled back as planned, after `retried` tries that did not.
    #[inline]
    pub fn done(&mut self, class: usize, times: Times, retried: u64, undone: bool) {
        self.push(class, times, retried, if undone { Ending::Undone } else { Ending::Done });
    }

    /// Records an operation that ended with an error that the suite ignores: it is done, and has changed nothing.
    #[inline]
    pub fn ignored(&mut self, class: usize, times: Times, retried: u64) {
        self.push(class, times, retried, Ending::Ignored);
    }

    #[inline]
    fn push(&mut self, class: usize, times: Times, retried: u64, ending: Ending) {
        // A suite has fewer classes, and an operation fewer tries.
        let (class, retried) = (class as u16, retried as u32);
        self.entries.push(Entry { times, retried, class, ending });
        self.is_due |= self.entries.len() >= ENTRIES || times.done >= self.totals.ends();
    }

    /// Records an operation that did not succeed. `why` says why; it is empty where that was for want of time.
    #[cold]
    pub fn failed(&mut self, class: usize, times: Times, retried: u64, why: impl FnOnce() -> String) {
        self.count();
        self.totals.failed(class, times, retried, why);
    }

    /// From now on the client does steps that it has done before.
    #[inline]
    pub fn begin_anew(&mut self) {
        if !self.anew {
            self.anew = true;
            self.count();
            self.totals.begin_anew();
        }
    }

    /// Records an operation that was due or under way since a moment, and was not done at the end of the window.
    pub fn unfinished(&mut self, class: usize, since: u64) {
        self.totals.unfinished(class, since);
    }

    /// Counts what was recorded, if it is time to. Returns false if that took no time.
    #[inline]
    pub fn count_if_due(&mut self) -> bool {
        if self.is_due {
            self.count();
        }
        std::mem::take(&mut self.is_due)
    }

    #[inline(never)]
    fn count(&mut self) {
        for Entry { times, class, ending, retried } in self.entries.drain(..) {
            let (class, retried) = (class.into(), retried.into());
            match ending {
                Ending::Done => self.totals.done(class, times, retried, false),
                Ending::Undone => self.totals.done(class, times, retried, true),
                Ending::Ignored => self.totals.ignored(class, times, retried),
            }
        }
        for TimedExecution { class, done, execution } in self.executions.drain(..) {
            self.totals.statements(class, done, &[execution]);
        }
    }

    /// Counts the rest, and adds what the client did in all to what others did.
    pub fn end(mut self, sum: &mut Sum) {
        self.count();
        self.totals.end(sum);
    }
}

#[cfg(test)]
mod tests {
    use dyno_protocol::{Class, Tick};

    use super::super::board::{TICK, Window};
    use super::*;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    /// Numbers that look random: a linear congruential generator (Knuth's MMIX).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// An event in the life of a client: the end of an operation, or the beginning of steps that it has done before.
    #[derive(Clone)]
    enum Deed {
        Done(usize, Times, u64, bool, Vec<Execution>),
        Ignored(usize, Times, u64),
        Failed(usize, Times, u64),
        Unfinished(usize, u64),
        BeginAnew,
    }

    fn deeds(numbers: &mut Numbers, count: u64, has_due: bool) -> Vec<Deed> {
        let mut free = 0;
        let one = |_| {
            let class = numbers.below(3) as usize;
            let due = (has_due && numbers.below(2) == 0)
                .then(|| (free + numbers.below(3_000_000)).saturating_sub(1_000_000));
            let sent = free.max(due.unwrap_or(0)) + numbers.below(1000);
            // Most are short, a few last for seconds.
            let long = if numbers.below(500) == 0 { 3 * TICK } else { 4_000_000 };
            let times = Times { due, free, sent, done: sent + numbers.below(long) };
            free = times.done;
            let retried = numbers.below(3);
            match numbers.below(40) {
                0 => Deed::Failed(class, times, retried),
                1 => Deed::Ignored(class, times, retried),
                2 => Deed::Unfinished(class, times.sent),
                3 => Deed::BeginAnew,
                _ => {
                    let execution = |place| (place, numbers.below(9_000));
                    let executions = (0..(times.done % 3) as usize).map(execution).collect();
                    Deed::Done(class, times, retried, times.done.is_multiple_of(9), executions)
                }
            }
        };
        (0..count).map(one).collect()
    }

    /// The sums by class, the seconds, and the news that came every hundred deeds.
    type Reported = (Vec<Class>, Vec<Tick>, Vec<Class>);

    fn reported(window: Window, sum: Sum, board: Board) -> Reported {
        let news = board.news(&NAMES);
        let ticks = if window.until == u64::MAX { Vec::new() } else { board.reported(&NAMES) };
        (sum.reported(&NAMES), ticks, news)
    }

    /// Counts each deed when it is done.
    fn at_once(window: Window, clients: &[Vec<Deed>], is_due: bool) -> Reported {
        let (board, mut sum) = (Board::new(window, 3, true), Sum::default());
        for deeds in clients {
            let mut totals = Totals::new(&board, 3, is_due);
            totals.time_statements(&[2; 3]);
            for deed in deeds.clone() {
                match deed {
                    Deed::Done(class, times, retried, undone, executions) => {
                        totals.done(class, times, retried, undone);
                        totals.statements(class, times.done, &executions);
                    }
                    Deed::Ignored(class, times, retried) => totals.ignored(class, times, retried),
                    Deed::Failed(class, times, retried) => {
                        totals.failed(class, times, retried, || format!("at {}", times.done));
                    }
                    Deed::Unfinished(class, since) => totals.unfinished(class, since),
                    Deed::BeginAnew => totals.begin_anew(),
                }
            }
            totals.end(&mut sum);
        }
        reported(window, sum, board)
    }

    /// Records each deed, and counts when it is due.
    fn recorded(window: Window, clients: &[Vec<Deed>], is_due: bool) -> Reported {
        let (board, mut sum) = (Board::new(window, 3, true), Sum::default());
        for deeds in clients {
            let mut recorder = Recorder::new(&board, 3, is_due);
            recorder.time_statements(&[2; 3]);
            for deed in deeds.clone() {
                recorder.count_if_due();
                match deed {
                    Deed::Done(class, times, retried, undone, executions) => {
                        recorder.done(class, times, retried, undone);
                        recorder.statements(class, times.done, &executions);
                    }
                    Deed::Ignored(class, times, retried) => recorder.ignored(class, times, retried),
                    Deed::Failed(class, times, retried) => {
                        recorder.failed(class, times, retried, || format!("at {}", times.done));
                    }
                    Deed::Unfinished(class, since) => recorder.unfinished(class, since),
                    Deed::BeginAnew => recorder.begin_anew(),
                }
                assert!(recorder.entries.len() <= ENTRIES && recorder.entries.capacity() == ENTRIES);
            }
            recorder.end(&mut sum);
        }
        reported(window, sum, board)
    }

    #[test]
    fn what_is_counted_later_comes_to_the_same() {
        let mut numbers = Numbers(1);
        for round in 0..24 {
            let is_due = round % 2 == 0;
            let from = numbers.below(2) * TICK;
            let until = if round % 3 == 0 { u64::MAX } else { from + (1 + numbers.below(6)) * TICK / 2 };
            let window = Window { from, until };
            let count = numbers.below(4_000);
            let clients: Vec<_> = (0..3).map(|_| deeds(&mut numbers, count, is_due)).collect();
            let (expected, found) = (at_once(window, &clients, is_due), recorded(window, &clients, is_due));
            assert!(expected == found, "round {round}");
        }
    }

    #[test]
    fn a_second_is_handed_over_with_the_first_operation_after_it() {
        let board = Board::new(Window { from: 0, until: 3 * TICK }, 1, true);
        let mut recorder = Recorder::new(&board, 1, false);
        let times = |done| Times { due: None, free: done - 1, sent: done - 1, done };
        recorder.done(0, times(TICK - 1), 0, false);
        assert_eq!((recorder.count_if_due(), board.news(&["a"])[0].done), (false, 0));
        recorder.done(0, times(TICK + 1), 0, false);
        assert_eq!((recorder.count_if_due(), board.news(&["a"])[0].done), (true, 1));
        assert!(!recorder.count_if_due());
    }
}
