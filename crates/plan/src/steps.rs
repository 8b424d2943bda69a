//! Writes what the clients of a mix do and when: a file of steps for each, drawn from the run's seed.

use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use dyno_protocol::{FieldKind, Lasts, MixWork, STEP_HEAD, StepField, StepFile};
use dyno_suite::{Distribution, Mix, Source, Test};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp, Zipf, weighted::WeightedIndex};

use super::arrays::Arrays;
use super::row::letters;

/// How many steps a client has that begins anew when it has done them: as many values as no cache of an engine mistakes
/// for a few.
const A_CLIENT: u64 = 20_000;
/// The most steps of a run.
const MOST: f64 = 50e6;
/// How long an operation may wait and be tried again, in nanoseconds.
const PATIENCE: u64 = 10_000_000_000;
/// Zipf's exponent in YCSB's workloads.
const EXPONENT: f64 = 0.99;

impl Arrays<'_> {
    /// The work of a mix, whose classes are still to be filled in by dialect, and its numbers.
    pub fn steps(&self, test: &Test) -> Result<(MixWork, Mix)> {
        let mix = self.suite().mix(test, self.parameters())?;
        let draws = Draws::new(&mix)?;
        let steps = match arrivals(&mix) {
            Some((rate, seconds)) => {
                let name = format!("{}.arrivals.steps", test.id);
                vec![self.write_steps(&name, |rng, output| draws.arrivals(rate, seconds, rng, output))?]
            }
            None => {
                let file = |client| {
                    let name = format!("{}.{client}.steps", test.id);
                    self.write_steps(&name, |rng, output| draws.at_once(each(&mix), rng, output))
                };
                (1..=mix.clients).map(file).collect::<Result<_>>()?
            }
        };
        let (fields, clients, lasts) = (fields(&mix), mix.clients, mix.lasts);
        Ok((MixWork { classes: Vec::new(), fields, clients, steps, lasts, patience_ns: PATIENCE }, mix))
    }

    fn write_steps(
        &self,
        name: &str,
        write: impl FnOnce(&mut ChaCha8Rng, &mut dyn Write) -> io::Result<u64>,
    ) -> Result<StepFile> {
        let file = self.path(name);
        let written = || -> io::Result<u64> {
            let mut output = self.create(&file)?;
            let count = write(&mut self.rng(name), &mut output)?;
            output.into_inner()?.sync()?;
            Ok(count)
        };
        let count = written().with_context(|| format!("cannot write the input {}", file.display()))?;
        ensure!(count > 0, "no operation arrives in that time: take a higher rate or a longer time");
        Ok(StepFile { file, count })
    }
}

/// How many bytes the steps of a mix take.
///
/// # Errors
/// They are more than a run can plan.
pub fn step_bytes(mix: &Mix) -> Result<u64> {
    let planned = match arrivals(mix) {
        Some((rate, seconds)) => rate * seconds,
        None => each(mix) as f64 * f64::from(mix.clients),
    };
    ensure!(
        planned <= MOST,
        "{planned:.0} operations are more than the {MOST:.0} that a run can plan: take a lower rate, fewer clients or \
         a shorter time"
    );
    Ok(planned as u64 * (STEP_HEAD + fields(mix).iter().map(|field| field.bytes).sum::<u64>()))
}

/// How many operations arrive in a second and for how many seconds; none where each is due as soon as its client is free.
fn arrivals(mix: &Mix) -> Option<(f64, f64)> {
    let seconds = |lasts: Lasts| (lasts.warm_up_ns + lasts.duration_ns) as f64 / 1e9;
    mix.rate.zip(mix.lasts.map(seconds))
}

/// How many steps each client has.
fn each(mix: &Mix) -> u64 {
    mix.count.unwrap_or(A_CLIENT)
}

/// What a step has of each value.
fn fields(mix: &Mix) -> Vec<StepField> {
    let field = |(name, source): &(String, Source)| {
        let (kind, bytes) = match source {
            Source::Whole(..) => (FieldKind::Integer, 8),
            Source::Letters(letters) => (FieldKind::Text, *letters),
        };
        StepField { name: name.clone(), kind, bytes }
    };
    mix.values.iter().map(field).collect()
}

/// What a step is drawn from.
struct Draws {
    classes: WeightedIndex<f64>,
    values: Vec<Draw>,
}

enum Draw {
    Uniform(i64, i64),
    /// The first number, how many there are, and their law.
    Zipf(i64, u64, Zipf<f64>),
    Letters(usize),
}

impl Draws {
    fn new(mix: &Mix) -> Result<Draws> {
        let classes = WeightedIndex::new(mix.classes.iter().map(|(_, weight)| *weight))
            .context("no class can be drawn")?;
        let values = mix.values.iter().map(|(_, source)| {
            Ok(match *source {
                Source::Whole(from, to, Distribution::Uniform) => Draw::Uniform(from, to),
                Source::Whole(from, to, Distribution::Zipf) => {
                    let count = to.abs_diff(from) + 1;
                    Draw::Zipf(from, count, Zipf::new(count as f64, EXPONENT)?)
                }
                Source::Letters(letters) => Draw::Letters(letters as usize),
            })
        });
        Ok(Draws { classes, values: values.collect::<Result<_>>()? })
    }

