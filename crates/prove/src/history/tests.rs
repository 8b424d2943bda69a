//! Histories as a disk records them.

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
    assert!(history.may_have(3, 3), "it does not say when a commit begins");
    let observed = history.observed();
    assert_eq!((observed.commits, observed.bundled, observed.unflushed), (3, 2, 1));
    assert_eq!((observed.flushes, observed.writes, observed.bytes), (0.5, 0.5, 50.0));
}

#[test]
fn work_begins_where_that_was_said_last() {
    let mark = |mark: PhaseMarker| Entry::Text(mark.text().to_vec());
    let entries = vec![
        mark(PhaseMarker::Begins),
        write(),
        Entry::Flush,
        mark(PhaseMarker::Begins),
        write(),
        Entry::Flush,
        text("ack 1\n"),
        mark(PhaseMarker::Ends),
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

#[test]
fn the_first_commit_after_upkeep_or_an_opening_is_not_counted() {
    let closed = String::from_utf8(PhaseMarker::Closed.text().to_vec()).unwrap();
    let mut entries = Vec::new();
    // The flushes of each commit, and what follows it.
    for (commit, (flushes, then)) in
        [(3, ""), (1, "keep up\n"), (2, ""), (1, &closed), (4, ""), (1, "")].into_iter().enumerate()
    {
        entries.push(text(&format!("begin {commit}\n")));
        entries.extend((0..flushes).map(|_| Entry::Flush));
        entries.push(text(&format!("ack {commit}\n")));
        entries.extend((!then.is_empty()).then(|| text(then)));
        entries.push(Entry::Flush);
    }
    let read = |line: &str| match line {
        "keep up" => Line::Upkeep("upkeep".to_owned()),
        line => words(line),
    };
    let observed = History::new(entries, read).observed();
    assert_eq!((observed.commits, observed.flushes), (6, 1.0));
}
