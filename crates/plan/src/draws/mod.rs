//! Draws the steps of a mix: which class comes next, and the values of its parameters.

mod deck;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::Range;

use anyhow::{Context, Result};
use dyno_protocol::STEP_HEAD;
use dyno_suite::{Items, Law, Mix, Source, When, last_name};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Exp, Zipf, weighted::WeightedIndex};

use super::row::letters;
use super::steps::fields;
use deck::Deck;

/// Zipf's exponent in YCSB's workloads.
const EXPONENT: f64 = 0.99;
/// How many numbers the latest are drawn from.
const LATEST: f64 = 1000.0;

/// What steps are drawn from.
pub struct Draws {
    classes: WeightedIndex<f64>,
    /// The values, each with its bytes in a step.
    values: Vec<(Draw, Range<usize>)>,
    lists: Vec<ListDraw>,
    /// How long the client waits before a step, in nanoseconds, and its bytes.
    think: Option<(Exp<f64>, Range<usize>)>,
    /// The numbers among the values that have been drawn for this step.
    drawn: Vec<i64>,
    step: Vec<u8>,
}

/// How many operations arrive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrived {
    /// From the beginning on.
    pub all: u64,
    /// From the first second on that is measured.
    pub within: u64,
}

/// How a value is drawn.
enum Draw {
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
struct Next {
    /// The position of the class that inserts.
    class: usize,
    /// The file's first number, and how far the next is from it.
    from: i64,
    step: i64,
    /// How many it has taken.
    taken: i64,
}

/// How a number is drawn.
struct NumberDraw {
    from: i64,
    count: u64,
    law: LawDraw,
    /// The value, by position, that is not drawn.
    not: Option<usize>,
    /// When it is drawn, and the value, by position, that it is when not.
    unless: Option<(WhenDraw, usize)>,
    is_name: bool,
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

/// A list, with the bytes of its count, and of each item's columns.
struct ListDraw {
    least: i64,
    most: i64,
    count: Range<usize>,
    columns: Vec<Draw>,
    items: Vec<Vec<Range<usize>>>,
}

impl Draws {
    /// Those of one of so many files of a mix, in a run with a seed.
    pub fn new(mix: &Mix, seed: u64, file: (u64, u64)) -> Result<Draws> {
        let classes = WeightedIndex::new(mix.classes.iter().map(|(_, weight)| *weight))
            .context("no class can be drawn")?;
        let mut end = STEP_HEAD as usize;
        let mut places = fields(mix).into_iter().map(|field| {
            end += field.bytes as usize;
            end - field.bytes as usize..end
        });
        let mut place = || places.next().context("a value without a field");
        let values = mix.values.iter().map(|(_, source)| Ok((draw(source, mix, seed, file)?, place()?)));
        let values = values.collect::<Result<_>>()?;
        let list = |(_, items): &(String, Items)| {
            let count = place()?;
            let item = |_| items.columns.iter().map(|_| place()).collect::<Result<_>>();
            Ok(ListDraw {
                least: items.least,
                most: items.most,
                count,
                items: (0..items.most).map(item).collect::<Result<_>>()?,
                columns: items
                    .columns
                    .iter()
                    .map(|(_, source)| draw(source, mix, seed, file))
                    .collect::<Result<_>>()?,
            })
        };
        let lists = mix.lists.iter().map(list).collect::<Result<_>>()?;
        // Nobody can tell from how long somebody has thought when he will have done: so as arrivals are apart.
        let law = |think: u64| Ok::<_, anyhow::Error>((Exp::new(1.0 / think as f64)?, place()?));
        let think = mix.think_ns.map(law).transpose()?;
        let drawn = vec![0; mix.values.len()];
        Ok(Draws { classes, values, lists, think, drawn, step: vec![0; end] })
    }

    /// Steps of which each is due as soon as the one before is done.
    pub fn at_once(&mut self, count: u64, rng: &mut ChaCha8Rng, output: &mut dyn Write) -> io::Result<u64> {
        (0..count).try_for_each(|_| self.step(0, rng, output)).map(|()| count)
    }

    /// Steps that arrive by themselves, so many a second on the average, each without regard to the others (a Poisson
    /// process), for so many seconds. Where they come in sessions of so many, these arrive so, and all but the first of each
    /// are due when the one before is done. How many steps they are, and how many of them arrive within the seconds given.
    pub fn arrivals(
        &mut self,
        rate: f64,
        session: Option<u32>,
        seconds: Range<f64>,
        rng: &mut ChaCha8Rng,
        output: &mut dyn Write,
    ) -> io::Result<Arrived> {
        let each = u64::from(session.unwrap_or(1));
        let between = Exp::new(rate / each as f64).map_err(io::Error::other)?;
        let (mut now, mut arrived) = (0.0, Arrived::default());
        loop {
            now += between.sample(rng);
            if now >= seconds.end {
                return Ok(arrived);
            }
            // 0 would mean that it is not due at a time.
            self.step(((now * 1e9) as u64).max(1), rng, output)?;
            (1..each).try_for_each(|_| self.step(0, rng, output))?;
            arrived.all += each;
            arrived.within += if now >= seconds.start { each } else { 0 };
        }
    }

