//! dyno's runner and the C program side by side: both do every test in slices, which they take in turns.

use std::collections::BTreeSet;
use std::ffi::OsString;

use anyhow::{Context, Result, bail, ensure};
use dyno_engine::Contender;
use dyno_lab::metronome::Metronome;
use dyno_lab::trial::{Expected, InterleavedTrial, Outcome, Pace, TrialOptions};
use dyno_protocol::Job;
use fastrand::Rng;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::comparison::{Time, times};

/// The state by which the trials of a pair take turns.
pub struct Turns {
    metronome: Metronome,
    random: ChaCha8Rng,
    /// The times of the tests of each comparison when dyno runs alone; `None` before they were measured.
    expected: Vec<Option<Expected>>,
}

/// A program and its job.
pub struct Side {
    /// The contender.
    pub contender: Contender,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Its job, without turns.
    pub job: Job,
}

impl Turns {
    /// Turns for this number of comparisons.
    pub fn new(conduct: &TrialOptions, comparisons: usize, random: &mut Rng) -> Turns {
        Turns {
            metronome: Metronome::new(&conduct.placement),
            random: ChaCha8Rng::seed_from_u64(random.u64(..)),
            expected: vec![None; comparisons],
        }
    }

    /// Returns true if the pace of a comparison is known from a trial alone.
    pub fn knows(&self, comparison: usize) -> bool {
        self.expected[comparison].is_some()
    }

    /// Learns the pace of a comparison.
    pub fn learn(&mut self, comparison: usize, alone: &[Time]) {
        let pace = |time: &Time| Pace { ns: time.nanoseconds as f64, operations: time.operations };
        let named = alone.iter().enumerate().map(|(place, time)| (name(place), pace(time)));
        self.expected[comparison] = Some(named.collect());
    }

    /// Runs both side by side: the times of each.
    pub fn run(
        &mut self,
        conduct: &TrialOptions,
        comparison: usize,
        sides: [Side; 2],
    ) -> Result<[Vec<Time>; 2]> {
        let expected = self.expected[comparison].clone().unwrap_or_default();
        let tests: Vec<String> = (0..sides[0].job.tests.len()).map(name).collect();
        let mut members = Vec::new();
        for Side { contender, command, mut job } in sides {
            job.turns = true;
            job.tests.iter_mut().zip(&tests).for_each(|(test, name)| test.id.clone_from(name));
            let text = |argument: OsString| {
                argument.into_string().ok().context("an argument of the C program is no text")
            };
            let command = command.into_iter().map(text).collect::<Result<_>>()?;
            members.push(InterleavedTrial {
                contender,
                command,
                job,
                expected: expected.clone(),
                alone: BTreeSet::new(),
            });
        }
        let sliced =
            conduct.run_together(&members, &tests, &mut self.random, &mut self.metronome, |_| {}, || {});
        let sides = sliced.into_iter().map(|one| match one.trial.outcome {
            Outcome::Finished => Ok(times(&one.trial)),
            Outcome::Failed { message, .. } => bail!("in turns: {message}"),
            Outcome::Interrupted => bail!("interrupted"),
        });
        let sides: Vec<Vec<Time>> = sides.collect::<Result<_>>()?;
        ensure!(sides.iter().all(|times| times.len() == tests.len()), "a test is missing");
        sides.try_into().ok().context("two sides take turns")
    }
}

/// The name of a test by its place, as the C programs count them.
fn name(place: usize) -> String {
    (place + 1).to_string()
}
