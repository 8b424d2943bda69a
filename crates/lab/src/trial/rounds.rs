//! Cuts the tests into turns. Pure arithmetic: `interleaved` decides which contender works when.
//!
//! A round is the same part of the tests for each contender, so that all of them are at the same place at the same time
//! whatever their speeds. The quickest has one turn in a round, a slower one has several. No turn begins where a test
//! does, if the test can be cut: its first part follows the last part of the test before, as in a trial that runs alone,
//! so it finds the caches as warm. A test that is shorter than a slice is therefore not cut at all. A statement cannot be
//! cut: where a test has one and it takes longer than a slice, it is a separate turn.

use std::time::Duration;

/// The shortest slice of the quickest contender. The shorter it is, the more noise two contenders share; the longer,
/// the less the cold caches matter with which it begins. docs/turns.md has what both cost.
const SLICE: Duration = Duration::from_millis(6);

/// The longest part of a test in one turn, if its operations can be divided.
const LONGEST: Duration = Duration::from_millis(12);

/// The goal of a turn: up to this share of a test (by its place).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    pub test: usize,
    pub share: f64,
}

/// The time that a contender needs for a test.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// The time of all of it, in nanoseconds.
    pub ns: f64,
    /// The number of its operations; the test can be cut between any two of them.
    pub operations: u64,
}

/// The rounds, each the goals that are reached in it, in order; from what each test takes the quickest contender. `first`
/// is the place of the first of these tests.
pub fn rounds(quickest: &[Pace], first: usize) -> Vec<Vec<Goal>> {
    let mut rounds = vec![Vec::new()];
    for (test, pace) in (first..).zip(quickest) {
        let cuts = ((pace.ns / SLICE.as_nanos() as f64) as u64).min(pace.operations);
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
        let from = begins(test, before);
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

/// The tests of a round with the shares of them that are done in it. `before` is where the round before ended.
pub fn parts(round: &[Goal], before: Option<Goal>) -> impl Iterator<Item = (usize, f64)> {
    round.iter().map(move |&Goal { test, share }| (test, share - begins(test, before)))
}

/// The share of a test that is done where a round begins.
fn begins(test: usize, before: Option<Goal>) -> f64 {
    before.filter(|before| before.test == test).map_or(0.0, |before| before.share)
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

    fn paces(tests: &[(f64, u64)]) -> Vec<Pace> {
        tests.iter().map(|&(ms, operations)| Pace { ns: ms * MS, operations }).collect()
    }

    #[test]
    fn no_turn_begins_where_a_test_does() {
        let tests = paces(&[(15.0, 900), (0.4, 900), (0.1, 900), (7.0, 900)]);
        let last = vec![goal(3, 1.0)];
        let across = vec![goal(0, 1.0), goal(1, 1.0), goal(2, 1.0), goal(3, 0.5)];
        assert_eq!(rounds(&tests, 0), [vec![goal(0, 0.25)], vec![goal(0, 0.75)], across, last]);
        assert_eq!(rounds(&paces(&[(1e-6, 9), (2e-6, 9)]), 4), [[goal(4, 1.0), goal(5, 1.0)]]);
        assert_eq!(rounds(&[], 0), [[]]);
    }

    /// A statement cannot be cut, so a long one is a turn; the others do it one after another, and not a row of them each.
    #[test]
    fn long_statements_are_turns_of_their_own() {
        let tests = paces(&[(30.0, 1), (30.0, 1)]);
        let cut = rounds(&tests, 0);
        let done = |round: &Vec<Goal>| -> Vec<(usize, u64)> {
            round
                .iter()
                .map(|goal| (goal.test, target(goal.share, 1)))
                .filter(|(_, done)| *done > 0)
                .collect()
        };
        assert_eq!(
            cut.iter().map(done).filter(|done| !done.is_empty()).collect::<Vec<_>>(),
            [[(0, 1)], [(1, 1)]]
        );
    }

    #[test]
    fn the_slower_has_more_turns() {
        let round = [goal(0, 1.0), goal(1, 0.5)];
        let quick = |_| 6.0 * MS;
        assert_eq!(turns(&round, Some(goal(0, 0.5)), quick), [round]);
        let slow = |_| 48.0 * MS;
        let parted = [vec![goal(0, 0.75)], vec![goal(0, 1.0), goal(1, 0.25)], vec![goal(1, 0.5)]];
        assert_eq!(turns(&round, Some(goal(0, 0.5)), slow), parted);
    }

    #[test]
    fn what_is_one_piece_waits_for_the_end() {
        assert_eq!([0.5, 0.99, 1.0].map(|share| target(share, 1)), [0, 0, 1]);
        assert_eq!([0.25, 0.5, 1.0].map(|share| target(share, 10)), [2, 5, 10]);
    }
}
