//! Changes in a series of runs.

use dyno_verdict::statistics::changes;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Series in which nothing changed are cut in at most one of twenty, whatever the noise; a step of three standard
/// deviations is found where it is, and one that goes back on both sides.
#[test]
fn change_points_are_rarely_false_and_found_where_they_are() {
    let mut noise = ChaCha8Rng::seed_from_u64(20);
    let mut normal = || {
        let (u, v): (f64, f64) = (noise.random::<f64>().max(1e-300), noise.random());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    };
    let series = 300;
    for (name, heavy) in [("normal", false), ("heavy tails", true)] {
        let mut alarms = 0;
        for seed in 0..series {
            let values: Vec<f64> =
                (0..20).map(|_| if heavy { normal() / normal().abs().max(0.05) } else { normal() }).collect();
            alarms += usize::from(!changes(&values, seed).is_empty());
        }
        let rate = alarms as f64 / series as f64;
        println!("{name}: {:.1} % of unchanged series are cut", rate * 100.0);
        // Three standard errors above 5 %.
        assert!(rate < 0.05 + 3.0 * (0.05 * 0.95 / series as f64).sqrt(), "{name}: {rate}");
    }
    let mut found = 0;
    for seed in 0..100 {
        let values: Vec<f64> = (0..20).map(|place| normal() + if place < 12 { 0.0 } else { 3.0 }).collect();
        let changes = changes(&values, seed);
        found += usize::from(changes.iter().any(|change| change.at.abs_diff(12) <= 1));
    }
    println!("a step of three standard deviations: {found} of 100 found within one run");
    assert!(found >= 85, "{found} of 100");
    // A slowdown of four runs that was repaired: a cut whose second part always ends with the last run finds it in
    // fewer than 5 of 100.
    let mut both = 0;
    for seed in 0..100 {
        let slow = |place: usize| if (8..12).contains(&place) { 5.0 } else { 0.0 };
        let values: Vec<f64> = (0..20).map(|place| normal() + slow(place)).collect();
        let changes = changes(&values, seed);
        let has = |at: usize| changes.iter().any(|change| change.at.abs_diff(at) <= 1);
        both += usize::from(has(8) && has(12));
    }
    println!(
        "a step of five standard deviations that goes back after four runs: {both} of 100 found on both sides"
    );
    assert!(both >= 85, "{both} of 100");
}