    /// Steps of which each is due as soon as the one before is done.
    fn at_once(&self, count: u64, rng: &mut ChaCha8Rng, output: &mut dyn Write) -> io::Result<u64> {
        (0..count).try_for_each(|_| self.step(0, rng, output)).map(|()| count)
    }

    /// Steps that arrive by themselves, so many a second on the average, each without regard to the others (a Poisson
    /// process), for so many seconds.
    fn arrivals(
        &self,
        rate: f64,
        seconds: f64,
        rng: &mut ChaCha8Rng,
        output: &mut dyn Write,
    ) -> io::Result<u64> {
        let between = Exp::new(rate).map_err(io::Error::other)?;
        let (mut now, mut count) = (0.0, 0);
        loop {
            now += between.sample(rng);
            if now >= seconds {
                return Ok(count);
            }
            // 0 would mean that it is not due at a time.
            self.step(((now * 1e9) as u64).max(1), rng, output)?;
            count += 1;
        }
    }

    fn step(&self, due: u64, rng: &mut ChaCha8Rng, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(&due.to_le_bytes())?;
        output.write_all(&(self.classes.sample(rng) as u64).to_le_bytes())?;
        for value in &self.values {
            match value {
                Draw::Uniform(from, to) => output.write_all(&rng.random_range(*from..=*to).to_le_bytes())?,
                Draw::Zipf(from, count, law) => {
                    let rank = law.sample(rng) as u64;
                    output.write_all(&(from + (scattered(rank) % count) as i64).to_le_bytes())?;
                }
                Draw::Letters(count) => {
                    let mut text = vec![0; *count];
                    letters(rng, &mut text);
                    output.write_all(&text)?;
                }
            }
        }
        Ok(())
    }
}

/// A rank scattered over all numbers: FNV-1a of its eight bytes, as YCSB's `ScrambledZipfianGenerator` does it.
fn scattered(rank: u64) -> u64 {
    rank.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn mix() -> Mix {
        Mix {
            clients: 1,
            lasts: None,
            count: Some(1),
            rate: None,
            classes: vec![("never".into(), 0.0), ("often".into(), 3.0), ("seldom".into(), 1.0)],
            values: vec![
                ("a".into(), Source::Whole(-2, 2, Distribution::Uniform)),
                ("b".into(), Source::Whole(1, 1000, Distribution::Zipf)),
                ("c".into(), Source::Letters(3)),
            ],
        }
    }

    fn draws() -> Draws {
        Draws::new(&mix()).unwrap()
    }

    #[test]
    fn the_bytes_of_steps_are_known_before_they_are_written() {
        let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        draws().at_once(10, &mut rng, &mut bytes).unwrap();
        let of = |clients, count| step_bytes(&Mix { clients, count, ..mix() });
        assert_eq!(of(3, Some(10)).unwrap(), 3 * bytes.len() as u64);
        assert!(of(10_000, None).unwrap_err().to_string().contains("fewer clients"));
    }

    fn numbers(bytes: &[u8]) -> Vec<[i64; 4]> {
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
        bytes.chunks(16 + 8 + 8 + 3).map(|step| [0, 8, 16, 24].map(|at| number(&step[at..at + 8]))).collect()
    }

    #[test]
    fn classes_and_values_are_drawn_as_often_as_was_said() {
        let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        assert_eq!(draws().at_once(40_000, &mut rng, &mut bytes).unwrap(), 40_000);
        let steps = numbers(&bytes);
        let count = |is: &dyn Fn(&[i64; 4]) -> bool| steps.iter().filter(|step| is(step)).count();
        assert_eq!((count(&|step| step[0] != 0), count(&|step| step[1] == 0)), (0, 0));
        assert!((29_500..30_500).contains(&count(&|step| step[1] == 1)));
        for value in -2..=2 {
            assert!((7_600..8_400).contains(&count(&|step| step[2] == value)), "{value}");
        }
        // Of a thousand the most frequent has the share 1 / (sum of 1/k^0.99), 12.9 %, and the second half as much.
        let mut often: Vec<usize> = (1..=1000).map(|value| count(&|step| step[3] == value)).collect();
        often.sort_unstable();
        assert!((4_900..5_500).contains(&often[999]), "{}", often[999]);
        assert!((2_400..2_900).contains(&often[998]), "{}", often[998]);
        assert_eq!(often.iter().sum::<usize>(), 40_000);
    }

    #[test]
    fn arrivals_come_at_their_rate_and_in_order() {
        let (mut rng, mut bytes) = (ChaCha8Rng::seed_from_u64(1), Vec::new());
        let count = draws().arrivals(5_000.0, 4.0, &mut rng, &mut bytes).unwrap();
        assert!((19_500..20_500).contains(&count), "{count}");
        let due: Vec<i64> = numbers(&bytes).iter().map(|step| step[0]).collect();
        assert!(due.is_sorted() && due[0] > 0 && due[due.len() - 1] < 4_000_000_000);
        // The gaps of a Poisson process are as wide as their mean on the average, and spread as widely.
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05);
    }
}
