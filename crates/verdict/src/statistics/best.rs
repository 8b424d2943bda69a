//! Which of several contenders may be called the fastest: those that are not shown to be slower than the best *and* are
//! within a margin of it.
//!
//! Without the margin a contender would be called fast for being noisy: nobody can show that it is slower. Without the
//! test, for being lucky.
//!
//! The best is found in the same samples, so every pair of contenders was a candidate for the comparison that decides.
//! All pairs therefore share one chance of error, as the comparisons of a table do ([`super::apart`]). Among any number of
//! equals, one is called slower in at most 5 % of tables.

use super::apart::{Compared, told_apart};
use super::bootstrap::MIN_BLOCKS;
use super::signed_rank::Walsh;
use super::summary::median;

/// Who is the best of some contenders, and who is as good.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The best, by its position.
    pub best: usize,
    /// For each contender, whether it is shown to be slower than the best.
    pub slower: Vec<bool>,
    /// For each contender, whether it may be called the fastest.
    pub fastest: Vec<bool>,
}

/// The best of contenders, each with the logarithm of its time in each block, where it has one. `margin` is the share by
/// which the centre of a contender's ratios to the best may exceed 1.
///
/// None where a contender has no block, or shares fewer than [`MIN_BLOCKS`] with the best: then nobody can be told apart.
pub fn best(contenders: &[Vec<Option<f64>>], margin: f64) -> Option<Best> {
    let medians = contenders.iter().map(|logs| median(&logs.iter().flatten().copied().collect::<Vec<_>>()));
    let medians = medians.collect::<Option<Vec<f64>>>()?;
    let least = place_of_least(&medians)?;
    let against = |other: usize| {
        let centre =
            |logs: &Vec<Option<f64>>| Walsh::new(&differences(logs, &contenders[other])).map(|w| w.centre());
        contenders.iter().map(centre).collect::<Option<Vec<f64>>>()
    };
    // The smallest median need not have the smallest ratios, which alone are free of what blocks share.
    let best = place_of_least(&against(least)?)?;
    let centres = against(best)?;
    let shared = |logs: &Vec<Option<f64>>| differences(logs, &contenders[best]).len();
    if contenders.iter().any(|logs| shared(logs) < MIN_BLOCKS) {
        return None;
    }
    let told_apart = pairs_apart(contenders);
    let slower: Vec<bool> = (0..contenders.len())
        .map(|place| centres[place] > 0.0 && told_apart.contains(&(place.min(best), place.max(best))))
        .collect();
    let within = |place: usize| centres[place] <= margin.ln_1p();
    let fastest = (0..contenders.len()).map(|place| !slower[place] && within(place)).collect();
    Some(Best { best, slower, fastest })
}

/// The pairs of contenders, the lower position first, that are told apart.
fn pairs_apart(contenders: &[Vec<Option<f64>>]) -> Vec<(usize, usize)> {
    let numbers = 0..contenders.len();
    let pairs: Vec<(usize, usize)> =
        numbers.flat_map(|second| (0..second).map(move |first| (first, second))).collect();
    let compared = |&(first, second): &(usize, usize)| Compared {
        logs: differences(&contenders[second], &contenders[first]),
        weight: 1.0,
    };
    let apart = told_apart(&pairs.iter().map(compared).collect::<Vec<_>>());
    pairs.into_iter().zip(apart).filter(|(_, apart)| *apart).map(|(pair, _)| pair).collect()
}

/// One less the other, block by block, where both have one.
fn differences(one: &[Option<f64>], other: &[Option<f64>]) -> Vec<f64> {
    one.iter().zip(other).filter_map(|(one, other)| Some((*one)? - (*other)?)).collect()
}

fn place_of_least(values: &[f64]) -> Option<usize> {
    (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(times: impl IntoIterator<Item = f64>) -> Vec<Option<f64>> {
        times.into_iter().map(|time| Some(time.ln())).collect()
    }

    #[test]
    fn noise_alone_keeps_nobody_among_the_fastest() {
        let steady = logs((0..8).map(|i| 1.0 + 0.001 * f64::from(i)));
        // Between half and three times the time of the other, and mostly more: too noisy to be shown slower.
        let noisy = logs([0.5, 3.0, 2.8, 0.6, 2.9, 2.5, 2.7, 1.1]);
        let found = best(&[steady, noisy], 0.05).unwrap();
        assert_eq!((found.best, found.slower, found.fastest), (0, vec![false; 2], vec![true, false]));
    }

    #[test]
    fn within_the_margin_but_shown_slower_is_not_the_fastest() {
        let one = logs((0..8).map(|i| 1.0 + 0.1 * f64::from(i)));
        let times = |factor: f64, scatter: [f64; 8]| {
            logs((0..8).map(move |i| factor * (1.0 + scatter[i]) * (1.0 + 0.1 * i as f64)))
        };
        let slower = times(1.03, [0.0, 0.001, -0.001, 0.0, 0.002, -0.002, 0.001, 0.0]);
        let found = best(&[slower.clone(), one.clone()], 0.05).unwrap();
        assert_eq!((found.best, found.slower, found.fastest), (1, vec![true, false], vec![false, true]));
        // Ten pairs share the error: eight blocks that agree carry them, and eight that scatter do not. There the margin
        // alone decides.
        let among =
            |slower: &Vec<Option<f64>>| [slower.clone(), one.clone(), one.clone(), one.clone(), one.clone()];
        assert_eq!(best(&among(&slower), 0.05).unwrap().fastest, [false, true, true, true, true]);
        let scattering = times(1.03, [0.03, -0.02, 0.02, -0.02, 0.01, -0.02, 0.03, -0.03]);
        assert_eq!(best(&among(&scattering), 0.05).unwrap().fastest, [true; 5]);
        assert_eq!(best(&among(&scattering), 0.01).unwrap().fastest, [false, true, true, true, true]);
        assert_eq!(best(&[slower[..5].to_vec(), slower[..5].to_vec()], 0.05), None);
    }
}
