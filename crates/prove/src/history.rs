//! The operations on a recorded disk, with the commits in their places.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use dyno_record::DiskOperations;

use crate::disk::log::Entry;
use crate::phase::PhaseMarker;

/// The meaning of a line of a program's standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// This commit is about to begin.
    Begins(u64),
    /// This commit was acknowledged: from now on it must not be lost.
    Acknowledged(u64),
    /// Upkeep of this name is about to begin.
    Upkeep(String),
    /// Nothing of them.
    Other,
}

/// Reads `begin 7` and `ack 7`.
pub fn words(line: &str) -> Line {
    match line.split_once(' ').map(|(word, number)| (word, number.trim().parse())) {
        Some(("ack", Ok(number))) => Line::Acknowledged(number),
        Some(("begin", Ok(number))) => Line::Begins(number),
        _ => Line::Other,
    }
}

/// Work other than commits, as a checkpoint or the closing of the database, in which something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upkeep {
    /// Its name.
    pub name: String,
    /// Its entries of the log.
    pub range: Range<usize>,
}

/// The name of the upkeep at the end of a session.
pub const CLOSE: &str = "orderly close";

/// The entries of a log, and the commits in their places among them.
#[derive(Debug)]
pub struct History {
    entries: Vec<Entry>,
    /// In the order of the log: how many entries were there before.
    begun: Vec<(usize, u64)>,
    acknowledged: Vec<(usize, u64)>,
    /// From the last mark that the work begins to the one that it ends; everything where there are none.
    at_work: Range<usize>,
    /// In the order of the log: the upkeep that began, and after how many entries.
    kept_up: Vec<(usize, String)>,
    /// In the order of the log: the sessions but the last were closed before these entries.
    closed: Vec<usize>,
    /// The number of acknowledgements that were written together with another one.
    bundled: u64,
}

