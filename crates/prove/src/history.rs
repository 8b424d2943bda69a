//! What happened on a recorded disk, with the commits in their places.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Serialize;

use crate::disk::log::Entry;
use crate::mark::Mark;
use crate::subject::CLIENT;

/// What a line of a program's standard output says of its commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// This commit is about to begin.
    Begins(u64),
    /// This commit was acknowledged: from now on it must not be lost.
    Acknowledged(u64),
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

/// The entries of a log, and the commits in their places among them.
#[derive(Debug)]
pub struct History {
    entries: Vec<Entry>,
    /// In the order of the log: how many entries were there before.
    begun: Vec<(usize, u64)>,
    acknowledged: Vec<(usize, u64)>,
    /// From the last mark that the work begins to the one that it ends; everything where there are none.
    at_work: Range<usize>,
    /// How many acknowledgements came together with another one, in one write.
    bundled: u64,
}

/// What a disk was asked to do for each commit, from the first acknowledgement to the last.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Observed {
    /// Acknowledged commits.
    pub commits: u64,
    /// Flushes for each.
    pub flushes: f64,
    /// Writes for each.
    pub writes: f64,
    /// Bytes written for each.
    pub bytes: f64,
    /// Commits that were acknowledged though no flush had ended since they began.
    pub unflushed: u64,
    /// Acknowledgements that came several in one write, which lets them come late: the program does not flush its
    /// standard output after each line.
    pub bundled: u64,
}

impl History {
    /// Finds the commits among the entries, and when the program was at work.
    pub fn new(entries: Vec<Entry>, read: impl Fn(&str) -> Line) -> History {
        let at_work =
            Mark::Begins.place(&entries).unwrap_or(0)..Mark::Ends.place(&entries).unwrap_or(entries.len());
        let (mut begun, mut acknowledged, mut bundled) = (Vec::new(), Vec::new(), 0);
        let mut line = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let Entry::Text(bytes) = entry else { continue };
            let mut here = 0;
            for &byte in bytes {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                match read(String::from_utf8_lossy(&line).trim()) {
                    Line::Begins(number) => begun.push((place, number)),
                    Line::Acknowledged(number) => {
                        acknowledged.push((place, number));
                        here += 1;
                    }
                    Line::Other => {}
                }
                line.clear();
            }
            bundled += if here > 1 { here } else { 0 };
        }
        History { entries, begun, acknowledged, at_work, bundled }
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

    /// The places right after each acknowledgement.
    pub fn acknowledgements(&self) -> Vec<usize> {
        self.acknowledged.iter().map(|&(place, _)| place + 1).collect()
    }

    /// The commits that were acknowledged before a place.
    pub fn promised(&self, place: usize) -> BTreeSet<u64> {
        before(&self.acknowledged, place)
    }

    /// The commits that may be there after a cut.
    pub fn begun(&self, place: usize) -> BTreeSet<u64> {
        match self.begun.is_empty() {
            true => (1..=self.promised(place).last().map_or(1, |last| last + 1)).collect(),
            false => before(&self.begun, place),
        }
    }

    /// Whether a commit may be there after a cut: it was begun. A program that does not say when it begins one may
    /// have begun the next.
    pub fn may_have(&self, place: usize, commit: u64) -> bool {
        match self.begun.is_empty() {
            true => commit <= self.promised(place).last().map_or(1, |last| last + 1),
            false => before(&self.begun, place).contains(&commit),
        }
    }

