//! The delay of reads at other nodes: commits at the first node, one after another, and reads in a loop at each of the
//! others. A commit is late by the last read that began after its acknowledgement and returned something older. What a read
//! takes is no part of it: a store whose reads are never old is never late.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use dyno_protocol::{Server, Value};
use dyno_record::NodeStaleness;

use super::link::{ClientLibrary, NodeLink};
use crate::subject::data;

/// The number of commits.
const COMMITS: usize = 500;
/// The time between them.
const DISTANCE: Duration = Duration::from_millis(4);
/// The time limit of a statement, and the time in which the last commit must be read.
const PATIENCE: Duration = Duration::from_secs(10);
/// The table of one row.
const TABLE: &str = "pulse";

/// Makes the table with its row.
fn make(link: &NodeLink) -> Result<()> {
    match link {
        NodeLink::Store(_) => set(link, 0),
        _ => link.execute(
            &[
                format!("CREATE TABLE {TABLE}(id INTEGER NOT NULL PRIMARY KEY, v INTEGER NOT NULL)"),
                format!("INSERT INTO {TABLE} VALUES(1, 0)"),
            ],
            PATIENCE,
        ),
    }
}

/// Commits a number.
fn set(link: &NodeLink, number: usize) -> Result<()> {
    match link {
        NodeLink::Store(store) => store.put(TABLE, &number.to_string(), PATIENCE),
        _ => link.rows(&format!("UPDATE {TABLE} SET v = {number} WHERE id = 1"), PATIENCE).map(drop),
    }
}

/// The number, once it is there.
fn get(link: &NodeLink) -> Result<Option<usize>> {
    let read = match link {
        NodeLink::Store(store) => store.get(TABLE, PATIENCE)?.map(Value::Text),
        _ => {
            let rows = link.rows(&format!("SELECT v FROM {TABLE} WHERE id = 1"), PATIENCE)?;
            rows.into_iter().next().and_then(|row| row.into_iter().next())
        }
    };
    let number = |value: Value| data::number(&value).context("the value that was read is no number");
    Ok(read.map(number).transpose()?.map(|number| number as usize))
}

/// The reads at a node.
#[derive(Debug, Default)]
struct Reads {
    /// When each began, and the number that it returned.
    returned: Vec<(Instant, usize)>,
    /// The greatest of these numbers: commits from 1 to it were seen.
    seen: usize,
    times: Vec<Duration>,
    backwards: u64,
}

/// Measures every node but the first.
///
/// # Errors
/// A node refuses a statement, or does not have the table within the time limit.
pub fn measure(library: &ClientLibrary, nodes: &[Server]) -> Result<Vec<NodeStaleness>> {
    let writer = NodeLink::enter(library, &nodes[0], PATIENCE)?;
    make(&writer)?;
    // When the last commit was acknowledged, or failed.
    let end = OnceLock::new();
    // True once all readers have begun, or failed.
    let begun = AtomicBool::new(false);
    thread::scope(|scope| {
        let (during, readers) = ((&begun, &end), &nodes[1..]);
        let (begins, all_began) = channel::<()>();
        let reads: Vec<_> = readers
            .iter()
            .map(|node| {
                let begins = begins.clone();
                scope.spawn(move || read(library, node, during, begins))
            })
            .collect();
        drop(begins);
        // The commits begin once each reader reads, or has failed: nothing is ever sent.
        let _ = all_began.recv();
        begun.store(true, Ordering::Relaxed);
        let acknowledged = write(&writer);
        end.get_or_init(Instant::now);
        let reads: Result<Vec<Reads>> = reads
            .into_iter()
            .map(|reads| reads.join().unwrap_or_else(|_| Err(anyhow!("a reader panicked"))))
            .collect();
        let (acknowledged, reads) = (acknowledged?, reads?);
        let each = reads.into_iter().zip(2..);
        Ok(each.map(|(reads, node)| summary(node, &acknowledged, reads)).collect())
    })
}

/// Commits the numbers from 1 on; returns when each was acknowledged.
fn write(writer: &NodeLink) -> Result<Vec<Instant>> {
    let mut acknowledged = Vec::with_capacity(COMMITS);
    for number in 1..=COMMITS {
        set(writer, number)?;
        acknowledged.push(Instant::now());
        thread::sleep(DISTANCE);
    }
    Ok(acknowledged)
}

/// Reads at a node until the last number is there, or its time is over; drops `begins` when it begins.
fn read(
    library: &ClientLibrary,
    node: &Server,
    (begun, end): (&AtomicBool, &OnceLock<Instant>),
    begins: Sender<()>,
) -> Result<Reads> {
    let link = enter(library, node)?;
    drop(begins);
    // Another may still be connecting: these reads do not count.
    while !begun.load(Ordering::Relaxed) {
        get(&link)?;
    }
    let mut reads = Reads::default();
    let mut last = 0;
    let is_over = || end.get().is_some_and(|end| end.elapsed() > PATIENCE);
    while reads.seen < COMMITS && !is_over() {
        let begin = Instant::now();
        let found = get(&link)?;
        reads.times.push(begin.elapsed());
        // The row may not be there yet.
        let Some(number) = found else { continue };
        reads.returned.push((begin, number));
        reads.backwards += u64::from(number < last);
        last = number;
        reads.seen = reads.seen.max(number);
    }
    Ok(reads)
}

