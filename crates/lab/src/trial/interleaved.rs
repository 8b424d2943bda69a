//! Trials side by side: all their runners are there, and one of them works at a time.
//!
//! The contenders go through the tests together, in slices of some ten milliseconds and in an order drawn anew for each
//! round ([`rounds`]), so that what the machine does for a second or longer falls on all of them alike. A runner that
//! has no turn waits for a line on its standard input and takes no processor time; its clock stands.

use std::collections::BTreeMap;

use anyhow::Result;
use dyno_protocol::{Job, Waiting};
use rand::Rng;
use rand::seq::SliceRandom;

use super::rounds::{self, Goal};
use super::running::{Pause, Running};
use super::{Outcome, Trial, TrialOptions};
use crate::metronome::Metronome;

/// The time that each test takes a contender alone, in nanoseconds, by the test's id.
pub type Expected = BTreeMap<String, f64>;

/// One of the trials that run side by side.
#[derive(Debug)]
pub struct InterleavedTrial {
    /// The command that starts its runner.
    pub command: Vec<String>,
    /// Its job, which has turns.
    pub job: Job,
    /// The expected time of its tests.
    pub expected: Expected,
    /// True if it is the harness, which takes almost no time and sets no contender's pace.
    pub harness: bool,
}

/// A trial that was done in slices.
#[derive(Debug, Default)]
pub struct Sliced {
    /// The finished trial.
    pub trial: Trial,
    /// The cut of each sample.
    pub cuts: Vec<SampleSlices>,
}

/// The slices of one sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SampleSlices {
    /// The number of its slices.
    pub slices: u32,
    /// The mean time of the metronome's beats between them, in nanoseconds.
    pub beat_ns: Option<f64>,
}

impl TrialOptions {
    /// Runs trials side by side. Their tests are those of `tests`, in this order, but for what one of them lacks.
    /// `on_test` receives the place of a test in that list as it begins.
    ///
    /// One that fails leaves the others working. If a signal asks the run to stop, all are interrupted.
    pub fn run_together(
        &self,
        members: &[InterleavedTrial],
        tests: &[String],
        random: &mut impl Rng,
        metronome: &mut Metronome,
        mut on_test: impl FnMut(usize),
    ) -> Vec<Sliced> {
        let Some(first) = members.first() else { return Vec::new() };
        let watched = self.watched(&first.job);
        let moment = watched.moment();
        let mut seats: Vec<SlicedRunner> =
            members.iter().map(|member| SlicedRunner::new(member, self, tests)).collect();
        let mut beats: Vec<Vec<f64>> = vec![Vec::new(); tests.len()];
        let mut before: Option<Goal> = None;
        for round in rounds::rounds(&quickest(members, tests)) {
            if let Some(goal) = round.iter().find(|goal| before.is_none_or(|before| before.test != goal.test))
            {
                on_test(goal.test);
            }
            let beat = play(&mut seats, &round, before, random, metronome);
            for goal in &round {
                beats[goal.test].extend(beat);
            }
            before = round.last().copied();
            if self.interrupts.signal().is_some() {
                break;
            }
        }
        let mean =
            |beats: &Vec<f64>| (!beats.is_empty()).then(|| beats.iter().sum::<f64>() / beats.len() as f64);
        let beats: Vec<Option<f64>> = beats.iter().map(mean).collect();
        let mut sliced: Vec<Sliced> = seats.into_iter().map(|seat| seat.finish(&beats)).collect();
        let others = moment.zip(watched.moment()).map(|(before, after)| watched.others(&before, &after));
        // All trials had this time together; each reports an equal part, so that their sum is the time.
        let parts = sliced.len() as u64;
        for one in &mut sliced {
            one.trial.others = others.map(|others| others.part(parts));
        }
        sliced
    }
}

/// The time that each test takes the quickest of some, in nanoseconds; the harness does not count.
fn quickest(members: &[InterleavedTrial], tests: &[String]) -> Vec<f64> {
    let counting = || members.iter().filter(|member| !member.harness);
    let quickest = |test: &String| {
        counting().filter_map(|member| member.expected.get(test).copied()).min_by(f64::total_cmp)
    };
    tests.iter().map(|test| quickest(test).unwrap_or_default()).collect()
}

