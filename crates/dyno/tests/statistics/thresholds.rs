//! The highest rate that an engine sustains, by searches.

use dyno_verdict::statistics::{Threshold, median};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::normal;

/// A search for the rate up to which a target holds, where trials scatter by a width: whether the interval covers the
/// truth, how far off the best guess is, and half the width of the interval.
fn search(rng: &mut ChaCha8Rng, width: f64, trials: usize) -> (bool, f64, f64) {
    let truth = (0.35 * normal(rng)).exp();
    let found = searched(rng, truth, width, trials);
    let interval = found.interval();
    (
        interval.includes(truth),
        (found.median() / truth).ln().abs(),
        interval.relative_half_width(found.median()),
    )
}

/// The result of such a search for a truth.
fn searched(rng: &mut ChaCha8Rng, truth: f64, width: f64, trials: usize) -> Threshold {
    let mut found = Threshold::new(1.0, &[]).unwrap();
    for _ in 0..trials {
        let next = found.next();
        let holds = 1.0 / (1.0 + ((next / truth).ln() / width).exp());
        // One trial in a hundred fails or holds for reasons of its own.
        let is_stray = rng.random::<f64>() < 0.01;
        let chance = if is_stray { 0.5 } else { holds };
        assert!(found.observe(next, rng.random::<f64>() < chance));
    }
    found
}

/// Two runs of a search that are compared.
#[test]
fn rates_of_two_searches_are_reported_apart_only_where_they_differ() {
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    for (width, trials) in [(0.02, 12), (0.05, 12), (0.05, 20), (0.1, 20)] {
        const PAIRS: usize = 100;
        let mut called = |times: f64| {
            let differs = (0..PAIRS).filter(|_| {
                let truth = (0.35 * normal(&mut rng)).exp();
                let [old, new] = [truth, truth / times].map(|truth| searched(&mut rng, truth, width, trials));
                old.over(&new, 0.95).is_difference()
            });
            differs.count() as f64 / PAIRS as f64
        };
        let (equal, half) = (called(1.0), called(2.0));
        println!(
            "width {width}, {trials} trials: equals called different {equal}, half as much found {half}"
        );
        // Of 100 at 5 %, more than 10 but once in a hundred.
        assert!(equal <= 0.105, "width {width}, {trials} trials: {equal}");
        assert!(half > 0.8, "width {width}, {trials} trials: {half}");
    }
}

#[test]
fn a_rate_that_is_sought_is_found_within_its_interval() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for width in [0.005, 0.02, 0.05, 0.1] {
        for trials in [8, 12, 20] {
            const SEARCHES: usize = 200;
            let found: Vec<_> = (0..SEARCHES).map(|_| search(&mut rng, width, trials)).collect();
            let covered = found.iter().filter(|found| found.0).count() as f64 / SEARCHES as f64;
            let middle = |part: fn(&(bool, f64, f64)) -> f64| {
                median(&found.iter().map(part).collect::<Vec<_>>()).unwrap()
            };
            let (off, half) = (middle(|found| found.1), middle(|found| found.2));
            println!("width {width}, {trials} trials: covered {covered}, off {off:.3}, half width {half:.3}");
            // Of 200 searches at 90 %, 173 or more cover the truth but once in twenty.
            assert!(covered > 0.86, "width {width}, {trials} trials: {covered}");
            assert!(off < half, "width {width}, {trials} trials: {off} and {half}");
        }
    }
}