impl History {
    /// Finds the commits among the entries, and when the program was at work.
    pub fn new(entries: Vec<Entry>, read: impl Fn(&str) -> Line) -> History {
        let at_work = PhaseMarker::Begins.place(&entries).unwrap_or(0)
            ..PhaseMarker::Ends.place(&entries).unwrap_or(entries.len());
        let (mut begun, mut acknowledged, mut bundled) = (Vec::new(), Vec::new(), 0);
        let (mut kept_up, mut closed) = (Vec::new(), Vec::new());
        let mut line = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let Entry::Text(bytes) = entry else { continue };
            let mut here = 0;
            for &byte in bytes {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                let text = String::from_utf8_lossy(&line);
                if PhaseMarker::Closed.is_line(&text) {
                    closed.push(place);
                }
                match read(text.trim()) {
                    Line::Begins(number) => begun.push((place, number)),
                    Line::Acknowledged(number) => {
                        acknowledged.push((place, number));
                        here += 1;
                    }
                    Line::Upkeep(name) => kept_up.push((place, name)),
                    Line::Other => {}
                }
                line.clear();
            }
            bundled += if here > 1 { here } else { 0 };
        }
        History { entries, begun, acknowledged, at_work, kept_up, closed, bundled }
    }

    /// Takes in what comes before a server answers: the recovery of its data.
    #[must_use]
    pub fn with_recovery(mut self) -> History {
        self.at_work.start = PhaseMarker::Begins.first(&self.entries).unwrap_or(self.at_work.start);
        self
    }

    /// Leaves out what comes before the first commit begins and after the last is acknowledged.
    #[must_use]
    pub fn of_commits(mut self) -> History {
        let first = self.begun.first().or(self.acknowledged.first()).map(|&(place, _)| place);
        let last = self.acknowledged.last().map(|&(place, _)| place + 1);
        if let (Some(first), Some(last)) = (first, last) {
            self.at_work = first..last;
        }
        self
    }

    /// Everything in its order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The places at which a cut asks something of the program: a place is how many entries came before. `from_start`
    /// says that something is there before the first acknowledgement, which must not be lost.
    pub fn places(&self, from_start: bool) -> Range<usize> {
        let first = self.acknowledged.first().map(|&(place, _)| place + 1);
        let first = if from_start { Some(self.at_work.start + 1) } else { first };
        first.unwrap_or(self.at_work.end).min(self.at_work.end)..self.at_work.end
    }

    /// The upkeep in which something was written: what began between two commits, and the end of each session from its
    /// last commit on, with the opening of the next.
    pub fn upkeep(&self) -> Vec<Upkeep> {
        let closes: Vec<usize> = self.closed.iter().copied().chain([self.at_work.end]).collect();
        let named = |name: &str, start: usize, end: usize| Upkeep {
            name: name.to_owned(),
            range: start..end.max(start),
        };
        let began = self.kept_up.iter().map(|(place, name)| {
            let close = closes.iter().copied().find(|end| end > place).unwrap_or(*place);
            named(name, *place, self.next(*place).min(close))
        });
        let closed = closes.iter().map(|&close| {
            let lines = self.acknowledged.iter().map(|&(place, _)| place);
            let lines = lines.chain(self.kept_up.iter().map(|&(place, _)| place));
            let last = lines.filter(|&place| place < close).max().unwrap_or(close);
            named(CLOSE, last, self.next(close))
        });
        let mut upkeep: Vec<Upkeep> = began.chain(closed).collect();
        upkeep.retain(|one| self.entries[one.range.clone()].iter().any(|entry| entry.written().is_some()));
        upkeep
    }

    /// The position at which the next commit begins, or the work ends.
    fn next(&self, place: usize) -> usize {
        let lines = if self.begun.is_empty() { &self.acknowledged } else { &self.begun };
        lines.iter().map(|&(place, _)| place).find(|&next| next > place).unwrap_or(self.at_work.end)
    }

    /// The places after which what was flushed stays the same until the next flush, each where the most is promised:
    /// right after the last acknowledgement before that flush or, where none came, right after the flush. The last one
    /// is the end of the work.
    pub fn between_flushes(&self, from_start: bool) -> Vec<usize> {
        let places = self.places(from_start);
        if self.acknowledged.is_empty() && !from_start {
            return Vec::new();
        }
        let flushes = places.clone().filter(|&place| self.entries.get(place).is_some_and(Entry::is_flush));
        let ends: Vec<usize> = flushes.chain([places.end]).collect();
        let mut found: Vec<usize> = Vec::new();
        let mut start = places.start;
        for end in ends {
            let promised = self.acknowledged.iter().map(|&(place, _)| place + 1);
            let last = promised.filter(|place| (start..=end).contains(place)).max();
            found.push(last.unwrap_or(start).min(end));
            start = end + 1;
        }
        found.retain(|place| places.contains(place) || *place == places.end);
        found.dedup();
        found
    }

    /// The places right after each acknowledgement.
    pub fn acknowledgements(&self) -> Vec<usize> {
        self.acknowledged.iter().map(|&(place, _)| place + 1).collect()
    }

    /// The commits that were acknowledged before a place.
    pub fn promised(&self, place: usize) -> BTreeSet<u64> {
        before(&self.acknowledged, place)
    }

    /// The commits that may be there after a cut: those that had begun. A program that does not report when it begins a
    /// commit may have begun any.
    pub fn begun(&self, place: usize) -> Option<BTreeSet<u64>> {
        (!self.begun.is_empty()).then(|| before(&self.begun, place))
    }

    /// True if a commit may be there after a cut.
    pub fn may_have(&self, place: usize, commit: u64) -> bool {
        self.begun.is_empty() || self.begun.iter().any(|&(begin, number)| begin < place && number == commit)
    }

    /// The disk operations per commit.
    pub fn observed(&self) -> DiskOperations {
        let commits = self.acknowledged.len() as u64;
        let mut observed = DiskOperations { commits, bundled: self.bundled, ..DiskOperations::default() };
        let stretches = self.stretches();
        let counted: usize = stretches.iter().map(|stretch| stretch.len() - 1).sum();
        // A single one has nothing before it but the beginning.
        let entries: Vec<&Entry> = match self.acknowledged[..] {
            [] => return observed,
            [only] => self.within_commits(self.at_work.start, &[only]).collect(),
            _ if counted == 0 => self.after_the_first(&self.acknowledged).collect(),
            _ => stretches.iter().flat_map(|stretch| self.after_the_first(stretch)).collect(),
        };
        let counted = if counted == 0 { (commits - 1).max(1) } else { counted as u64 };
        let each = |sum: u64| sum as f64 / counted as f64;
        let (mut flushes, mut writes, mut bytes) = (0, 0, 0);
        for entry in entries {
            flushes += u64::from(entry.is_flush());
            if let Some(written) = entry.written() {
                writes += 1;
                bytes += written as u64;
            }
        }
        (observed.flushes, observed.writes, observed.bytes) = (each(flushes), each(writes), each(bytes));
        observed.unflushed = self.unflushed();
        observed
    }

    /// The acknowledgements between each two of upkeep and openings, without those of commits that had begun before.
    /// The first of a stretch finishes what came before it, as SQLite begins its log anew after a checkpoint, and costs
    /// more than a commit does.
    fn stretches(&self) -> Vec<Vec<(usize, u64)>> {
        let upkeep = self.kept_up.iter().map(|&(place, _)| place);
        let mut starts: Vec<usize> = upkeep.chain(self.closed.iter().copied()).chain([0]).collect();
        starts.sort_unstable();
        let ends = starts[1..].iter().copied().chain([usize::MAX]);
        let stretches = starts.iter().zip(ends).map(|(&start, end)| {
            let within = |&&(place, _): &&(usize, u64)| (start..end).contains(&place);
            let after = |&&(place, commit): &&(usize, u64)| {
                self.begin(place, commit).is_none_or(|begin| begin >= start)
            };
            self.acknowledged.iter().filter(within).filter(after).copied().collect()
        });
        stretches.filter(|stretch: &Vec<_>| !stretch.is_empty()).collect()
    }

    /// The entries of the commits but the first.
    fn after_the_first(&self, acknowledged: &[(usize, u64)]) -> impl Iterator<Item = &Entry> + use<'_> {
        let (first, others) = acknowledged.split_first().map_or((0, acknowledged), |(one, all)| (one.0, all));
        self.within_commits(first, others)
    }

    /// The entries of commits from a place on, each once however many commits it is a part of: from the begin of a
    /// commit, or from the acknowledgement before it, to its own. What a program does between its commits is no part of
    /// them where it reports when they begin.
    fn within_commits(&self, first: usize, ends: &[(usize, u64)]) -> impl Iterator<Item = &Entry> + use<'_> {
        let mut done = first;
        let mut entries: Vec<&[Entry]> = Vec::new();
        let starts = ends.iter().map(|&(end, commit)| self.begin(end, commit));
        // A later acknowledgement may be of a commit that began earlier: of all that end from here on, the earliest
        // counts.
        let mut earliest: Vec<usize> = starts.map(|start| start.unwrap_or(first)).collect();
        for at in (1..earliest.len()).rev() {
            earliest[at - 1] = earliest[at - 1].min(earliest[at]);
        }
        for (&(end, _), start) in ends.iter().zip(earliest) {
            entries.push(&self.entries[start.max(done).min(end)..end]);
            done = end;
        }
        entries.into_iter().flatten()
    }

    /// The position at which a commit began that was acknowledged at a position, if the program reports that.
    fn begin(&self, end: usize, commit: u64) -> Option<usize> {
        let is_its = |&&(place, number): &&(usize, u64)| number == commit && place <= end;
        self.begun.iter().rev().find(is_its).map(|&(place, _)| place)
    }

    /// The number of commits that were certainly acknowledged without a flush: none ended since they began. For a
    /// program that does not report when it begins a commit, that is certain only before the first flush of its work,
    /// since one flush can be that of many commits.
    fn unflushed(&self) -> u64 {
        let is_unflushed = |&&(end, commit): &&(usize, u64)| {
            let begin = self.begin(end, commit).unwrap_or(self.at_work.start).min(end);
            !self.entries[begin..end].iter().any(Entry::is_flush)
        };
        self.acknowledged.iter().filter(is_unflushed).count() as u64
    }
}

fn before(commits: &[(usize, u64)], place: usize) -> BTreeSet<u64> {
    commits.iter().filter(|commit| commit.0 < place).map(|commit| commit.1).collect()
}
