//! Simulations of contenders and of two runs: intervals hold the truth as often as they say, equals are seldom called
//! different, and differences are found.

use dyno_verdict::statistics::{
    Difference, geometric_mean_ratio, independent_ratio, paired_ratio, summarize,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Noise::{self, Bimodal, EvenlyBimodal, HeavyTailed, Lognormal, Normal};
use super::{SCALE, margin, normal, rate};

/// `n` blocks in which the contender takes `factor` times the baseline, under a drift that both share:
/// one wave over the run, from a random phase, of `drift` from peak to peak.
fn blocks(rng: &mut ChaCha8Rng, n: usize, noise: Noise, drift: f64, factor: f64) -> Vec<(f64, f64)> {
    let phase: f64 = rng.random();
    let drift_at = |block| {
        let turn = phase + block as f64 / n as f64;
        1.0 + drift / 2.0 * (std::f64::consts::TAU * turn).sin()
    };
    let pair = |block| (factor * drift_at(block) * noise.sample(rng), drift_at(block) * noise.sample(rng));
    (0..n).map(pair).collect()
}

/// `n` blocks, each slower or faster as a whole by a standard deviation of `effect`, in which the contender takes
/// `factor` times the baseline and each sample scatters by `noise`.
fn unlike_blocks(rng: &mut ChaCha8Rng, n: usize, effect: f64, noise: f64, factor: f64) -> Vec<(f64, f64)> {
    let block = |_| {
        let speed = SCALE * (effect * normal(rng)).exp();
        let mut sample = |factor: f64| factor * speed * (noise * normal(rng)).exp();
        (sample(factor), sample(1.0))
    };
    (0..n).map(block).collect()
}

/// True if a t test on the logarithms of the ratios finds a difference at 5 %: the best test there is where these are
/// normal.
fn t_test_finds(pairs: &[(f64, f64)]) -> bool {
    let logs: Vec<f64> = pairs.iter().map(|pair| (pair.0 / pair.1).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let critical = StudentsT::new(0.0, 1.0, n - 1.0).unwrap().inverse_cdf(0.975);
    mean.abs() > critical * (variance / n).sqrt()
}

#[test]
fn the_interval_of_the_median_includes_the_true_median() {
    for noise in [Normal, Lognormal, Bimodal, EvenlyBimodal] {
        let truth = noise.true_median();
        for n in [6, 10, 20] {
            let mut rng = ChaCha8Rng::seed_from_u64(n);
            let covered = rate(600, |seed| {
                let samples: Vec<f64> = (0..n).map(|_| noise.sample(&mut rng)).collect();
                summarize(&samples, seed).unwrap().interval.unwrap().includes(truth)
            });
            println!("{noise:?}, n = {n}: the interval includes the median in {:.1} %", covered * 100.0);
            assert!(covered >= 0.93, "{noise:?}, n = {n}: {covered}");
            // An interval that always includes it would be as wide as it is useless.
            assert!(covered < 0.995, "{noise:?}, n = {n}: {covered}");
        }
    }
}

#[test]
fn equals_differ_in_less_than_one_comparison_of_twenty() {
    const TRIALS: u64 = 10_000;
    for (noise, drift) in [(Normal, 0.0), (Lognormal, 0.3), (Bimodal, 0.1), (HeavyTailed, 0.3)] {
        for n in [6, 8, 12] {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let found = rate(TRIALS, |_| {
                paired_ratio(&blocks(&mut rng, n, noise, drift, 1.0)).unwrap().is_difference()
            });
            println!("{noise:?}, drift {drift}, n = {n}: equals differ in {:.1} %", found * 100.0);
            assert!(found + margin(found, TRIALS) <= 0.05, "{noise:?}, drift {drift}, n = {n}: {found}");
        }
    }
}

#[test]
fn equal_runs_differ_in_less_than_one_comparison_of_twenty() {
    const TRIALS: u64 = 400;
    for noise in [Normal, HeavyTailed] {
        for (new, old) in [(6, 6), (10, 10), (6, 30)] {
            let mut rng = ChaCha8Rng::seed_from_u64(new + old);
            let mut run = |n| (0..n).map(|_| noise.sample(&mut rng)).collect::<Vec<f64>>();
            let found = rate(TRIALS, |seed| {
                independent_ratio(&run(new), &run(old), seed, 0.95).unwrap().is_difference()
            });
            println!("{noise:?}, runs of {new} and {old}: equals differ in {:.1} %", found * 100.0);
            assert!(found + margin(found, TRIALS) <= 0.05, "{noise:?}, {new} and {old}: {found}");
        }
    }
}

/// The table of docs/statistics.md: how often a difference is found, by its size, the noise of one sample and blocks.
#[test]
fn differences_are_found_as_often_as_the_methodology_says() {
    const TRIALS: u64 = 2_000;
    let table: [(f64, f64, [u32; 4]); 6] = [
        (1.10, 0.02, [100, 100, 100, 100]),
        (1.05, 0.02, [77, 97, 100, 100]),
        (1.02, 0.01, [61, 89, 97, 100]),
        (1.02, 0.02, [20, 35, 45, 82]),
        (1.10, 0.05, [58, 87, 96, 100]),
        (1.05, 0.05, [19, 35, 44, 81]),
    ];
    for (factor, noise, reported) in table {
        let mut percents = [0; 4];
        for (n, percent) in [6, 8, 10, 20].into_iter().zip(&mut percents) {
            let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
            let found = rate(TRIALS, |seed| {
                // In either direction.
                let factor = if seed % 2 == 0 { factor } else { 1.0 / factor };
                let expected = if factor > 1.0 { Difference::Slower } else { Difference::Faster };
                let pairs = unlike_blocks(&mut rng, n, 0.15, noise, factor);
                paired_ratio(&pairs).unwrap().difference() == expected
            });
            *percent = (100.0 * found).round() as u32;
        }
        println!("{factor}, noise {noise}: found in {percents:?} % of runs of 6, 8, 10 and 20 blocks");
        // Two standard errors of a share of two thousand runs.
        let agree = percents.iter().zip(reported).all(|(percent, reported)| percent.abs_diff(reported) <= 2);
        assert!(agree, "{factor}, noise {noise}: {percents:?}, and docs/statistics.md has {reported:?}");
    }
}

/// Whatever slows whole blocks leaves no trace in the interval, which more blocks always narrow.
#[test]
fn intervals_of_ratios_narrow_with_blocks_that_differ_by_fifteen_percent() {
    const TRIALS: u64 = 1_000;
    const NOISE: f64 = 0.02;
    for n in [6, 8, 12, 20, 40] {
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        let (mut width, mut covered, mut found, mut t_found) = (0.0, 0, 0, 0);
        for _ in 0..TRIALS {
            let pairs = unlike_blocks(&mut rng, n, 0.15, NOISE, 1.05);
            let ratio = paired_ratio(&pairs).unwrap();
            let interval = ratio.interval.unwrap();
            width += interval.relative_half_width(ratio.ratio) / TRIALS as f64;
            covered += u32::from(interval.includes(1.05));
            found += u32::from(ratio.is_difference());
            t_found += u32::from(t_test_finds(&pairs));
        }
        let share = |count: u32| f64::from(count) / TRIALS as f64;
        let (covered, found, t_found) = (share(covered), share(found), share(t_found));
        println!(
            "{n} blocks: half width {:.2} %, includes the truth in {:.1} %, finds 5 % in {:.1} % (t test {:.1} %)",
            100.0 * width,
            100.0 * covered,
            100.0 * found,
            100.0 * t_found
        );
        assert!(covered + margin(covered, TRIALS) >= 0.95, "{n} blocks: {covered}");
        // The half width of an interval of the mean of n such logarithms, and a fifth for what ranks cost: more where
        // blocks are few, because then the interval has more confidence than 95 %.
        let sd = NOISE * 2.0_f64.sqrt();
        let t = StudentsT::new(0.0, 1.0, n as f64 - 1.0).unwrap().inverse_cdf(0.975);
        let allowed = t * sd / (n as f64).sqrt() * if n < 10 { 1.35 } else { 1.2 };
        assert!(width <= allowed, "{n} blocks: half width {width}, {allowed} allowed");
        // Six blocks must all agree; from eight on it is nearly as good as the best test there is.
        let allowance = if n < 8 { 0.2 } else { 0.05 };
        assert!(found >= t_found - allowance, "{n} blocks: {found}, the t test {t_found}");
    }
}

/// Trials that stop as soon as both medians are narrow enough leave intervals as good as those of a fixed number.
#[test]
fn stopping_when_narrow_enough_does_not_spoil_intervals() {
    const RUNS: u64 = 1_500;
    const MOST_BLOCKS: usize = 20;
    const TARGET: f64 = 0.05;
    for (case, (effect, noise)) in [(0.0, 0.03), (0.0, 0.06), (0.04, 0.03)].into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(case as u64);
        let (mut blocks, mut alarms, mut covered) = (0, 0, 0);
        for seed in 0..RUNS {
            let pairs = unlike_blocks(&mut rng, MOST_BLOCKS, effect, noise, 1.0);
            let is_enough = |n: &usize| {
                let (contender, baseline): (Vec<f64>, Vec<f64>) = pairs[..*n].iter().copied().unzip();
                let width = |samples: &[f64]| summarize(samples, seed)?.relative_half_width();
                [contender, baseline]
                    .iter()
                    .all(|samples| width(samples).is_some_and(|width| width <= TARGET))
            };
            let n = (6..MOST_BLOCKS).find(is_enough).unwrap_or(MOST_BLOCKS);
            blocks += n;
            alarms += u32::from(paired_ratio(&pairs[..n]).unwrap().is_difference());
            let samples: Vec<f64> = pairs[..n].iter().map(|pair| pair.0).collect();
            covered += u32::from(summarize(&samples, seed).unwrap().interval.unwrap().includes(SCALE));
        }
        let share = |count: u32| f64::from(count) / RUNS as f64;
        let (alarms, covered) = (share(alarms), share(covered));
        println!(
            "blocks differ by {effect}, noise {noise}: {:.1} blocks, equals differ in {:.1} %, medians are covered in \
             {:.1} %",
            blocks as f64 / RUNS as f64,
            100.0 * alarms,
            100.0 * covered
        );
        assert!(alarms <= 0.05 + margin(0.05, RUNS), "{effect}, {noise}: {alarms}");
        assert!(covered >= 0.95 - margin(0.05, RUNS) - 0.01, "{effect}, {noise}: {covered}");
    }
}

#[test]
fn drift_that_blocks_share_cancels() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut paired, mut unpaired) = (0, 0);
    for seed in 0..200 {
        let pairs = blocks(&mut rng, 10, Normal, 0.6, 1.1);
        let (new, old): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        paired += u32::from(paired_ratio(&pairs).unwrap().is_difference());
        unpaired += u32::from(independent_ratio(&new, &old, seed, 0.95).unwrap().is_difference());
    }
    println!("10 % under drift are found in {paired} of 200 by blocks, in {unpaired} without");
    assert!(paired >= 190, "{paired}");
    assert!(unpaired <= 20, "{unpaired}");
}

#[test]
fn a_geometric_mean_of_equals_is_one_in_nineteen_comparisons_of_twenty() {
    const TRIALS: u64 = 5_000;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let found = rate(TRIALS, |_| {
        let mut test = || blocks(&mut rng, 8, HeavyTailed, 0.2, 1.0).into_iter().map(Some).collect();
        let tests: Vec<Vec<_>> = (0..5).map(|_| test()).collect();
        geometric_mean_ratio(&tests).unwrap().is_difference()
    });
    println!("geometric means of equals differ in {:.1} %", found * 100.0);
    assert!(found + margin(found, TRIALS) <= 0.05, "{found}");
}