    /// What was asked of the disk.
    pub fn observed(&self) -> Observed {
        let commits = self.acknowledged.len() as u64;
        let mut observed = Observed { commits, bundled: self.bundled, ..Observed::default() };
        let [Some(&(first, _)), Some(&(last, _))] = [self.acknowledged.first(), self.acknowledged.last()]
        else {
            return observed;
        };
        // A single one has nothing before it but the beginning.
        let first = if commits == 1 { self.at_work.start } else { first };
        let each = |sum: u64| sum as f64 / (commits.saturating_sub(1).max(1)) as f64;
        let (mut flushes, mut writes, mut bytes) = (0, 0, 0);
        // Commits of several clients overlap: what comes between the first and the last is of all of them.
        let are_many = self.acknowledged.iter().any(|&(_, number)| number >= CLIENT);
        let counted = if are_many { std::iter::once(first..last).collect() } else { self.spans(first, last) };
        for span in counted {
            for entry in &self.entries[span] {
                flushes += u64::from(entry.is_flush());
                if let Some(written) = entry.written() {
                    writes += 1;
                    bytes += written as u64;
                }
            }
        }
        (observed.flushes, observed.writes, observed.bytes) = (each(flushes), each(writes), each(bytes));
        let is_flushed = |span: Range<usize>| self.entries[span].iter().any(Entry::is_flush);
        observed.unflushed =
            self.spans(first, last).into_iter().filter(|span| !is_flushed(span.clone())).count() as u64;
        observed
    }

    /// The entries of each commit but the first: from its begin, or from the acknowledgement before it, to its
    /// own. What a program does between its commits is no part of them where it says when they begin.
    fn spans(&self, first: usize, last: usize) -> Vec<Range<usize>> {
        let ends = self.acknowledged.iter().filter(|&&(place, _)| place > first && place <= last);
        let mut before = first;
        ends.map(|&(end, commit)| {
            let is_its = |&&(place, number): &&(usize, u64)| number == commit && place <= end;
            let begin = self.begun.iter().rev().find(is_its).map(|&(place, _)| place);
            let start = begin.unwrap_or(before);
            before = end;
            start..end
        })
        .collect()
    }
}

fn before(commits: &[(usize, u64)], place: usize) -> BTreeSet<u64> {
    commits.iter().filter(|commit| commit.0 < place).map(|commit| commit.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Entry {
        Entry::Text(text.into())
    }

    fn write() -> Entry {
        Entry::Write { offset: 0, bytes: vec![1; 100] }
    }

    #[test]
    fn commits_stand_where_their_lines_end() {
        let entries = vec![
            text("ready\nac"),
            write(),
            text("k 1\n"),
            write(),
            Entry::Flush,
            text("ack 2\nack 3\n"),
            write(),
        ];
        let history = History::new(entries, words);
        assert_eq!(history.acknowledgements(), [3, 6, 6]);
        assert_eq!((history.places(false), history.places(true)), (3..7, 1..7));
        assert!(history.promised(2).is_empty());
        assert_eq!(history.promised(3), [1].into());
        assert!(history.may_have(3, 2) && !history.may_have(3, 3) && history.may_have(7, 4));
        let observed = history.observed();
        assert_eq!((observed.commits, observed.bundled, observed.unflushed), (3, 2, 1));
        assert_eq!((observed.flushes, observed.writes, observed.bytes), (0.5, 0.5, 50.0));
    }

    #[test]
    fn work_begins_where_that_was_said_last() {
        let mark = |mark: Mark| Entry::Text(mark.text().to_vec());
        let entries = vec![
            mark(Mark::Begins),
            write(),
            Entry::Flush,
            mark(Mark::Begins),
            write(),
            Entry::Flush,
            text("ack 1\n"),
            mark(Mark::Ends),
            write(),
        ];
        let history = History::new(entries, words);
        assert_eq!((history.places(true), history.places(false)), (4..7, 7..7));
        let observed = history.observed();
        assert_eq!((observed.commits, observed.flushes, observed.writes), (1, 1.0, 1.0));
    }

    #[test]
    fn what_is_between_commits_is_no_part_of_them() {
        let entries = vec![
            text("begin 1\n"),
            Entry::Flush,
            text("ack 1\n"),
            Entry::Flush,
            write(),
            text("begin 2\n"),
            Entry::Flush,
            text("ack 2\n"),
        ];
        let history = History::new(entries, words);
        let observed = history.observed();
        assert_eq!((observed.flushes, observed.writes, observed.unflushed), (1.0, 0.0, 0));
        assert!(!history.may_have(5, 2) && history.may_have(6, 2));
    }
}
