//! Cuts the tests of a block into parts in which the same contenders take turns.
//!
//! A contender that waits for the disk in tests that write takes turns in those that only read. Where it does not, it does
//! neighbouring tests in one go while all others wait, as in a trial that runs alone.

use std::collections::BTreeSet;
use std::ops::Range;

/// Neighbouring tests in which the same contenders take turns.
#[derive(Debug, PartialEq)]
pub struct BlockPart {
    /// The tests, by place.
    pub tests: Range<usize>,
    /// The contenders that do them, one group after another.
    pub groups: Vec<Group>,
}

/// Contenders, by place, that do a part at the same time.
#[derive(Debug, PartialEq)]
pub enum Group {
    /// They take turns.
    Sliced(Vec<usize>),
    /// One that runs while all others wait.
    Alone(usize),
}

/// The parts of a block, from the tests that each contender does alone.
pub fn parts(alone: &[&BTreeSet<usize>], tests: usize) -> Vec<BlockPart> {
    let alike =
        |one: &usize, other: &usize| alone.iter().all(|tests| tests.contains(one) == tests.contains(other));
    let all: Vec<usize> = (0..tests).collect();
    let part = |tests: &[usize]| {
        let (single, sliced): (Vec<usize>, Vec<usize>) =
            (0..alone.len()).partition(|&contender| alone[contender].contains(&tests[0]));
        let sliced = (!sliced.is_empty()).then_some(Group::Sliced(sliced));
        BlockPart {
            tests: tests[0]..tests[0] + tests.len(),
            groups: sliced.into_iter().chain(single.into_iter().map(Group::Alone)).collect(),
        }
    };
    all.chunk_by(alike).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_syncs_takes_turns_where_tests_only_read() {
        let (none, writing) = (BTreeSet::new(), BTreeSet::from([0, 1, 3]));
        let both = || vec![Group::Sliced(vec![0, 1])];
        let one = || vec![Group::Sliced(vec![0]), Group::Alone(1)];
        let found = parts(&[&none, &writing], 4);
        let wanted = [(0..2, one()), (2..3, both()), (3..4, one())];
        assert_eq!(found, wanted.map(|(tests, groups)| BlockPart { tests, groups }));
        assert_eq!(parts(&[&none, &none], 4), [BlockPart { tests: 0..4, groups: both() }]);
        assert!(parts(&[&none], 0).is_empty());
    }
}
