//! Draws a number of a range: its law, the number it never is, and the condition under which another takes its place.

use anyhow::{Context, Result};
use dyno_suite::{DrawCondition, Range, ValueDistribution, Written};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Exp, Normal, Zipf};

use super::deck::Deck;

/// The distribution of a number.
pub struct NumberDraw {
    from: i64,
    count: u64,
    law: DistributionDraw,
    /// The value, by position, that is not drawn.
    not: Option<usize>,
    /// The condition under which it is drawn, and the value, by position, that replaces it otherwise.
    unless: Option<(ConditionDraw, usize)>,
    /// The text it is written as; None: the number.
    pub written: Option<Written>,
}

enum DistributionDraw {
    Uniform,
    Zipf(Zipf<f64>),
    /// The constants A and C of TPC-C's clause 2.1.6.
    Nurand(i64, i64),
    Gauss(Normal<f64>),
    Exponential(Exp<f64>),
    /// The power to which a uniform number between 0 and 1 is raised.
    Pareto(f64),
    HotSpot {
        /// The number of values in the hot spot.
        width: u64,
        draws: f64,
        moves: u64,
        /// The number of draws so far.
        drawn: u64,
    },
}

enum ConditionDraw {
    Share(Deck),
    Value(usize),
}

impl NumberDraw {
    /// That of a range, in a run with a seed; `place` is the position of the value of a name.
    pub fn new(range: &Range, seed: u64, place: impl Fn(&String) -> Result<usize>) -> Result<NumberDraw> {
        let count = range.to.abs_diff(range.from) + 1;
        let law = match range.law {
            ValueDistribution::Uniform => DistributionDraw::Uniform,
            ValueDistribution::Zipf(exponent) => DistributionDraw::Zipf(Zipf::new(count as f64, exponent)?),
            ValueDistribution::Gauss(deviation) => DistributionDraw::Gauss(
                Normal::new((count - 1) as f64 / 2.0, deviation).context("no normal distribution")?,
            ),
            ValueDistribution::Exponential(mean) => DistributionDraw::Exponential(Exp::new(1.0 / mean)?),
            // A share h of the numbers takes 1 - h of the draws, as Gray et al. (1994) draw records of a database.
            ValueDistribution::Pareto(share) => DistributionDraw::Pareto(share.ln() / (1.0 - share).ln()),
            ValueDistribution::HotSpot { numbers, draws, moves } => {
                let width = ((count as f64 * numbers) as u64).clamp(1, count);
                DistributionDraw::HotSpot { width, draws, moves, drawn: 0 }
            }
            // C is any number from 0 to A that all clients share.
            ValueDistribution::Nurand(a) => {
                DistributionDraw::Nurand(a, (scattered(seed) % (a as u64 + 1)) as i64)
            }
        };
        let unless = range.unless.as_ref().map(|(when, otherwise)| {
            let when = match when {
                DrawCondition::Share(share) => ConditionDraw::Share(Deck::new(*share)),
                DrawCondition::Value(name) => ConditionDraw::Value(place(name)?),
            };
            Ok::<_, anyhow::Error>((when, place(otherwise)?))
        });
        Ok(NumberDraw {
            from: range.from,
            count,
            law,
            not: range.not.as_ref().map(&place).transpose()?,
            unless: unless.transpose()?,
            written: range.written.clone(),
        })
    }

    /// True if it depends on other values, which are drawn before it.
    pub fn is_dependent(&self) -> bool {
        self.not.is_some() || self.unless.is_some()
    }

    /// A number, given the values that have been drawn for the step.
    pub fn draw(&mut self, drawn: &[i64], rng: &mut ChaCha8Rng) -> i64 {
        if let Some((when, otherwise)) = &mut self.unless {
            let is_drawn = match when {
                ConditionDraw::Share(deck) => deck.draw(rng),
                ConditionDraw::Value(place) => drawn[*place] != 0,
            };
            if !is_drawn {
                return drawn[*otherwise];
            }
        }
        let to = self.from + (self.count - 1) as i64;
        let not = self.not.map(|place| drawn[place]).filter(|not| (self.from..=to).contains(not));
        let Some(not) = not.filter(|_| self.count > 1) else { return self.number(rng) };
        loop {
            let number = self.number(rng);
            if number != not {
                return number;
            }
        }
    }

    fn number(&mut self, rng: &mut ChaCha8Rng) -> i64 {
        let to = self.from + (self.count - 1) as i64;
        match &mut self.law {
            DistributionDraw::Gauss(law) => self.from + within(self.count, || law.sample(rng).round()),
            DistributionDraw::Exponential(law) => self.from + within(self.count, || law.sample(rng).floor()),
            DistributionDraw::Pareto(power) => {
                let place = rng.random_range(0.0..1.0_f64).powf(*power) * self.count as f64;
                self.from + (place as u64).min(self.count - 1) as i64
            }
            DistributionDraw::HotSpot { width, draws, moves, drawn } => {
                // It goes on by its own width, and from the end to the beginning.
                let steps = drawn.checked_div(*moves).unwrap_or(0);
                let first = (u128::from(steps) * u128::from(*width) % u128::from(self.count)) as u64;
                *drawn += 1;
                let is_hot = *width == self.count || rng.random_bool(*draws);
                let (skip, of) = if is_hot { (0, *width) } else { (*width, self.count - *width) };
                let place = u128::from(first) + u128::from(skip) + u128::from(rng.random_range(0..of));
                self.from + (place % u128::from(self.count)) as i64
            }
            DistributionDraw::Uniform => rng.random_range(self.from..=to),
            DistributionDraw::Zipf(law) => {
                let rank = law.sample(rng) as u64;
                self.from + (scattered(rank) % self.count) as i64
            }
            DistributionDraw::Nurand(a, c) => {
                let either = rng.random_range(0..=*a) | rng.random_range(self.from..=to);
                (either + *c).rem_euclid(self.count as i64) + self.from
            }
        }
    }
}

/// The first of some draws that lies between 0 and `count`.
fn within(count: u64, mut draw: impl FnMut() -> f64) -> i64 {
    loop {
        let place = draw();
        if place >= 0.0 && place < count as f64 {
            return place as i64;
        }
    }
}

/// A rank scattered over all numbers: FNV-1a of its eight bytes, as YCSB's `ScrambledZipfianGenerator` does it.
fn scattered(rank: u64) -> u64 {
    rank.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
