//! The places where a series of runs changed: E-divisive, a search for change points without assumptions on how figures
//! are distributed (D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point Analysis of
//! Multivariate Data", Journal of the American Statistical Association 109, 2014). MongoDB watches its performance with
//! it (D. Daly et al., "The Use of Change Point Detection to Identify Software Performance Regressions in a Continuous
//! Integration System", ICPE 2020).
//!
//! The series is cut where the energy distance between what is before and what follows is largest, if less than
//! one in twenty random orders of the same figures can be cut better; then each part likewise. What follows a cut
//! may end anywhere (their κ), not only with the last run: else a slowdown of some runs that was repaired hides
//! between the figures on both sides of it, which are alike. A series in which nothing changed is flagged in at
//! most 5 % of cases, whatever the noise, if its runs are independent of each other.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

/// The chance that a series in which nothing changed is cut.
const LEVEL: f64 = 0.05;
/// Random orders that a cut is compared with.
const ORDERS: usize = 999;
/// The fewest runs on each side of a cut.
const FEWEST: usize = 2;
/// With fewer runs no cut can be rarer than the level: of eight, four and four are one order of 35.
pub const FEWEST_RUNS: usize = 8;

/// A place where a series changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first run after the change, by its position in the series.
    pub at: usize,
    /// The share of random orders that can be cut as well or better.
    pub p: f64,
}

/// The changes of a series, in its order. Values may have any unit; for durations take their logarithms, so that a
/// change is a factor.
pub fn changes(values: &[f64], seed: u64) -> Vec<Change> {
    let mut found = Vec::new();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    search(values, 0, &mut rng, &mut found);
    found.sort_by_key(|change| change.at);
    found
}

fn search(values: &[f64], offset: usize, rng: &mut ChaCha8Rng, found: &mut Vec<Change>) {
    let n = values.len();
    if n < FEWEST_RUNS {
        return;
    }
    let distances: Vec<Vec<f64>> =
        values.iter().map(|a| values.iter().map(|b| (a - b).abs()).collect()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    let (energy, cut) = best_cut(&distances, &order);
    // Equal up to rounding counts as equal, so that a series of one value is never cut.
    let enough = energy * (1.0 - 1e-9);
    let mut as_good = 1;
    for _ in 0..ORDERS {
        order.shuffle(rng);
        as_good += usize::from(best_cut(&distances, &order).0 >= enough);
    }
    let p = as_good as f64 / (ORDERS + 1) as f64;
    if p > LEVEL {
        return;
    }
    found.push(Change { at: offset + cut, p });
    search(&values[..cut], offset, rng, found);
    search(&values[cut..], offset + cut, rng, found);
}

/// The largest energy distance between the figures before a cut and some that follow it, and the cut: the position of
/// the first value after it. `order` says which value stands where.
fn best_cut(distances: &[Vec<f64>], order: &[usize]) -> (f64, usize) {
    let sums = DistanceSums::new(distances, order);
    let mut best = (f64::NEG_INFINITY, FEWEST);
    for cut in FEWEST..=order.len() - FEWEST {
        for end in cut + FEWEST..=order.len() {
            let energy = sums.energy(cut, end);
            if energy > best.0 {
                best = (energy, cut);
            }
        }
    }
    best
}

/// The sums of the distances between the first values of an order and the first ones, for every two numbers of them.
struct DistanceSums {
    sums: Vec<f64>,
    width: usize,
}

impl DistanceSums {
    fn new(distances: &[Vec<f64>], order: &[usize]) -> DistanceSums {
        let width = order.len() + 1;
        let mut sums = vec![0.0; width * width];
        for (row, &one) in order.iter().enumerate() {
            let mut of_row = 0.0;
            for (column, &other) in order.iter().enumerate() {
                of_row += distances[one][other];
                sums[(row + 1) * width + column + 1] = sums[row * width + column + 1] + of_row;
            }
        }
        DistanceSums { sums, width }
    }

    /// The energy distance between the values before `cut` and those from there to `end`.
    fn energy(&self, cut: usize, end: usize) -> f64 {
        let sum = |rows: usize, columns: usize| self.sums[rows * self.width + columns];
        let (left, both, all) = (sum(cut, cut), sum(cut, end), sum(end, end));
        let (within_left, between, within_right) = (left / 2.0, both - left, (all - 2.0 * both + left) / 2.0);
        let (m, k) = (cut as f64, (end - cut) as f64);
        let pairs = |count: f64| count * (count - 1.0) / 2.0;
        m * k / (m + k) * (2.0 * between / (m * k) - within_left / pairs(m) - within_right / pairs(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut values = vec![1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01];
        values.extend([1.2, 1.21, 1.19, 1.2, 1.22, 1.18]);
        let found = changes(&values, 1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].at, 8);
    }

    #[test]
    fn a_step_that_goes_back_is_found_on_both_sides() {
        let mut values = vec![1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01];
        values.extend([1.2, 1.21, 1.19, 1.2]);
        values.extend([1.01, 0.99, 1.0, 1.0, 1.02, 0.98, 1.0, 1.01]);
        let places: Vec<usize> = changes(&values, 1).iter().map(|change| change.at).collect();
        assert_eq!(places, [8, 12]);
    }

    #[test]
    fn what_does_not_change_or_is_too_short_is_not_cut() {
        assert_eq!(changes(&[1.0; 30], 1), []);
        assert_eq!(changes(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0], 1), []);
        assert_eq!(changes(&[], 1), []);
    }
}
