//! The ratios of a whole table that are called differences.

use dyno_verdict::statistics::{Compared, significant};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::Noise::{self, Bimodal, EvenlyBimodal, HeavyTailed, Lognormal, Normal};
use super::{margin, rate};

/// Fifteen tests of several contenders next to one, of which `planted` are slower by a share; and of each contender the
/// mean over its tests, with as much of the error as all of its tests together.
fn comparisons(
    rng: &mut ChaCha8Rng,
    n: usize,
    noise: Noise,
    contenders: usize,
    planted: (usize, f64),
) -> Vec<Compared> {
    const TESTS: usize = 15;
    let mut sample = |factor: f64| (factor * noise.sample(rng)).ln();
    let mut table = Vec::new();
    for contender in 0..contenders {
        let mut means = vec![0.0; n];
        for test in 0..TESTS {
            let factor = if contender * TESTS + test < planted.0 { 1.0 + planted.1 } else { 1.0 };
            let logs: Vec<f64> = (0..n).map(|_| sample(factor) - sample(1.0)).collect();
            means.iter_mut().zip(&logs).for_each(|(mean, log)| *mean += log / TESTS as f64);
            table.push(Compared { logs, weight: 1.0 });
        }
        table.push(Compared { logs: means, weight: TESTS as f64 });
    }
    table
}

/// In a table of equals something is called a difference in at most one run of twenty, whatever the noise, the number
/// of contenders and of blocks.
#[test]
fn equals_are_reported_apart_in_less_than_one_table_of_twenty() {
    const TABLES: u64 = 1_000;
    for noise in [Normal, Lognormal, Bimodal, EvenlyBimodal, HeavyTailed] {
        for contenders in [1, 4] {
            for n in [6, 8, 12, 21] {
                let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
                let found = rate(TABLES, |_| {
                    significant(&comparisons(&mut rng, n, noise, contenders, (0, 0.0))).contains(&true)
                });
                println!(
                    "{noise:?}, {contenders} contenders, {n} blocks: a difference in {:.1} % of tables of equals",
                    found * 100.0
                );
                assert!(found <= 0.05 + margin(0.05, TABLES), "{noise:?}, {contenders}, {n}: {found}");
            }
        }
    }
}

/// The differences that a table still shows: how often one slower test among fifteen is found, and a contender slower
/// in all its mean.
#[test]
fn a_table_still_shows_what_is_large_beside_its_noise() {
    const TABLES: u64 = 1_000;
    for (n, slower, fewest) in [(6, 0.5, 0.95), (8, 0.2, 0.95), (12, 0.1, 0.95), (21, 0.05, 0.9)] {
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        let one = rate(TABLES, |_| significant(&comparisons(&mut rng, n, Normal, 1, (1, slower)))[0]);
        let by_mean =
            rate(TABLES, |_| significant(&comparisons(&mut rng, n, Normal, 1, (15, slower / 5.0)))[15]);
        println!(
            "{n} blocks: a test slower by {:.0} % is found in {:.1} %, all by {:.0} % by the mean in {:.1} %",
            slower * 100.0,
            one * 100.0,
            slower * 20.0,
            by_mean * 100.0
        );
        assert!(one >= fewest && by_mean >= fewest, "{n} blocks: {one}, {by_mean}");
    }
    // One sample in ten takes up to three times as long.
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let one = rate(TABLES, |_| significant(&comparisons(&mut rng, 21, HeavyTailed, 1, (1, 0.1)))[0]);
    println!("21 blocks with heavy tails: a test slower by 10 % is found in {:.1} %", one * 100.0);
    assert!(one >= 0.4, "{one}");
}