    fn step(&mut self, due: u64, rng: &mut ChaCha8Rng, output: &mut dyn Write) -> io::Result<()> {
        let Draws { classes, values, lists, think, drawn, step } = self;
        step[..8].copy_from_slice(&due.to_le_bytes());
        let class = classes.sample(rng);
        step[8..16].copy_from_slice(&(class as u64).to_le_bytes());
        // The latest number is one that an earlier step has taken.
        let next = |values: &[(Draw, Range<usize>)], place: usize| match values[place].0 {
            Draw::Next(next) => next,
            _ => Next { class, from: 0, step: 1, taken: 0 },
        };
        for (draw, bytes) in values.iter() {
            if let Draw::Latest(of, before, law) = draw {
                let (of, rank) = (next(values, *of), law.sample(rng) as i64 - 1);
                let latest = of.taken - 1 - rank;
                let is_taken = latest >= 0;
                let number = if is_taken { of.from + latest * of.step } else { (before + 1 + latest).max(1) };
                step[bytes.clone()].copy_from_slice(&number.to_le_bytes());
            }
        }
        // What depends on others comes after them.
        for is_dependent in [false, true] {
            for (place, (draw, bytes)) in values.iter_mut().enumerate() {
                if draw.is_dependent() == is_dependent {
                    drawn[place] = draw.put(drawn, 0, rng, &mut step[bytes.clone()]);
                }
                if let Draw::Next(next) = draw {
                    next.taken += i64::from(is_dependent && next.class == class);
                }
            }
        }
        for list in lists {
            let count = rng.random_range(list.least..=list.most);
            step[list.count.clone()].copy_from_slice(&count.to_le_bytes());
            for (position, item) in (1..=count).zip(&list.items) {
                for (draw, bytes) in list.columns.iter_mut().zip(item) {
                    draw.put(drawn, position, rng, &mut step[bytes.clone()]);
                    if let Draw::Next(next) = draw {
                        next.taken += i64::from(next.class == class);
                    }
                }
            }
        }
        if let Some((law, bytes)) = think {
            step[bytes.clone()].copy_from_slice(&(law.sample(rng) as u64).to_le_bytes());
        }
        output.write_all(step)
    }
}

/// How a value of a mix is drawn.
fn draw(source: &Source, mix: &Mix, seed: u64, (file, files): (u64, u64)) -> Result<Draw> {
    let place = |name: &String| {
        let found = mix.values.iter().position(|(known, _)| known == name);
        found.with_context(|| format!("there is no value {name}"))
    };
    Ok(match source {
        Source::Letters(letters, _) => Draw::Letters(*letters as usize),
        Source::Next(class, from) => {
            let found = mix.classes.iter().position(|(name, _)| name == class);
            let class = found.with_context(|| format!("there is no class {class}"))?;
            Draw::Next(Next { class, from: from + file as i64, step: files as i64, taken: 0 })
        }
        Source::Latest(name, before) => {
            Draw::Latest(place(name)?, *before, Zipf::new(LATEST.min((*before).max(1) as f64), EXPONENT)?)
        }
        Source::Position => Draw::Position,
        Source::Coin(share) => Draw::Coin(Deck::new(*share)),
        Source::Whole(range) => {
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
            Draw::Number(NumberDraw {
                from: range.from,
                count,
                law,
                not: range.not.as_ref().map(place).transpose()?,
                unless: unless.transpose()?,
                is_name: range.written.is_some(),
            })
        }
    })
}

impl Draw {
    fn is_dependent(&self) -> bool {
        matches!(self, Draw::Number(number) if number.not.is_some() || number.unless.is_some())
    }

    /// Draws a value and puts it where it belongs. Returns it, if it is a number.
    fn put(&mut self, drawn: &[i64], position: i64, rng: &mut ChaCha8Rng, bytes: &mut [u8]) -> i64 {
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
            Draw::Number(NumberDraw { is_name: true, .. }) => {
                bytes.copy_from_slice(last_name(number.unsigned_abs()).as_bytes());
            }
            _ => bytes.copy_from_slice(&number.to_le_bytes()),
        }
        number
    }
}

impl NumberDraw {
    fn draw(&mut self, drawn: &[i64], rng: &mut ChaCha8Rng) -> i64 {
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
