//! The statistics against simulated samples whose truth is known, and the check of answers.
//!
//! Every simulation has a fixed seed, so it gives the same figures each time; with `--nocapture` it
//! prints them. An assertion on a rate says how far chance could have moved it.

mod answers;
mod calibrations;
mod changes;
mod figures;
mod intervals;
mod pages;
mod tables;
mod thresholds;
mod waits;

use dyno_verdict::statistics::median;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// One millisecond, the true scale of every simulated test, in nanoseconds.
const SCALE: f64 = 1e6;

/// A distribution of samples; each draws one sample.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// A normal distribution with a standard deviation of 2 %.
    Normal,
    /// A lognormal distribution, skewed as durations are, with a sigma of 0.3.
    Lognormal,
    /// Two modes 15 % apart, three samples in ten in the slower one.
    Bimodal,
    /// Two modes 15 % apart with the median in the gap between them.
    EvenlyBimodal,
    /// 2 % noise and one sample in ten up to three times as long.
    HeavyTailed,
}

use Noise::{Bimodal, EvenlyBimodal, HeavyTailed, Lognormal, Normal};

impl Noise {
    fn sample(self, rng: &mut ChaCha8Rng) -> f64 {
        let chance = |rng: &mut ChaCha8Rng, p: f64| rng.random::<f64>() < p;
        SCALE
            * match self {
                Normal => 1.0 + 0.02 * normal(rng),
                Lognormal => (0.3 * normal(rng)).exp(),
                Bimodal => (1.0 + 0.01 * normal(rng)) * if chance(rng, 0.3) { 1.15 } else { 1.0 },
                EvenlyBimodal => (1.0 + 0.01 * normal(rng)) * if chance(rng, 0.5) { 1.15 } else { 1.0 },
                HeavyTailed => {
                    let slow = if chance(rng, 0.1) { 1.0 + 2.0 * rng.random::<f64>() } else { 1.0 };
                    (1.0 + 0.02 * normal(rng)) * slow
                }
            }
    }

    /// The true median, from enough samples for an error of a hundredth of any interval here.
    fn true_median(self) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        median(&std::iter::repeat_with(|| self.sample(&mut rng)).take(400_001).collect::<Vec<_>>()).unwrap()
    }
}

/// A standard normal variate, by Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The fraction of `trials` in which `event` happens; it is given a seed.
fn rate(trials: u64, event: impl FnMut(u64) -> bool) -> f64 {
    (0..trials).map(event).filter(|&happened| happened).count() as f64 / trials as f64
}

/// Two standard errors of a rate seen in `trials`: chance moves it further once in twenty times.
fn margin(rate: f64, trials: u64) -> f64 {
    2.0 * (rate * (1.0 - rate) / trials as f64).sqrt()
}

/// The seed of samples of any kind, so that they are the same each time.
fn fixed() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
