//! Estimates the threshold at which a rising quantity turns success into failure, from tries at several places, each of
//! which held or did not.
//!
//! Near such a threshold chance decides, so one try says little, and tries far from it say hardly more. This is how
//! psychologists find the faintest light that a person sees: they keep a probability for every place where the
//! threshold may be, try next where these are undecided, and have each answer change them (A. B. Watson and D. G.
//! Pelli, "QUEST: A Bayesian Adaptive Psychometric Method", Perception & Psychophysics 33, 1983). How wide the range is
//! in which chance decides is not known either, so all widths are carried along (L. L. Kontsevich and C. W. Tyler,
//! "Bayesian Adaptive Estimation of Psychometric Slope and Threshold", Vision Research 39, 1999).
//!
//! Everything is on a logarithmic scale. A try at `x` holds with a probability that falls from 1 to 0 like the logistic
//! function of `(threshold - ln x) / width`; at the threshold half of the tries hold.

use super::bootstrap::{CONFIDENCE, Interval};
use super::ratio::Ratio;

/// The widths that are thought possible, all equally likely beforehand.
const WIDTHS: [f64; 5] = [0.01, 0.02, 0.04, 0.08, 0.16];
/// The share of tries whose outcome has nothing to do with their place: something else came in between.
const STRAY: f64 = 0.02;
/// The distance between the places at which the threshold may be.
const STEP: f64 = 0.005;
/// The range of places: this many times above and below the first guess.
const ABOVE: f64 = 8.0;
const BELOW: f64 = 300.0;
/// The error of the first guess, half of the time. The farther off, the less likely, but never by much: the tails are
/// Cauchy's, so that a few tries overrule the guess wholly.
const OFF: f64 = 0.4;
/// The probability that the threshold is beyond the place of a try, once it lies between others. Tries in the middle of
/// what is thought possible would never show the width of the range in which chance decides.
const BEYOND: f64 = 0.2;

/// The knowledge about the threshold's place.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The logarithms of the places, ascending.
    places: Vec<f64>,
    /// The prior probability of each place, but for a common factor.
    priors: Vec<f64>,
    /// The logarithm of the likelihood of all tries, for each place and width.
    logs: Vec<[f64; WIDTHS.len()]>,
    /// The probability that it is at each of them or below.
    below: Vec<f64>,
    /// The number of tries that held, and that did not.
    held: usize,
    failed: usize,
}

impl Threshold {
    /// From a first guess and the tries, each with its place and whether it held. None where the guess or a place is
    /// not above zero.
    pub fn new(guess: f64, tries: &[(f64, bool)]) -> Option<Threshold> {
        if !is_place(guess) {
            return None;
        }
        let first = guess.ln() - BELOW.ln();
        let count = ((ABOVE * BELOW).ln() / STEP) as usize;
        let places: Vec<f64> = (0..=count).map(|place| first + place as f64 * STEP).collect();
        let prior = |place: &f64| 1.0 / (1.0 + ((place - guess.ln()) / OFF).powi(2));
        let priors = places.iter().map(prior).collect();
        let logs = vec![[0.0; WIDTHS.len()]; places.len()];
        let mut threshold = Threshold { places, priors, logs, below: Vec::new(), held: 0, failed: 0 };
        tries.iter().all(|&(place, held)| threshold.add(place, held)).then(|| {
            threshold.weigh();
            threshold
        })
    }

    /// Learns from one more try. False, and nothing is learnt, where its place is not above zero.
    pub fn observe(&mut self, place: f64, held: bool) -> bool {
        let is_added = self.add(place, held);
        self.weigh();
        is_added
    }