/// Connects once the table is there.
fn enter(library: &ClientLibrary, node: &Server) -> Result<NodeLink> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let entered = NodeLink::enter(library, node, PATIENCE).and_then(|link| {
            get(&link)?;
            Ok(link)
        });
        match entered {
            Ok(link) => return Ok(link),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => thread::sleep(DISTANCE),
        }
    }
}

fn summary(node: u32, acknowledged: &[Instant], mut reads: Reads) -> NodeStaleness {
    let mut late = vec![Duration::ZERO; acknowledged.len()];
    let mut stale = 0;
    for (begin, number) in reads.returned {
        // The commits that were acknowledged before the read began, and that it did not return.
        let before = acknowledged.partition_point(|time| *time <= begin);
        let missed = number.min(before)..before;
        stale += u64::from(!missed.is_empty());
        for commit in missed {
            late[commit] = late[commit].max(begin - acknowledged[commit]);
        }
    }
    // For a commit that was never read, this is a lower bound.
    let mut late: Vec<(Duration, bool)> =
        late.into_iter().enumerate().map(|(commit, late)| (late, commit < reads.seen)).collect();
    late.sort_unstable();
    reads.times.sort_unstable();
    let unseen = acknowledged.len().saturating_sub(reads.seen) as u64;
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| late_at(&late, share));
    NodeStaleness {
        node,
        commits: acknowledged.len() as u64 - unseen,
        unseen,
        p50_ns: p50.0,
        p99_ns: p99.0,
        max_ns: max.0,
        at_least: [p50.1, p99.1, max.1],
        read_ns: at(&reads.times, 0.5),
        reads: reads.times.len() as u64,
        stale: Some(stale),
        backwards: reads.backwards,
    }
}

/// The place, from 1, of the last of a share of sorted values.
fn rank(share: f64, values: usize) -> usize {
    ((share * values as f64).ceil() as usize).max(1)
}

/// The time by which a share of the commits was late at most, in nanoseconds, and true if that is a lower bound: fewer were
/// seen to be so late at most, as the others were never read. Each commit is its lateness and whether it was read.
fn late_at(late: &[(Duration, bool)], share: f64) -> (u64, bool) {
    let rank = rank(share, late.len());
    let Some((time, _)) = late.get(rank - 1) else { return (0, false) };
    let seen = late.iter().filter(|(other, is_seen)| *is_seen && other <= time).count();
    (time.as_nanos() as u64, seen < rank)
}

/// The time within which a share of sorted times is, in nanoseconds.
fn at(times: &[Duration], share: f64) -> u64 {
    times.get(rank(share, times.len()) - 1).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_late_by_the_last_read_that_began_after_it_and_did_not_return_it() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let acknowledged = [at(10), at(20), at(30), at(40)];
        let times = vec![Duration::from_millis(1); 5];
        // The first read began before any acknowledgement. The second and third return what is older than the second commit,
        // by 1 and 5 ms; the fourth has all that was acknowledged, and the fifth goes back by two.
        let returned = vec![(at(9), 0), (at(21), 1), (at(25), 1), (at(39), 3), (at(42), 1)];
        let reads = Reads { returned, seen: 3, times, backwards: 1 };
        let found = summary(2, &acknowledged, reads);
        assert_eq!((found.commits, found.unseen, found.backwards, found.reads), (3, 1, 1, 5));
        assert_eq!(found.stale, Some(3));
        // Commit 1 never was, 3 by 12 ms and 2 by 22; 4, which was never read, by 2 ms at least.
        assert_eq!((found.p50_ns, found.p99_ns, found.max_ns), (2_000_000, 22_000_000, 22_000_000));
        assert_eq!(found.at_least, [true; 3]);
        assert_eq!(found.read_ns, 1_000_000);
        let nothing = NodeStaleness { node: 3, stale: Some(0), ..NodeStaleness::default() };
        assert_eq!(summary(3, &[], Reads::default()), nothing);
    }

    #[test]
    fn commits_that_were_never_read_are_the_latest_and_not_left_out() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let acknowledged: Vec<Instant> = (1..=10).map(at).collect();
        // The first eight are there at once. The last two are not when the last read begins.
        let returned = (1..=8).map(|number| (at(number), number as usize)).chain([(at(5_000), 8)]).collect();
        let reads = Reads { returned, seen: 8, ..Reads::default() };
        let found = summary(2, &acknowledged, reads);
        assert_eq!((found.commits, found.unseen, found.p50_ns), (8, 2, 0));
        assert_eq!((found.p99_ns, found.max_ns), (4_991_000_000, 4_991_000_000));
        assert_eq!(found.at_least, [false, true, true]);
    }

    #[test]
    fn slow_reads_that_return_the_newest_are_not_late() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let acknowledged = [at(10), at(20)];
        // Each takes 50 ms, and one that began before an acknowledgement may return what is older.
        let reads = Reads { returned: vec![(at(9), 0), (at(59), 2)], seen: 2, ..Reads::default() };
        let found = summary(2, &acknowledged, reads);
        assert_eq!((found.stale, found.max_ns), (Some(0), 0));
    }
}
