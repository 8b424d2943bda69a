//! Figures that were worked out by hand, and what holds for all samples.

use dyno_verdict::statistics::{
    Difference, Interval, NoDifference, geometric_mean_ratio, independent_ratio, median, paired_ratio,
    summarize,
};
use proptest::prelude::*;

use super::fixed;

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
    #![proptest_config(fixed())]

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
}
