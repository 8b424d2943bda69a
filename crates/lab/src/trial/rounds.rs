//! Cuts the tests into turns. Pure arithmetic: `together` decides which contender works when.
//!
//! A round is the same part of the tests for each contender, so that all of them are at the same place at the same time
//! whatever their speeds. The quickest has one turn in a round, a slower one has several. No turn begins where a test
//! does: the first part of a test follows the last part of the test before, as in a trial that runs alone, so it finds
//! the caches as warm. A test that is shorter than a slice is therefore not cut at all.

use std::time::Duration;

/// The shortest slice of the quickest contender. The shorter it is, the more noise two contenders share; the longer,
/// the less the cold caches matter with which it begins.
const SLICE: Duration = Duration::from_millis(40);
/// The longest part of a test in one turn, if its operations can be divided.
const LONGEST: Duration = Duration::from_millis(80);

/// The goal of a turn: up to this share of a test (by its place).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    pub test: usize,
    pub share: f64,
}

/// The rounds, each the goals that are reached in it, in order; from what each test takes the quickest contender, in
/// nanoseconds.
pub fn rounds(quickest_ns: &[f64]) -> Vec<Vec<Goal>> {
    let mut rounds = vec![Vec::new()];
    for (test, ns) in quickest_ns.iter().enumerate() {
        let cuts = (ns / SLICE.as_nanos() as f64) as u64;
        for cut in 0..cuts {
            add(&mut rounds, Goal { test, share: (cut as f64 + 0.5) / cuts as f64 });
            rounds.push(Vec::new());
        }
        add(&mut rounds, Goal { test, share: 1.0 });
    }
    rounds
}

/// The turns that a contender has in a round, each the goals that it reaches in it. `before` is where the round before
/// ended, and `ns` returns the time that a test takes it.
pub fn turns(round: &[Goal], before: Option<Goal>, ns: impl Fn(usize) -> f64) -> Vec<Vec<Goal>> {
    let mut turns = vec![Vec::new()];
    for &Goal { test, share } in round {
        let from = before.filter(|before| before.test == test).map_or(0.0, |before| before.share);
        let parts = (ns(test) * (share - from) / LONGEST.as_nanos() as f64).ceil().max(1.0) as u64;
        for part in 1..parts {
            let share = from + (share - from) * part as f64 / parts as f64;
            add(&mut turns, Goal { test, share });
            turns.push(Vec::new());
        }
        add(&mut turns, Goal { test, share });
    }
    turns
}

/// The number of a test's operations that are done at a share of it.
pub fn target(share: f64, of: u64) -> u64 {
    if share < 1.0 { (of as f64 * share) as u64 } else { of }
}

fn add(lists: &mut [Vec<Goal>], goal: Goal) {
    if let Some(last) = lists.last_mut() {
        last.push(goal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn goal(test: usize, share: f64) -> Goal {
        Goal { test, share }
    }

    #[test]
    fn no_turn_begins_where_a_test_does() {
        let cut = rounds(&[100.0 * MS, 3.0 * MS, 1.0 * MS, 50.0 * MS]);
        let last = vec![goal(3, 1.0)];
        let across = vec![goal(0, 1.0), goal(1, 1.0), goal(2, 1.0), goal(3, 0.5)];
        assert_eq!(cut, [vec![goal(0, 0.25)], vec![goal(0, 0.75)], across, last]);
        assert_eq!(rounds(&[1.0, 2.0]), [[goal(0, 1.0), goal(1, 1.0)]]);
        assert_eq!(rounds(&[]), [[]]);
    }

    #[test]
    fn the_slower_has_more_turns() {
        let round = [goal(0, 1.0), goal(1, 0.5)];
        let quick = |_| 40.0 * MS;
        assert_eq!(turns(&round, Some(goal(0, 0.5)), quick), [round]);
        let slow = |_| 320.0 * MS;
        let parted = [vec![goal(0, 0.75)], vec![goal(0, 1.0), goal(1, 0.25)], vec![goal(1, 0.5)]];
        assert_eq!(turns(&round, Some(goal(0, 0.5)), slow), parted);
    }

    #[test]
    fn what_is_one_piece_waits_for_the_end() {
        assert_eq!([0.5, 0.99, 1.0].map(|share| target(share, 1)), [0, 0, 1]);
        assert_eq!([0.25, 0.5, 1.0].map(|share| target(share, 10)), [2, 5, 10]);
    }
}
