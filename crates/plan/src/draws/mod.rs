//! Draws the steps of a mix: which class comes next, and the values of its parameters.

mod classes;
mod deck;
mod number;
#[cfg(test)]
mod tests;
mod value;

use std::io::{self, Write};
use std::ops::Range;

use anyhow::{Context, Result};
use dyno_protocol::{STEP_CLASS, STEP_HEAD};
use dyno_suite::{Course, Items, Mix};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

use super::step_layout::fields;
use classes::Classes;
use value::{Draw, Next};

/// The distributions that steps are drawn from.
pub struct Draws {
    classes: Classes,
    /// The values, each with its bytes in a step.
    values: Vec<(Draw, Range<usize>)>,
    lists: Vec<ListDraw>,
    /// The client's waiting time before a step, in nanoseconds, and its bytes in the step.
    think: Option<(Exp<f64>, Range<usize>)>,
    /// The numbers among the values that have been drawn for this step.
    drawn: Vec<i64>,
    step: Vec<u8>,
}

/// The number of operations that arrive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arrived {
    /// From the beginning on.
    pub all: u64,
    /// From the first second on that is measured.
    pub within: u64,
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
    /// The draws of one file (its index and the number of files) of a mix, in a run with a seed.
    pub fn new(mix: &Mix, seed: u64, file: (u64, u64)) -> Result<Draws> {
        let classes = Classes::new(mix, file.0)?;
        let mut end = STEP_HEAD as usize;
        let mut places = fields(mix).into_iter().map(|field| {
            end += field.bytes as usize;
            end - field.bytes as usize..end
        });
        let mut place = || places.next().context("a value without a field");
        let values = mix.values.iter().map(|(_, source)| Ok((Draw::new(source, mix, seed, file)?, place()?)));
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
                    .map(|(_, source)| Draw::new(source, mix, seed, file))
                    .collect::<Result<_>>()?,
            })
        };
        let lists = mix.lists.iter().map(list).collect::<Result<_>>()?;
        // Think times are exponential, like the gaps between arrivals: the time already waited predicts nothing.
        let law = |think: u64| Ok::<_, anyhow::Error>((Exp::new(1.0 / think as f64)?, place()?));
        let think = mix.think_ns.map(law).transpose()?;
        let drawn = vec![0; mix.values.len()];
        Ok(Draws { classes, values, lists, think, drawn, step: vec![0; end] })
    }

    /// Steps of which each is due as soon as the one before is done.
    pub fn at_once(&mut self, count: u64, rng: &mut ChaCha8Rng, output: &mut dyn Write) -> io::Result<u64> {
        (0..count).try_for_each(|_| self.step(0, 0.0, rng, output)).map(|()| count)
    }

    /// Steps that arrive at a mean rate per second, independently of each other (a Poisson process, whose rate may
    /// change), until the end of the given seconds, at whose start operations begin to count. If they come in sessions,
    /// the sessions arrive so, and all steps but the first of each are due when the one before is done. Returns the
    /// number of all steps, and of those that arrive within the given seconds.
    pub fn arrivals(
        &mut self,
        rate: &Course,
        session: Option<u32>,
        seconds: Range<f64>,
        rng: &mut ChaCha8Rng,
        output: &mut dyn Write,
    ) -> io::Result<Arrived> {
        let each = u64::from(session.unwrap_or(1));
        let most = rate.bounds().1;
        let between = Exp::new(most / each as f64).map_err(io::Error::other)?;
        let (mut now, mut arrived) = (0.0, Arrived::default());
        loop {
            now += between.sample(rng);
            if now >= seconds.end {
                return Ok(arrived);
            }
            let moment = now - seconds.start;
            // Of arrivals at the highest rate such a share stays as arrives at this moment (Lewis and Shedler, 1979).
            if rate.value().is_none() && rng.random_range(0.0..most) >= rate.at(moment) {
                continue;
            }
            // 0 would mean that it is not due at a time.
            self.step(((now * 1e9) as u64).max(1), moment, rng, output)?;
            (1..each).try_for_each(|_| self.step(0, moment, rng, output))?;
            arrived.all += each;
            arrived.within += if now >= seconds.start { each } else { 0 };
        }
    }

    /// Draws a step that is due then, at a moment of the courses, and writes it.
    fn step(
        &mut self,
        due: u64,
        moment: f64,
        rng: &mut ChaCha8Rng,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let Draws { classes, values, lists, think, drawn, step } = self;
        step[..STEP_CLASS.start].copy_from_slice(&due.to_le_bytes());
        let class = classes.draw(moment, rng);
        step[STEP_CLASS].copy_from_slice(&(class as u64).to_le_bytes());
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
        // Values that depend on others come after them.
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
