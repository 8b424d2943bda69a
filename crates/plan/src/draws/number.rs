//! How a number of a range is drawn: by which law, which one never, and when another takes its place.

use anyhow::Result;
use dyno_suite::{Law, Range, When};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Zipf};

use super::deck::Deck;

/// Zipf's exponent in YCSB's workloads.
pub const EXPONENT: f64 = 0.99;

/// How a number is drawn.
pub struct NumberDraw {
    from: i64,
    count: u64,
    law: LawDraw,
    /// The value, by position, that is not drawn.
    not: Option<usize>,
    /// When it is drawn, and the value, by position, that it is when not.
    unless: Option<(WhenDraw, usize)>,
    /// Whether it is written as a name.
    pub is_name: bool,
}

enum LawDraw {
    Uniform,
    Zipf(Zipf<f64>),
    /// The constants A and C of TPC-C's clause 2.1.6.
    Nurand(i64, i64),
}

enum WhenDraw {
    Share(Deck),
    Value(usize),
}

impl NumberDraw {
    /// That of a range, in a run with a seed; `place` is the position of the value of a name.
    pub fn new(range: &Range, seed: u64, place: impl Fn(&String) -> Result<usize>) -> Result<NumberDraw> {
        let count = range.to.abs_diff(range.from) + 1;
        let law = match range.law {
            Law::Uniform => LawDraw::Uniform,
            Law::Zipf => LawDraw::Zipf(Zipf::new(count as f64, EXPONENT)?),
            // C is any number from 0 to A that all clients share.
            Law::Nurand(a) => LawDraw::Nurand(a, (scattered(seed) % (a as u64 + 1)) as i64),
        };
        let unless = range.unless.as_ref().map(|(when, otherwise)| {
            let when = match when {
                When::Share(share) => WhenDraw::Share(Deck::new(*share)),
                When::Value(name) => WhenDraw::Value(place(name)?),
            };
            Ok::<_, anyhow::Error>((when, place(otherwise)?))
        });
        Ok(NumberDraw {
            from: range.from,
            count,
            law,
            not: range.not.as_ref().map(&place).transpose()?,
            unless: unless.transpose()?,
            is_name: range.written.is_some(),
        })
    }

    /// Whether it depends on other values, which are drawn before it.
    pub fn is_dependent(&self) -> bool {
        self.not.is_some() || self.unless.is_some()
    }

    /// A number, beside the values that have been drawn for the step.
    pub fn draw(&mut self, drawn: &[i64], rng: &mut ChaCha8Rng) -> i64 {
        if let Some((when, otherwise)) = &mut self.unless {
            let is_drawn = match when {
                WhenDraw::Share(deck) => deck.draw(rng),
                WhenDraw::Value(place) => drawn[*place] != 0,
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

    fn number(&self, rng: &mut ChaCha8Rng) -> i64 {
        let to = self.from + (self.count - 1) as i64;
        match &self.law {
            LawDraw::Uniform => rng.random_range(self.from..=to),
            LawDraw::Zipf(law) => {
                let rank = law.sample(rng) as u64;
                self.from + (scattered(rank) % self.count) as i64
            }
            LawDraw::Nurand(a, c) => {
                let either = rng.random_range(0..=*a) | rng.random_range(self.from..=to);
                (either + c).rem_euclid(self.count as i64) + self.from
            }
        }
    }
}

/// A rank scattered over all numbers: FNV-1a of its eight bytes, as YCSB's `ScrambledZipfianGenerator` does it.
fn scattered(rank: u64) -> u64 {
    rank.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
