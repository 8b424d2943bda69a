//! Draws one value of a step and puts it in its place.

use anyhow::{Context, Result};
use dyno_suite::{Mix, Source, ZIPF};
use rand::rngs::ChaCha8Rng;
use rand_distr::Zipf;

use super::deck::Deck;
use super::number::NumberDraw;
use crate::row::letters;

/// The number of latest values to draw from.
const LATEST: f64 = 1000.0;

/// The way in which a value is drawn.
pub enum Draw {
    Number(NumberDraw),
    Coin(Deck),
    Letters(usize),
    Position,
    Next(Next),
    /// The numbers of which one is drawn, by their value's position, those before it, and the law.
    Latest(usize, i64, Zipf<f64>),
}

/// The numbers of what a file's operations insert. Several files take turns.
#[derive(Debug, Clone, Copy)]
pub struct Next {
    /// The position of the class that inserts.
    pub class: usize,
    /// The file's first number.
    pub from: i64,
    /// The distance between successive numbers of the file.
    pub step: i64,
    /// The count of numbers taken.
    pub taken: i64,
}

impl Draw {
    /// The draw of a source, in one file (its index and the number of files) of a mix, in a run with a seed.
    pub fn new(source: &Source, mix: &Mix, seed: u64, (file, files): (u64, u64)) -> Result<Draw> {
        let place = |name: &String| {
            let found = mix.values.iter().position(|(known, _)| known == name);
            found.with_context(|| format!("there is no value {name}"))
        };
        Ok(match source {
            Source::Letters(letters, _) => Draw::Letters(*letters as usize),
            Source::Next(class, from) => {
                let found = mix.classes.iter().position(|known| known.name == *class);
                let class = found.with_context(|| format!("there is no class {class}"))?;
                Draw::Next(Next { class, from: from + file as i64, step: files as i64, taken: 0 })
            }
            Source::Latest(name, before) => {
                Draw::Latest(place(name)?, *before, Zipf::new(LATEST.min((*before).max(1) as f64), ZIPF)?)
            }
            Source::Position => Draw::Position,
            Source::Coin(share) => Draw::Coin(Deck::new(*share)),
            Source::Whole(range) => Draw::Number(NumberDraw::new(range, seed, place)?),
        })
    }

    /// True if it depends on other values, which are drawn before it.
    pub fn is_dependent(&self) -> bool {
        matches!(self, Draw::Number(number) if number.is_dependent())
    }

    /// Draws a value and puts it where it belongs. Returns it, if it is a number.
    pub fn put(&mut self, drawn: &[i64], position: i64, rng: &mut ChaCha8Rng, bytes: &mut [u8]) -> i64 {
        let number = match self {
            Draw::Letters(count) => {
                let (first, others) = bytes.split_at_mut(*count);
                letters(rng, first);
                others.chunks_mut(*count).for_each(|again| again.copy_from_slice(first));
                return 0;
            }
            // It has its bytes already.
            Draw::Latest(..) => return 0,
            Draw::Next(next) => next.from + next.taken * next.step,
            Draw::Position => position,
            Draw::Coin(deck) => deck.draw(rng).into(),
            Draw::Number(number) => number.draw(drawn, rng),
        };
        match self {
            Draw::Number(NumberDraw { written: Some(written), .. }) => written.put(number, bytes),
            _ => bytes.copy_from_slice(&number.to_le_bytes()),
        }
        number
    }
}
