//! Writes what the clients of a mix do and when: a file of steps for each, drawn from the run's seed.

use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use dyno_protocol::{MixClass, MixWork, StepFile, TimeWindow};
use dyno_suite::{Course, Drawn, Mix, Test};
use rand::rngs::ChaCha8Rng;

use super::arrays::Arrays;
use super::draws::Draws;
use super::step_layout::{fields, lists, width};

/// The number of steps of a client that begins again when it has done them: enough different values that a cache of an
/// engine cannot mistake them for a few.
const A_CLIENT: u64 = 20_000;
/// The most bytes of a client's steps, unless these are fewer than [`FEWEST`] steps.
const A_CLIENT_BYTES: u64 = 4 << 20;
const FEWEST: u64 = 5_000;
/// The most steps of a run.
const MOST: f64 = 50e6;

impl Arrays<'_> {
    /// The work of a mix, whose classes are named and still to be filled in by dialect, its numbers, and the number of operations
    /// that are due while it is measured if they arrive at a rate; each connect of a session counts as one.
    pub fn steps(&self, test: &Test) -> Result<(MixWork, Mix, Option<u64>)> {
        let mix = self.suite().mix(test, self.parameters())?;
        let seed = self.parameters().seed();
        // Files that are done at once share the numbers of what they insert.
        let files = if mix.rate.is_some() { 1 } else { u64::from(mix.clients) };
        let draws = |file: u64| Draws::new(&mix, seed, (file, files));
        let mut due = None;
        let steps = match arrivals(&mix) {
            Some((rate, seconds)) => {
                let measured = mix.lasts.map_or(0.0, |lasts| lasts.warm_up_ns as f64 / 1e9)..seconds;
                let name = format!("{}.arrivals.steps", test.id);
                vec![self.write_steps(&name, draws(0)?, |draws, rng, output| {
                    let arrived = draws.arrivals(rate, mix.session, measured, rng, output)?;
                    // Each session connects once.
                    due =
                        Some(arrived.within + mix.session.map_or(0, |each| arrived.within / u64::from(each)));
                    Ok(arrived.all)
                })?]
            }
            None => {
                let file = |client| {
                    let name = format!("{}.{client}.steps", test.id);
                    self.write_steps(&name, draws(u64::from(client) - 1)?, |draws, rng, output| {
                        draws.at_once(each(&mix), rng, output)
                    })
                };
                (1..=mix.clients).map(file).collect::<Result<_>>()?
            }
        };
        Ok((work(&mix, steps), mix, due))
    }

    fn write_steps(
        &self,
        name: &str,
        mut draws: Draws,
        write: impl FnOnce(&mut Draws, &mut ChaCha8Rng, &mut dyn Write) -> io::Result<u64>,
    ) -> Result<StepFile> {
        let file = self.path(name);
        let written = || -> io::Result<u64> {
            let mut output = self.create(&file)?;
            let count = write(&mut draws, &mut self.rng(name), &mut output)?;
            output.into_inner()?.sync()?;
            Ok(count)
        };
        let count = written().with_context(|| format!("cannot write the input {}", file.display()))?;
        ensure!(count > 0, "no operation arrives in that time: take a higher rate or a longer time");
        Ok(StepFile { file, count })
    }
}

/// The size of a mix's steps, in bytes.
///
/// # Errors
/// They are more than a run can plan.
pub fn step_bytes(mix: &Mix) -> Result<u64> {
    let planned = match arrivals(mix) {
        Some((rate, seconds)) => {
            // Those of the warm-up are as the first that count.
            let warm_up = mix.lasts.map_or(0.0, |lasts| lasts.warm_up_ns as f64 / 1e9);
            rate.mean(-warm_up, seconds - warm_up) * seconds
        }
        None => each(mix) as f64 * f64::from(mix.clients),
    };
    ensure!(
        planned <= MOST,
        "{planned:.0} operations are more than the {MOST:.0} that a run can plan: take a lower rate, fewer clients or \
         a shorter time"
    );
    Ok(planned as u64 * width(mix))
}

/// The arrivals per second and the seconds they last; None if each operation is due as soon as its client is free.
fn arrivals(mix: &Mix) -> Option<(&Course, f64)> {
    let seconds = |lasts: TimeWindow| (lasts.warm_up_ns + lasts.duration_ns) as f64 / 1e9;
    mix.rate.as_ref().zip(mix.lasts.map(seconds))
}

/// The number of steps of each client.
fn each(mix: &Mix) -> u64 {
    mix.count.unwrap_or_else(|| (A_CLIENT_BYTES / width(mix)).clamp(FEWEST, A_CLIENT))
}

/// A mix as a job has it, before the plan adds what each class does.
fn work(mix: &Mix, steps: Vec<StepFile>) -> MixWork {
    let class = |drawn: &Drawn| MixClass {
        name: drawn.name.clone(),
        patience_ns: drawn.patience_ns,
        ..MixClass::default()
    };
    let fields = fields(mix);
    MixWork {
        classes: mix.classes.iter().map(class).collect(),
        think: mix.think_ns.map(|_| fields.len() - 1),
        fields,
        lists: lists(mix),
        clients: mix.clients,
        threads: None,
        steps,
        reports: None,
        interval_ns: None,
        times_statements: false,
        session: mix.session,
        part: None,
        lasts: mix.lasts,
        patience_ns: mix.patience_ns,
        store: None,
        invariants: Vec::new(),
        queries: Vec::new(),
    }
}
