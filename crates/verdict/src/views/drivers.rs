//! The driver tax: every driver of an engine over its lowest-level one, with the same settings. What is added is what
//! the language and the client library cost; below zero, a way of loading that saves something.

use dyno_record::{ContenderRecord, Run};

use super::against::{Against, families};
use crate::test_verdict::TestVerdict;

/// The drivers of each engine of which several ran with the same settings.
pub(super) fn drivers(run: &Run, tests: &[TestVerdict]) -> Vec<Against> {
    let alike = |a: &ContenderRecord, b: &ContenderRecord| {
        (&a.engine, &a.build, &a.profile, &a.asked, &a.url, &a.file_system, a.per_commit)
            == (&b.engine, &b.build, &b.profile, &b.asked, &b.url, &b.file_system, b.per_commit)
    };
    let find = |group: &[usize], is_it: &dyn Fn(&ContenderRecord) -> bool| {
        group.iter().copied().find(|&index| is_it(&run.contenders[index]))
    };
    // A label names a variant where it is not the usual one. If no driver is marked as the lowest-level one, the first
    // in the engine's file counts: it is the engine's default.
    let reference = |group: &[usize]| {
        find(group, &|contender| contender.lowest && !contender.label.contains('+'))
            .or_else(|| find(group, &|contender| contender.lowest))
            .or_else(|| group.first().copied())
    };
    families(run, tests, alike, reference)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::judge;

    #[test]
    fn a_driver_is_counted_over_the_lowest_with_the_same_settings_and_commits() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dyno/tests/golden/run.json");
        let mut run = dyno_record::load(&golden).unwrap();
        assert_eq!(judge(&run).views.drivers, []);
        let other = ContenderRecord { label: "sqlite/other".into(), ..run.contenders[0].clone() };
        run.contenders[1] = ContenderRecord { driver: "other".into(), ..other };
        run.contenders[0].lowest = true;
        let [tax] = &judge(&run).views.drivers[..] else { panic!("one driver beside the lowest") };
        assert_eq!((tax.contender, tax.over, tax.same_level), (1, 0, true));
        assert!(tax.geometric_mean.is_some() && tax.tests.iter().all(Option::is_some), "{tax:?}");
        run.contenders[1].per_commit = Some(1);
        assert_eq!(judge(&run).views.drivers, [], "another size of commits is no driver's cost");
    }
}
