//! Where a yes becomes a no, as something rises: from tries at several places, each of which held or did not.
//!
//! Near such a threshold chance decides, so one try says little, and tries far from it say hardly more. This is how
//! psychologists find the faintest light that somebody sees: they keep a probability for every place where the threshold may
//! be, try next where these are undecided, and have each answer change them (A. B. Watson and D. G. Pelli, "QUEST: A Bayesian Adaptive Psychometric Method", Perception & Psychophysics 33, 1983). How wide the range is in
//! which chance decides is not known either, so all widths are carried along (L. L. Kontsevich and C. W. Tyler, "Bayesian
//! Adaptive Estimation of Psychometric Slope and Threshold", Vision Research 39, 1999).
//!
//! Everything is on a logarithmic scale. A try at `x` holds with a probability that falls from 1 to 0 like the logistic
//! function of `(threshold - ln x) / width`; at the threshold half of the tries hold.

use super::bootstrap::{CONFIDENCE, Interval};
use super::ratio::Ratio;

/// The widths that are thought possible, all equally likely beforehand.
const WIDTHS: [f64; 5] = [0.01, 0.02, 0.04, 0.08, 0.16];
/// The share of tries whose outcome has nothing to do with their place: something else came in between.
const STRAY: f64 = 0.02;
/// How far apart the places are at which the threshold is looked for.
const STEP: f64 = 0.005;
/// Where it is looked for: so many times above and below the first guess.
const ABOVE: f64 = 8.0;
const BELOW: f64 = 300.0;
/// How far off the first guess is, half of the time. The farther off, the less likely, but never by much: the tails are
/// Cauchy's, so that a few tries overrule the guess wholly.
const OFF: f64 = 0.4;
/// How likely the threshold is beyond the place of a try, once it lies between others. Tries in the middle of what is
/// thought possible would never tell how wide the range is in which chance decides.
const BEYOND: f64 = 0.2;

/// What is known of where the threshold is.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The logarithms of the places, ascending.
    places: Vec<f64>,
    /// The probability that it is at each of them or below.
    below: Vec<f64>,
}

impl Threshold {
    /// From a first guess and the tries, each with its place and whether it held. None where the guess or a place is not
    /// above zero.
    pub fn new(guess: f64, tries: &[(f64, bool)]) -> Option<Threshold> {
        let is_place = |place: f64| place.is_finite() && place > 0.0;
        if !is_place(guess) || !tries.iter().all(|(place, _)| is_place(*place)) {
            return None;
        }
        let first = guess.ln() - BELOW.ln();
        let count = ((ABOVE * BELOW).ln() / STEP) as usize;
        let places: Vec<f64> = (0..=count).map(|place| first + place as f64 * STEP).collect();
        let likelihood = |place: f64, width: f64| -> f64 {
            let log = |&(at, held): &(f64, bool)| {
                let holds = 1.0 / (1.0 + ((at.ln() - place) / width).exp());
                let holds = STRAY / 2.0 + (1.0 - STRAY) * holds;
                if held { holds.ln() } else { (1.0 - holds).ln() }
            };
            tries.iter().map(log).sum::<f64>()
        };
        let logs: Vec<[f64; WIDTHS.len()]> =
            places.iter().map(|&place| WIDTHS.map(|width| likelihood(place, width))).collect();
        // Against underflow: only how they compare matters.
        let most = logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |(&place, logs): (&f64, &[f64; WIDTHS.len()])| {
            let prior = 1.0 / (1.0 + ((place - guess.ln()) / OFF).powi(2));
            prior * logs.iter().map(|log| (log - most).exp()).sum::<f64>()
        };
        let weights: Vec<f64> = places.iter().zip(&logs).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let below = weights.iter().scan(0.0, |below, weight| {
            *below += weight / sum;
            Some(*below)
        });
        Some(Threshold { below: below.collect(), places })
    }

    /// The place that it is below with this probability.
    fn quantile(&self, probability: f64) -> f64 {
        let place = self.below.partition_point(|below| *below < probability).min(self.places.len() - 1);
        self.places[place].exp()
    }

    /// Where to try next, after these tries: where it is as likely above as below, until some have held and others have
    /// not; then by turns where it is hardly below and hardly above.
    pub fn next(&self, tries: &[(f64, bool)]) -> f64 {
        let is_between = tries.iter().any(|(_, held)| *held) && !tries.iter().all(|(_, held)| *held);
        match (is_between, tries.len() % 2) {
            (false, _) => self.median(),
            (true, 0) => self.quantile(BEYOND),
            (true, _) => self.quantile(1.0 - BEYOND),
        }
    }