    /// Adds a try to the likelihoods.
    fn add(&mut self, place: f64, held: bool) -> bool {
        if !is_place(place) {
            return false;
        }
        let count = if held { &mut self.held } else { &mut self.failed };
        *count += 1;
        let at = place.ln();
        for (place, logs) in self.places.iter().zip(&mut self.logs) {
            for (log, width) in logs.iter_mut().zip(WIDTHS) {
                let holds = 1.0 / (1.0 + ((at - place) / width).exp());
                let holds = STRAY / 2.0 + (1.0 - STRAY) * holds;
                *log += if held { holds.ln() } else { (1.0 - holds).ln() };
            }
        }
        true
    }

    /// Works out the probabilities from the likelihoods.
    fn weigh(&mut self) {
        // Against underflow: only how they compare matters.
        let most = self.logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |(prior, logs): (&f64, &[f64; WIDTHS.len()])| {
            prior * logs.iter().map(|log| (log - most).exp()).sum::<f64>()
        };
        let weights: Vec<f64> = self.priors.iter().zip(&self.logs).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let below = weights.iter().scan(0.0, |below, weight| {
            *below += weight / sum;
            Some(*below)
        });
        self.below = below.collect();
    }

    /// The place that it is below with this probability.
    fn quantile(&self, probability: f64) -> f64 {
        let place = self.below.partition_point(|below| *below < probability).min(self.places.len() - 1);
        self.places[place].exp()
    }

    /// The place of the next try: the median, until some tries have held and others have not; then by turns where the
    /// threshold is hardly below and hardly above.
    pub fn next(&self) -> f64 {
        match (self.held > 0 && self.failed > 0, (self.held + self.failed) % 2) {
            (false, _) => self.median(),
            (true, 0) => self.quantile(BEYOND),
            (true, _) => self.quantile(1.0 - BEYOND),
        }
    }

    /// The median: the place that the threshold is as likely above as below, and the best guess.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The interval that contains the threshold with a probability of 95 %.
    pub fn interval(&self) -> Interval {
        let tail = (1.0 - CONFIDENCE) / 2.0;
        Interval { low: self.quantile(tail), high: self.quantile(1.0 - tail) }
    }

    /// The probability that this threshold is at or above another that is independent of it.
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

    /// The ratio of this threshold to another that is independent of it, with its interval at `confidence`.
    pub fn over(&self, other: &Threshold, confidence: f64) -> Ratio {
        let tail = (1.0 - confidence) / 2.0;
        let at = |probability: f64| self.difference(other, probability).exp();
        Ratio { ratio: at(0.5), interval: Some(Interval { low: at(tail), high: at(1.0 - tail) }) }
    }

    /// The value that the logarithm of this threshold over another is below with this probability.
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

    /// The probability that the logarithm of this threshold over another is at or below a value.
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

/// Returns true if a try can be at this place.
fn is_place(place: f64) -> bool {
    place.is_finite() && place > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of tries where each next one follows from those before, of something that holds up to 1000 without
    /// fail.
    fn found(guess: f64, tries: usize) -> Threshold {
        let mut found = Threshold::new(guess, &[]).unwrap();
        for _ in 0..tries {
            let next = found.next();
            assert!(found.observe(next, next <= 1000.0));
        }
        found
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
        assert!(!Threshold::new(1.0, &[]).unwrap().observe(f64::NAN, true));
    }

    #[test]
    fn tries_that_come_one_by_one_lead_to_the_same_as_all_at_once() {
        let tries = [(500.0, true), (900.0, false), (700.0, true), (800.0, false)];
        let mut one_by_one = Threshold::new(600.0, &[]).unwrap();
        assert!(tries.iter().all(|&(place, held)| one_by_one.observe(place, held)));
        assert_eq!(Some(one_by_one), Threshold::new(600.0, &tries));
    }

    #[test]
    fn one_stray_try_does_not_mislead_for_good() {
        let mut found = Threshold::new(600.0, &[(300.0, false)]).unwrap();
        for _ in 0..16 {
            let next = found.next();
            assert!(found.observe(next, next <= 1000.0));
        }
        let median = found.median();
        assert!((900.0..1100.0).contains(&median), "{median}");
    }

    #[test]
    fn what_is_above_is_reported_by_its_probability() {
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
