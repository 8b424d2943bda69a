//! The statistics against simulated samples whose truth is known, and the check of answers.
//!
//! Every simulation has a fixed seed, so it gives the same figures each time; with `--nocapture` it
//! prints them. An assertion on a rate says how far chance could have moved it.

use dyno_protocol::Value;
use dyno_record::Answer;
use dyno_verdict::answers::{Mismatch, compare};
use dyno_verdict::statistics::{
    Difference, Interval, NoDifference, Threshold, geometric_mean_ratio, independent_ratio, median,
    paired_ratio, summarize,
};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

mod tables;

/// One millisecond, the true scale of every simulated test, in nanoseconds.
const SCALE: f64 = 1e6;

/// How samples scatter; each draws one sample.
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

    /// The true median, from so many samples that its error is a hundredth of any interval here.
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

/// Whether a t test on the logarithms of the ratios finds a difference at 5 %: the best test there is where these are
/// normal.
fn t_test_finds(pairs: &[(f64, f64)]) -> bool {
    let logs: Vec<f64> = pairs.iter().map(|pair| (pair.0 / pair.1).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let critical = StudentsT::new(0.0, 1.0, n - 1.0).unwrap().inverse_cdf(0.975);
    mean.abs() > critical * (variance / n).sqrt()
}

/// The fraction of `trials` in which `event` happens; it is given a seed.
fn rate(trials: u64, event: impl FnMut(u64) -> bool) -> f64 {
    (0..trials).map(event).filter(|&happened| happened).count() as f64 / trials as f64
}

/// Two standard errors of a rate seen in `trials`: chance moves it further once in twenty times.
fn margin(rate: f64, trials: u64) -> f64 {
    2.0 * (rate * (1.0 - rate) / trials as f64).sqrt()
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

/// The table of docs/methodology.md: how often a difference is found, by its size, the noise of one sample and blocks.
#[test]
fn differences_are_found_as_often_as_the_methodology_says() {
    const TRIALS: u64 = 2_000;
    let table: [(f64, f64, [u32; 4]); 6] = [
        (1.10, 0.02, [100, 100, 100, 100]),
        (1.05, 0.02, [77, 97, 100, 100]),
        (1.02, 0.01, [61, 89, 98, 100]),
        (1.02, 0.02, [20, 35, 49, 83]),
        (1.10, 0.05, [58, 86, 97, 100]),
        (1.05, 0.05, [19, 34, 48, 82]),
    ];
    for (factor, noise, told) in table {
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
        // Another machine's logarithms may move one run in two thousand, and with it a figure that was rounded.
        let agree = percents.iter().zip(told).all(|(percent, told)| percent.abs_diff(told) <= 1);
        assert!(agree, "{factor}, noise {noise}: {percents:?}, and docs/methodology.md has {told:?}");
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

#[test]
fn summaries_have_the_figures_worked_out_by_hand() {
    let summary = summarize(&[7.0, 2.0, 9.0, 4.0, 4.0, 5.0, 4.0, 5.0], 1).unwrap();
    // Mean 5, squared distances 4+9+16+1+1+0+1+0 = 32, divided by 7.
    assert_eq!((summary.n, summary.median, summary.min, summary.max), (8, 4.5, 2.0, 9.0));
    assert!((summary.sd.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    // Distances from the median 2.5, 2.5, 4.5, 0.5, 0.5, 0.5, 0.5, 0.5: their median is 0.5.
    assert!((summary.spread.unwrap() - 1.4826 * 0.5).abs() < 1e-12);
    let outlier = summarize(&[3.59, 3.6, 3.58, 3.61, 3.57, 140.0], 1).unwrap();
    assert!(outlier.sd.unwrap() > 50.0 && outlier.spread.unwrap() < 0.03, "{outlier:?}");

    let six = summarize(&[6.0, 1.0, 5.0, 2.0, 4.0, 3.0], 1).unwrap();
    // Four or more of six draws are the smallest in 406 of 46,656 cases: 0.87 %, above the tail of 0.24 %.
    assert_eq!(six.interval, Some(Interval { low: 1.0, high: 6.0 }));
    assert_eq!(six.relative_half_width(), Some(2.5 / 3.5));
    let five = summarize(&[5.0, 1.0, 2.0, 4.0, 3.0], 1).unwrap();
    assert_eq!((five.median, five.interval), (3.0, None));
    let one = summarize(&[5.0], 1).unwrap();
    assert_eq!((one.median, one.sd, one.spread, one.interval), (5.0, None, None, None));
    assert_eq!(summarize(&[], 1), None);
    assert_eq!(summarize(&[1.0, f64::NAN], 1), None);
}

#[test]
fn ratios_and_geometric_means_have_the_figures_worked_out_by_hand() {
    let pairs: Vec<_> = (1..=9).map(|i| (f64::from(i) * 3.0, f64::from(i) * 2.0)).collect();
    let ratio = paired_ratio(&pairs).unwrap();
    // Every block has the same ratio, so the interval is a point.
    let interval = ratio.interval.unwrap();
    for figure in [ratio.ratio, interval.low, interval.high] {
        assert!((figure - 1.5).abs() < 1e-12, "{ratio:?}");
    }
    assert_eq!(ratio.difference(), Difference::Slower);
    assert_eq!(paired_ratio(&[(1.0, 0.0)]), None);
    assert_eq!(paired_ratio(&[]), None);
    // Ratios 1, 2 and 64: of their logarithms in base 2, which are 0, 1 and 6, and the means of two of these, which are
    // 0.5, 3 and 3.5, the middle is 2. Of three blocks there is no interval.
    let few = paired_ratio(&[(1.0, 1.0), (4.0, 2.0), (64.0, 1.0)]).unwrap();
    assert!((few.ratio - 4.0).abs() < 1e-12 && few.interval.is_none(), "{few:?}");
    // Six blocks: the interval is their range, which misses the truth with a probability of 2/64.
    let six: Vec<_> = (0..6).map(|i| (2.0_f64.powi(i), 1.0)).collect();
    let interval = paired_ratio(&six).unwrap().interval.unwrap();
    assert!((interval.low - 1.0).abs() < 1e-12 && (interval.high - 32.0).abs() < 1e-9, "{interval:?}");

    // Ratios 2, 1/2 and 8: the geometric mean is the cube root of 8. One pair is missing, so its block does not count.
    let test = |factor: f64| (1..=8).map(|i| Some((factor * f64::from(i), f64::from(i)))).collect();
    let mut tests: Vec<Vec<_>> = [2.0, 0.5, 8.0].map(test).into();
    tests[1][3] = None;
    let mean = geometric_mean_ratio(&tests).unwrap();
    let interval = mean.interval.unwrap();
    for figure in [mean.ratio, interval.low, interval.high] {
        assert!((figure - 2.0).abs() < 1e-12, "{mean:?}");
    }
    tests[1] = vec![Some((1.0, 2.0)); 5];
    assert_eq!(geometric_mean_ratio(&tests).unwrap().interval, None);
    assert_eq!(geometric_mean_ratio(&[]), None);
    tests[1] = vec![None; 8];
    assert_eq!(geometric_mean_ratio(&tests), None);
}

#[test]
fn two_runs_carry_no_more_confidence_than_their_size() {
    let (new, old) = ([11.0, 12.0, 13.0, 14.0, 15.0, 16.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let at = |confidence| independent_ratio(&new, &old, 1, confidence).unwrap().interval;
    assert!(at(0.95).unwrap().low > 11.0 / 6.0 - 1e-9);
    // Of 924 arrangements two are as extreme: 99.78 % can be had, from 11/6 to 16/1, and no more.
    assert_eq!(at(0.9978), Some(Interval { low: 11.0 / 6.0, high: 16.0 }));
    assert_eq!(at(0.998), None);
}

#[test]
fn no_difference_is_claimed_below_the_cost_of_measuring() {
    let pairs: Vec<_> = (0..10).map(|i| (1_100.0 + f64::from(i), 1_000.0 + f64::from(i))).collect();
    let ratio = paired_ratio(&pairs).unwrap();
    assert_eq!(ratio.difference_above(1_104.5, 1_004.5, 100.0), Difference::Slower);
    let within_cost = Difference::None(NoDifference::WithinHarnessCost);
    assert_eq!(ratio.difference_above(1_104.5, 1_004.5, 101.0), within_cost);
    let few = paired_ratio(&pairs[..5]).unwrap();
    assert_eq!(few.difference(), Difference::None(NoDifference::TooFewSamples));
    let mixed: Vec<_> = (0..10).map(|i| if i % 2 == 0 { (1.0, 2.0) } else { (2.0, 1.0) }).collect();
    let equal = paired_ratio(&mixed).unwrap();
    assert_eq!(equal.difference_above(1.0, 1.0, 0.0), Difference::None(NoDifference::WithinInterval));
}

fn duration() -> impl Strategy<Value = f64> {
    (1_u32..1_000_000).prop_map(f64::from)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_of_samples_is_of_no_account(
        (pairs, shuffled) in prop::collection::vec((duration(), duration()), 1..20)
            .prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle())),
        seed: u64,
    ) {
        prop_assert_eq!(paired_ratio(&pairs), paired_ratio(&shuffled));
        let contender = |pairs: &[(f64, f64)]| pairs.iter().map(|pair| pair.0).collect::<Vec<_>>();
        let (samples, mixed) = (contender(&pairs), contender(&shuffled));
        prop_assert_eq!(summarize(&samples, seed).map(|s| (s.median, s.interval)),
            summarize(&mixed, seed).map(|s| (s.median, s.interval)));
    }

    #[test]
    fn the_unit_is_of_no_account(
        pairs in prop::collection::vec((duration(), duration()), 6..20),
        power in -20_i32..20,
        seed: u64,
    ) {
        // By a power of two, so that nothing is rounded.
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<_> = pairs.iter().map(|pair| (pair.0 * unit, pair.1 * unit)).collect();
        prop_assert_eq!(paired_ratio(&pairs), paired_ratio(&scaled));
        let of = |pairs: &[(f64, f64)]| summarize(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), seed).unwrap();
        let (one, other) = (of(&pairs), of(&scaled));
        prop_assert_eq!(one.median * unit, other.median);
        prop_assert_eq!(one.interval.unwrap().low * unit, other.interval.unwrap().low);
        prop_assert_eq!(one.interval.unwrap().high * unit, other.interval.unwrap().high);
    }

    #[test]
    fn an_interval_includes_its_estimate_and_is_within_the_range(
        samples in prop::collection::vec(duration(), 6..40),
        seed: u64,
    ) {
        let summary = summarize(&samples, seed).unwrap();
        let interval = summary.interval.unwrap();
        prop_assert!(interval.includes(summary.median));
        prop_assert!(summary.min <= interval.low && interval.high <= summary.max);
    }

    #[test]
    fn what_agrees_value_by_value_agrees_by_digest(
        rows in prop::collection::vec((any::<i32>(), -1e6..1e6_f64, -1.0..1.0_f64), 1..600),
    ) {
        const TOLERANCE: f64 = 1e-4;
        let answer = |error: f64| Answer::from_rows(&rows.iter().map(|&(integer, real, part)| {
            let off = error * part * real.abs().max(1.0);
            vec![Value::Integer(integer.into()), Value::Real(real + off), Value::Text(integer.to_string())]
        }).collect::<Vec<_>>());
        let (one, other) = (answer(0.0), answer(0.999 * TOLERANCE));
        prop_assert_eq!(compare(&one, &other, TOLERANCE), Ok(()));
        let digest = |answer: &Answer| Answer { columns: answer.digest().into_owned(), kept: Vec::new(), ..*answer };
        prop_assert_eq!(compare(&digest(&one), &digest(&other), TOLERANCE), Ok(()));
    }
}

/// An answer as test 6 of the speed test gives it, so many rows of a count and an average.
fn counts_and_averages(rows: i64, decimals: i32) -> Vec<Vec<Value>> {
    let unit = 10_f64.powi(decimals);
    let average = |row: i64| ((100 * row) as f64 + (row % 7) as f64 / 7.0) * unit;
    let row = |row| vec![Value::Integer(100 + row % 13), Value::Real(average(row).round() / unit)];
    (0..rows).map(row).collect()
}

#[test]
fn averages_agree_whatever_type_and_digits_an_engine_gives_them() {
    for rows in [10, 10_000] {
        let sixteen = counts_and_averages(rows, 12);
        let mut four = counts_and_averages(rows, 4);
        // Every seventh average is whole, and comes as a whole number from some engines.
        for row in four.iter_mut().step_by(7) {
            let Value::Real(average) = row[1] else { unreachable!() };
            row[1] = Value::Integer(average as i64);
        }
        let (sixteen, four) = (Answer::from_rows(&sixteen), Answer::from_rows(&four));
        assert_eq!(sixteen.is_complete(), rows == 10);
        assert_eq!(compare(&four, &sixteen, 1e-4), Ok(()));
        assert!(compare(&four, &sixteen, 1e-12).is_err());
    }
}

#[test]
fn one_changed_count_among_ten_thousand_is_found() {
    let rows = counts_and_averages(10_000, 4);
    let expected = Answer::from_rows(&rows);
    for changed in [0, 499, 500, 7_777, 9_999] {
        let mut rows = rows.clone();
        let Value::Integer(count) = &mut rows[changed][0] else { unreachable!() };
        *count += 1;
        let mismatch = compare(&Answer::from_rows(&rows), &expected, 1e-4).unwrap_err().to_string();
        // The first 500 rows, a thousand values, are kept and compared by row.
        if changed < 500 {
            let (row, right) = (changed + 1, 100 + changed % 13);
            let sentence = format!("row {row}, column 1 is {} where {right} is expected", right + 1);
            assert_eq!(mismatch, sentence);
        } else {
            assert_eq!(
                mismatch,
                "the integers of column 1 are not the expected ones, or not in the expected order"
            );
        }
    }
}

#[test]
fn swapped_rows_are_found() {
    let rows = counts_and_averages(10_000, 4);
    let only = |column: usize| rows.iter().map(|row| vec![row[column].clone()]).collect::<Vec<_>>();
    let texts: Vec<_> = (0..10_000).map(|i| vec![Value::Text(format!("number {i}"))]).collect();
    for rows in [rows.clone(), only(0), only(1), texts] {
        let mut swapped = rows.clone();
        swapped.swap(6_000, 6_003);
        let mismatch = compare(&Answer::from_rows(&swapped), &Answer::from_rows(&rows), 1e-9);
        assert!(mismatch.is_err(), "{:?}", rows[0]);
    }
    // Nulls leave no trace but the rows of their neighbours.
    let nulls = |null: i64| {
        let value = |row| if row == null { Value::Null } else { Value::Integer(1) };
        Answer::from_rows(&(0..2_000).map(|row| vec![value(row)]).collect::<Vec<_>>())
    };
    assert!(compare(&nulls(1_500), &nulls(1_501), 1e-4).is_err());
}

#[test]
fn a_tolerance_is_relative_above_one_and_absolute_below() {
    let one = |value: Value| Answer::from_rows(&[vec![value]]);
    let agree = |a: Value, b: Value| compare(&one(a), &one(b), 1e-3).is_ok();
    use Value::{Integer, Null, Real};
    assert!(agree(Real(1_000.0), Real(1_000.9)) && !agree(Real(1_000.0), Real(1_001.1)));
    assert!(agree(Real(0.0), Real(0.0009)) && !agree(Real(0.0), Real(0.0011)));
    assert!(agree(Integer(5_000), Real(5_000.0)) && agree(Integer(5_000), Real(5_004.0)));
    assert!(!agree(Integer(5_000), Integer(5_001)), "whole numbers are compared exactly");
    assert!(!agree(Integer(0), Null) && !agree(Real(0.0), Value::Text("0.0".into())));
    assert!(!agree(Value::Text("ff".into()), Value::from_bytes(&[0xff])));
    assert!(compare(&one(Real(0.1)), &one(Real(0.1)), 0.0).is_ok());
}

#[test]
fn a_mismatch_is_a_sentence() {
    let rows =
        |n: i64| (0..n).map(|i| vec![Value::Integer(i), Value::Text("one".into())]).collect::<Vec<_>>();
    let sentence = |found: &[Vec<Value>], expected: &[Vec<Value>]| {
        compare(&Answer::from_rows(found), &Answer::from_rows(expected), 1e-4).unwrap_err().to_string()
    };
    assert_eq!(sentence(&rows(1), &rows(3)), "it has 1 row where 3 are expected");
    assert_eq!(sentence(&rows(2), &rows(1)), "it has 2 rows where 1 is expected");
    assert_eq!(sentence(&[vec![]], &rows(1)), "row 1 has 0 values where 2 are expected");
    let mut large = rows(1_000);
    large[800][1] = Value::Null;
    assert_eq!(sentence(&large, &rows(1_000)), "column 2 has 1 nulls where 0 are expected");
    let mut text = rows(2);
    text[1][1] = Value::Text("two".into());
    assert_eq!(sentence(&text, &rows(2)), "row 2, column 2 is 'two' where 'one' is expected");
    let real = |first: f64| {
        let value = |i| if i == 900 { first } else { 0.5 };
        (0..1_024).map(|i| vec![Value::Real(value(i)), Value::Null]).collect::<Vec<_>>()
    };
    let sum = sentence(&real(3.5), &real(0.5));
    assert!(sum.starts_with("the numbers of column 1 in rows 897 to 928 add up to 19 (weighted"), "{sum}");
}

#[test]
fn an_answer_is_the_same_after_a_file() {
    for rows in [3, 10_000] {
        let answer = Answer::from_rows(&counts_and_averages(rows, 4));
        let json = serde_json::to_string(&answer).unwrap();
        let read: Answer = serde_json::from_str(&json).unwrap();
        assert_eq!(compare(&read, &answer, 1e-12), Ok(()));
        assert_eq!(read.rows, answer.rows);
        let mismatch = compare(&Answer::default(), &answer, 0.0).unwrap_err();
        let json = serde_json::to_string(&mismatch).unwrap();
        assert_eq!(serde_json::from_str::<Mismatch>(&json).unwrap(), mismatch);
    }
}

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
            alarms += usize::from(!dyno_verdict::statistics::changes(&values, seed).is_empty());
        }
        let rate = alarms as f64 / series as f64;
        println!("{name}: {:.1} % of unchanged series are cut", rate * 100.0);
        // Three standard errors above 5 %.
        assert!(rate < 0.05 + 3.0 * (0.05 * 0.95 / series as f64).sqrt(), "{name}: {rate}");
    }
    let mut found = 0;
    for seed in 0..100 {
        let values: Vec<f64> = (0..20).map(|place| normal() + if place < 12 { 0.0 } else { 3.0 }).collect();
        let changes = dyno_verdict::statistics::changes(&values, seed);
        found += usize::from(changes.iter().any(|change| change.at.abs_diff(12) <= 1));
    }
    println!("a step of three standard deviations: {found} of 100 found within one run");
    assert!(found >= 85, "{found} of 100");
}

/// A search for the rate up to which a target holds, where trials scatter by a width: whether the interval covers the truth,
/// how far off the best guess is, and half the width of the interval.
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

/// What such a search for a truth finds.
fn searched(rng: &mut ChaCha8Rng, truth: f64, width: f64, trials: usize) -> Threshold {
    let mut tries = Vec::new();
    for _ in 0..trials {
        let next = Threshold::new(1.0, &tries).unwrap().next(&tries);
        let holds = 1.0 / (1.0 + ((next / truth).ln() / width).exp());
        // One trial in a hundred fails or holds for reasons of its own.
        let is_stray = rng.random::<f64>() < 0.01;
        let chance = if is_stray { 0.5 } else { holds };
        tries.push((next, rng.random::<f64>() < chance));
    }
    Threshold::new(1.0, &tries).unwrap()
}

/// Two runs of a search that are compared.
#[test]
fn rates_of_two_searches_are_told_apart_only_where_they_differ() {
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