    /// Where it is as likely above as below: the best guess.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Where it is with a probability of 95 %.
    pub fn interval(&self) -> Interval {
        let tail = (1.0 - CONFIDENCE) / 2.0;
        Interval { low: self.quantile(tail), high: self.quantile(1.0 - tail) }
    }

    /// How likely this one is at or above another that is independent of it.
    pub fn is_above(&self, other: &Threshold) -> f64 {
        let mut before = 0.0;
        let at = self.places.iter().zip(&self.below).map(|(&place, &below)| {
            let here = below - before;
            before = below;
            let lower = other.places.partition_point(|known| *known <= place);
            here * lower.checked_sub(1).map_or(0.0, |last| other.below[last])
        });
        at.sum()
    }

    /// How many times another that is independent of it this one is, with the interval in which that is with a probability.
    pub fn over(&self, other: &Threshold, confidence: f64) -> Ratio {
        let tail = (1.0 - confidence) / 2.0;
        let at = |probability: f64| self.difference(other, probability).exp();
        Ratio { ratio: at(0.5), interval: Some(Interval { low: at(tail), high: at(1.0 - tail) }) }
    }

    /// What the logarithm of this one over another is below with this probability.
    fn difference(&self, other: &Threshold, probability: f64) -> f64 {
        // As far apart as they can be at all, and then ever closer until it matters no more.
        let (mut low, mut high) = (
            self.places[0] - other.places[other.places.len() - 1],
            self.places[self.places.len() - 1] - other.places[0],
        );
        while high - low > STEP / 10.0 {
            let middle = f64::midpoint(low, high);
            if self.is_within(other, middle) < probability { low = middle } else { high = middle }
        }
        high
    }

    /// How likely the logarithm of this one over another is at or below a value.
    fn is_within(&self, other: &Threshold, value: f64) -> f64 {
        let mut before = 0.0;
        let at = other.places.iter().zip(&other.below).map(|(&place, &below)| {
            let here = below - before;
            before = below;
            let lower = self.places.partition_point(|known| *known <= place + value);
            here * lower.checked_sub(1).map_or(0.0, |last| self.below[last])
        });
        at.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries where each next one follows from those before, of something that holds up to 1000 without fail.
    fn found(guess: f64, tries: usize) -> Threshold {
        let mut done = Vec::new();
        for _ in 0..tries {
            let next = Threshold::new(guess, &done).unwrap().next(&done);
            done.push((next, next <= 1000.0));
        }
        Threshold::new(guess, &done).unwrap()
    }

    #[test]
    fn a_sharp_threshold_is_found_wherever_it_is() {
        for guess in [150.0, 600.0, 1000.0, 1700.0, 60_000.0] {
            let (median, interval) = (found(guess, 16).median(), found(guess, 16).interval());
            assert!((950.0..1050.0).contains(&median), "{guess}: {median}");
            assert!(interval.includes(1000.0) && interval.relative_half_width(median) < 0.1, "{interval:?}");
        }
        assert_eq!(Threshold::new(0.0, &[]), None);
        assert_eq!(Threshold::new(1.0, &[(f64::NAN, true)]), None);
    }

    #[test]
    fn one_stray_try_does_not_mislead_for_good() {
        let mut done = vec![(300.0, false)];
        for _ in 0..16 {
            let next = Threshold::new(600.0, &done).unwrap().next(&done);
            done.push((next, next <= 1000.0));
        }
        let median = Threshold::new(600.0, &done).unwrap().median();
        assert!((900.0..1100.0).contains(&median), "{median}");
    }

    #[test]
    fn what_is_above_is_told_by_its_probability() {
        let (one, other) = (found(600.0, 12), found(600.0, 12));
        assert!((one.is_above(&other) - 0.5).abs() < 0.05, "{}", one.is_above(&other));
        let low =
            Threshold::new(600.0, &[(500.0, true), (520.0, false), (505.0, true), (515.0, false)]).unwrap();
        assert!(low.is_above(&one) < 0.1 && one.is_above(&low) > 0.9, "{}", low.is_above(&one));
        let (alike, twice) = (one.over(&other, 0.95), one.over(&low, 0.95));
        assert!((alike.ratio - 1.0).abs() < 0.02 && !alike.is_difference(), "{alike:?}");
        assert!((1.7..2.2).contains(&twice.ratio) && twice.is_difference(), "{twice:?}");
        // The wider, the surer.
        let (narrow, wide) = (twice.interval.unwrap(), one.over(&low, 0.999).interval.unwrap());
        assert!(wide.low < narrow.low && narrow.high < wide.high, "{narrow:?} {wide:?}");
    }
}