/// One round: everybody's turns and a beat of the metronome, in a random order. Returns the beat.
fn play(
    seats: &mut [SlicedRunner],
    round: &[Goal],
    before: Option<Goal>,
    random: &mut impl Rng,
    metronome: &mut Metronome,
) -> Option<f64> {
    let turns: Vec<Vec<Vec<Goal>>> =
        seats.iter().map(|seat| rounds::turns(round, before, |test| seat.expected(test))).collect();
    // None: the metronome.
    let mut order: Vec<Option<usize>> = vec![None];
    for (seat, turns) in turns.iter().enumerate() {
        order.extend(turns.iter().map(|_| Some(seat)));
    }
    order.shuffle(random);
    let mut turns: Vec<_> = turns.into_iter().map(Vec::into_iter).collect();
    let mut beat = None;
    for turn in order {
        match turn {
            None => beat = metronome.beat(),
            Some(seat) => seats[seat].take_turn(&turns[seat].next().unwrap_or_default()),
        }
    }
    beat
}

/// One of the runners that take turns.
struct SlicedRunner<'a> {
    member: &'a InterleavedTrial,
    conduct: &'a TrialOptions,
    /// All tests, by id.
    tests: &'a [String],
    state: State,
    /// The number of slices of each of its samples, and the current sample.
    slices: Vec<u32>,
}

/// The state of a trial.
enum State {
    /// It has not begun.
    New,
    /// It waits for a turn.
    Waits(Box<Running>, Waiting),
    /// It has ended.
    Over(Box<Trial>),
}

impl<'a> SlicedRunner<'a> {
    fn new(member: &'a InterleavedTrial, conduct: &'a TrialOptions, tests: &'a [String]) -> SlicedRunner<'a> {
        SlicedRunner { member, conduct, tests, state: State::New, slices: vec![0] }
    }

    /// Reaches some goals, one after another. The runner starts with the first turn and ends with the last.
    fn take_turn(&mut self, goals: &[Goal]) {
        if self.conduct.interrupts.signal().is_some() {
            return;
        }
        if let State::New = self.state {
            self.state = self.start();
        }
        for goal in goals {
            while let State::Waits(running, waiting) = &self.state
                && self.test() == Some(&self.tests[goal.test])
                && let Some(operations) = left(*goal, *waiting)
            {
                if let Some(slices) = self.slices.last_mut() {
                    *slices += 1;
                }
                self.state = match running.give(operations) {
                    Ok(()) => self.go_on(),
                    Err(error) => State::Over(Box::new(Trial::failed(&error))),
                };
            }
        }
    }

    fn start(&mut self) -> State {
        let begin = || -> Result<Running> {
            let mut text = serde_json::to_vec(&self.member.job)?;
            text.push(b'\n');
            Running::start(self.conduct, &self.member.command, &text, &self.member.job)
        };
        match begin() {
            Ok(running) => self.listen(Box::new(running)),
            Err(error) => State::Over(Box::new(Trial::failed(&error))),
        }
    }

    /// Lets the runner work until its turn is used up.
    fn go_on(&mut self) -> State {
        match std::mem::replace(&mut self.state, State::New) {
            State::Waits(running, _) => self.listen(running),
            other => other,
        }
    }

    fn listen(&mut self, mut running: Box<Running>) -> State {
        let pause = running.go_on(&mut |_| {});
        self.slices.resize(running.samples() + 1, 0);
        match pause {
            Pause::Waiting(waiting) => State::Waits(running, waiting),
            Pause::Over => State::Over(Box::new(running.finish())),
        }
    }

    /// The test at which it waits.
    fn test(&self) -> Option<&String> {
        let State::Waits(running, _) = &self.state else { return None };
        self.member.job.tests.get(running.samples()).map(|test| &test.id)
    }

    /// The time that a test takes it, in nanoseconds.
    fn expected(&self, test: usize) -> f64 {
        self.member.expected.get(&self.tests[test]).copied().unwrap_or_default()
    }

    fn finish(self, beats: &[Option<f64>]) -> Sliced {
        let SlicedRunner { member, tests, state, slices, .. } = self;
        let trial = match state {
            State::Over(trial) => *trial,
            State::Waits(running, _) => running.finish(),
            State::New => Trial { outcome: Outcome::Interrupted, ..Trial::default() },
        };
        let cut = |(test, slices): (&dyno_protocol::Test, u32)| {
            let place = tests.iter().position(|known| *known == test.id);
            SampleSlices { slices, beat_ns: place.and_then(|place| beats[place]) }
        };
        let cuts = member.job.tests.iter().zip(slices).map(cut).collect();
        Sliced { trial, cuts }
    }
}

/// The number of operations left up to a goal, if any are.
fn left(goal: Goal, waiting: Waiting) -> Option<u64> {
    let left = rounds::target(goal.share, waiting.of).saturating_sub(waiting.done);
    Some(left).filter(|&operations| operations > 0)
}
