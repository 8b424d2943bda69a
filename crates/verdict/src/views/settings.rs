//! The cost and gain of settings: each engine's settings over its own default ones, by the same driver. The cost of
//! encryption is a separate view.

use dyno_record::{ContenderRecord, Run};

use super::against::{Against, families};
use crate::test_verdict::TestVerdict;

/// The settings of each driver that ran with its engine's own and others.
pub(super) fn settings(run: &Run, tests: &[TestVerdict]) -> Vec<Against> {
    let encrypts = |contender: &ContenderRecord| contender.proof.as_ref().is_some_and(|proof| proof.encrypts);
    let alike = |a: &ContenderRecord, b: &ContenderRecord| {
        (&a.engine, &a.build, &a.driver, &a.variant, &a.url, encrypts(a))
            == (&b.engine, &b.build, &b.driver, &b.variant, &b.url, encrypts(b))
    };
    // A label names a profile where it is not the engine's own.
    let is_plain = |contender: &ContenderRecord| !contender.label.contains(':') && !encrypts(contender);
    let reference = |group: &[usize]| group.iter().copied().find(|&index| is_plain(&run.contenders[index]));
    families(run, tests, alike, reference)
}
