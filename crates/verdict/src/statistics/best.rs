//! Finds the fastest of several contenders, and decides whether it may be called the fastest: only where every other
//! one is shown to be slower than another, and by more than a margin. Otherwise no difference is shown between those that
//! remain.
//!
//! The best is found in the same samples, so every pair of contenders was a candidate for the comparisons that decide.
//! All pairs therefore share one chance of error with all other comparisons of the table ([`super::significance`]).

use super::bootstrap::MIN_BLOCKS;
use super::signed_rank::Walsh;
use super::summary::median;

/// The best of some contenders in their samples; it says nothing of whether chance made it so.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The best, by its position.
    pub best: usize,
    /// The centre of the logarithms of each contender's ratios to each, itself included; none where no block has both.
    centres: Vec<Vec<Option<f64>>>,
}

/// A contender that is shown to be slower, and by more than a margin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// It is slower than the best.
    pub slower: bool,
    /// It is slower than another of the contenders, the best or not, so it is not the fastest of them.
    pub behind: bool,
}

impl Best {
    /// Of contenders, each with the logarithm of its time in each block, where it has one.
    ///
    /// None where a contender has no block, or shares fewer than [`MIN_BLOCKS`] with the best: then nothing can be shown.
    pub fn of(contenders: &[Vec<Option<f64>>]) -> Option<Best> {
        let medians =
            contenders.iter().map(|logs| median(&logs.iter().flatten().copied().collect::<Vec<_>>()));
        let medians = medians.collect::<Option<Vec<f64>>>()?;
        let least = place_of_least(&medians)?;
        let centre = |one: &[Option<f64>], other: &[Option<f64>]| {
            Walsh::new(&differences(one, other)).map(|walsh| walsh.centre())
        };
        let over = |one: &Vec<Option<f64>>| contenders.iter().map(|other| centre(one, other)).collect();
        let centres: Vec<Vec<Option<f64>>> = contenders.iter().map(over).collect();
        // The smallest median need not have the smallest ratios, which alone are free of what blocks share.
        let against_least = centres.iter().map(|over| over[least]).collect::<Option<Vec<f64>>>()?;
        let best = place_of_least(&against_least)?;
        let shared = |logs: &Vec<Option<f64>>| differences(logs, &contenders[best]).len();
        contenders.iter().all(|logs| shared(logs) >= MIN_BLOCKS).then_some(Best { best, centres })
    }

    /// For each contender, whether it is shown to be slower by more than `margin`, a share. `is_apart` returns whether the
    /// comparison of two contenders, by position, is a difference in its table.
    pub fn shown(&self, margin: f64, is_apart: impl Fn(usize, usize) -> bool) -> Vec<Shown> {
        let is_slower = |place: usize, than: usize| {
            let centre = self.centres[place][than];
            centre.is_some_and(|centre| centre > margin.ln_1p()) && is_apart(place, than)
        };
        let places = 0..self.centres.len();
        let shown = |place: usize| match place == self.best {
            true => Shown::default(),
            false => Shown {
                slower: is_slower(place, self.best),
                behind: places.clone().any(|than| is_slower(place, than)),
            },
        };
        places.clone().map(shown).collect()
    }
}

/// One less the other, block by block, where both have one.
pub fn differences(one: &[Option<f64>], other: &[Option<f64>]) -> Vec<f64> {
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
    fn what_is_shown_to_be_slower_than_another_is_not_the_fastest() {
        let times = [1.0, 1.1, 2.0].map(|factor| logs((0..8).map(|i| factor * (1.0 + 0.1 * f64::from(i)))));
        let found = Best::of(&times).unwrap();
        let with_second = |one: usize, other: usize| one.max(other) == 2 && one.min(other) == 1;
        let (neither, behind) = (Shown::default(), Shown { slower: false, behind: true });
        assert_eq!(found.shown(0.05, with_second), [neither, neither, behind]);
    }

    #[test]
    fn slower_is_said_only_beyond_the_margin_and_where_it_is_shown() {
        let one = logs((0..8).map(|i| 1.0 + 0.1 * f64::from(i)));
        let three = logs((0..8).map(|i| 1.03 * (1.0 + 0.1 * f64::from(i))));
        let ten = logs((0..8).map(|i| 1.1 * (1.0 + 0.1 * f64::from(i))));
        let found = Best::of(&[three, one.clone(), ten.clone()]).unwrap();
        assert_eq!(found.best, 1);
        let slower = |margin, is_apart: bool| {
            found.shown(margin, |_, _| is_apart).iter().map(|shown| shown.slower).collect::<Vec<_>>()
        };
        assert_eq!(slower(0.05, true), [false, false, true]);
        assert_eq!(slower(0.02, true), [true, false, true]);
        assert_eq!(slower(0.05, false), [false; 3]);
        assert_eq!(Best::of(&[one[..5].to_vec(), ten[..5].to_vec()]), None);
    }

    #[test]
    fn the_best_is_the_best_within_blocks() {
        // The first has the smaller median, because it has no sample of the slow blocks.
        let first = vec![Some(1.1), Some(1.1), Some(1.1), Some(1.1), Some(1.1), Some(1.1), None, None];
        let second = [1.0, 1.0, 1.0, 1.0, 1.2, 1.3, 2.0, 2.0].map(Some).to_vec();
        assert_eq!(Best::of(&[first, second]).unwrap().best, 1);
    }
}
