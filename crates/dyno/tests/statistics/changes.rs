//! Changes in a series of runs.

use dyno_verdict::statistics::changes;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Series in which nothing changed are cut in at most one of twenty, whatever the noise; a step of three standard
/// deviations is found where it is.
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
}
