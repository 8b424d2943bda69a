//! Trials side by side: all their runners are there, and one of them works at a time.
//!
//! The contenders go through the tests together, in slices of a few milliseconds and in an order drawn anew for each
//! round ([`rounds`]), so that what the machine does for a second or longer falls on all of them alike. A runner that
//! has no turn waits for a line on its standard input and takes no processor time; its clock stands.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::time::Duration;

use anyhow::Result;
use dyno_engine::Contender;
use dyno_protocol::{Job, Waiting};
use rand::Rng;
use rand::seq::SliceRandom;

use super::parts::{self, Group};
use super::rounds::{self, Goal, Pace};
use super::running::{Pause, Running};
use super::{Outcome, Trial, TrialOptions};
use crate::metronome::Metronome;

/// The time of the quickest contender between two beats of the metronome, at least.
const BEAT_EVERY: Duration = Duration::from_millis(40);

/// The time that a contender needs for each test, by the test's id.
pub type Expected = BTreeMap<String, Pace>;

/// One of the trials that run side by side.
#[derive(Debug)]
pub struct InterleavedTrial {
    /// The contender.
    pub contender: Contender,
    /// The command that starts its runner.
    pub command: Vec<String>,
    /// Its job, which has turns.
    pub job: Job,
    /// The expected time of its tests.
    pub expected: Expected,
    /// The tests, by place, in which it has the machine to itself. Neighbouring ones are one turn.
    pub alone: BTreeSet<usize>,
}

/// A trial that was done in slices.
#[derive(Debug, Default)]
pub struct Sliced {
    /// The finished trial.
    pub trial: Trial,
    /// The cut of each sample; none for a test that it did alone.
    pub cuts: Vec<Option<SampleSlices>>,
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
    /// `on_test` receives the place of a test in that list as it begins. Where members do tests by themselves, `settle`
    /// is called before each of them and before the others, so that none waits for what another left to be written.
    ///
    /// One that fails leaves the others working. If a signal asks the run to stop, all are interrupted.
    pub fn run_together(
        &self,
        members: &[InterleavedTrial],
        tests: &[String],
        random: &mut impl Rng,
        metronome: &mut Metronome,
        mut on_test: impl FnMut(usize),
        settle: impl Fn(),
    ) -> Vec<Sliced> {
        let Some(first) = members.first() else { return Vec::new() };
        let watched = self.watched(&first.job);
        let moment = watched.moment();
        let mut stage = Stage {
            members,
            tests,
            seats: members.iter().map(|member| SlicedRunner::new(member, self, tests)).collect(),
            beats: vec![Vec::new(); tests.len()],
            pulse: Pulse::default(),
            metronome,
        };
        let alone: Vec<&BTreeSet<usize>> = members.iter().map(|member| &member.alone).collect();
        let settles = alone.iter().any(|tests| !tests.is_empty());
        for mut part in parts::parts(&alone, tests.len()) {
            part.groups.shuffle(random);
            for group in part.groups {
                if settles {
                    settle();
                }
                match group {
                    Group::Sliced(seats) => stage.slice(&seats, part.tests.clone(), random, &mut on_test),
                    Group::Alone(seat) => {
                        on_test(part.tests.start);
                        let whole: Vec<Goal> =
                            part.tests.clone().map(|test| Goal { test, share: 1.0 }).collect();
                        stage.seats[seat].take_turn(&whole);
                    }
                }
            }
        }
        let Stage { seats, beats, .. } = stage;
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

/// The runners at their work.
struct Stage<'a> {
    members: &'a [InterleavedTrial],
    tests: &'a [String],
    seats: Vec<SlicedRunner<'a>>,
    /// The beats during each test, in nanoseconds.
    beats: Vec<Vec<f64>>,
    pulse: Pulse,
    metronome: &'a mut Metronome,
}

impl Stage<'_> {
    /// Does some tests in slices, with some of the runners.
    fn slice(
        &mut self,
        seats: &[usize],
        tests: Range<usize>,
        random: &mut impl Rng,
        on_test: &mut impl FnMut(usize),
    ) {
        let quickest = self.quickest(seats, tests.clone());
        let mut before: Option<Goal> = None;
        for round in rounds::rounds(&quickest, tests.start) {
            if let Some(goal) = round.iter().find(|goal| before.is_none_or(|before| before.test != goal.test))
            {
                on_test(goal.test);
            }
            let time =
                rounds::parts(&round, before).map(|(test, share)| quickest[test - tests.start].ns * share);
            let beats = self.pulse.is_due(time.sum());
            let beat = self.play(seats, &round, before, beats, random);
            for goal in &round {
                self.beats[goal.test].extend(self.pulse.newest(beat));
            }
            before = round.last().copied();
        }
    }

    /// The time that each of some tests takes the quickest of some; the harness, which takes almost no time, does not
    /// count.
    fn quickest(&self, seats: &[usize], tests: Range<usize>) -> Vec<Pace> {
        let members = || {
            seats.iter().map(|&seat| &self.members[seat]).filter(|member| !member.contender.engine.harness)
        };
        let quickest = |test: &String| {
            let paces = members().filter_map(|member| member.expected.get(test).copied());
            paces.min_by(|one, other| one.ns.total_cmp(&other.ns)).unwrap_or_default()
        };
        self.tests[tests].iter().map(quickest).collect()
    }

    /// One round: the turns of some of the runners, and a beat of the metronome if the round has one, in a random
    /// order. Returns the beat.
    fn play(
        &mut self,
        seats: &[usize],
        round: &[Goal],
        before: Option<Goal>,
        beats: bool,
        random: &mut impl Rng,
    ) -> Option<f64> {
        // None: the metronome.
        let mut order: Vec<Option<usize>> = beats.then_some(None).into_iter().collect();
        let mut turns: BTreeMap<usize, VecDeque<Vec<Goal>>> = BTreeMap::new();
        for &seat in seats {
            let own = rounds::turns(round, before, |test| self.seats[seat].expected(test));
            order.extend(own.iter().map(|_| Some(seat)));
            turns.insert(seat, own.into());
        }
        order.shuffle(random);
        let mut beat = None;
        for turn in order {
            match turn {
                None => beat = self.metronome.beat(),
                Some(seat) => {
                    let goals = turns.get_mut(&seat).and_then(VecDeque::pop_front);
                    self.seats[seat].take_turn(&goals.unwrap_or_default());
                }
            }
        }
        beat
    }
}

/// The moments of the metronome: rarely enough that its work takes little of the time and of the caches of the slices.
struct Pulse {
    /// The expected time of the quickest contender since the last beat, in nanoseconds.
    since_ns: f64,
    newest: Option<f64>,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse { since_ns: f64::INFINITY, newest: None }
    }
}

impl Pulse {
    /// True if a beat belongs into a round, which takes the quickest contender this time, in nanoseconds.
    fn is_due(&mut self, round_ns: f64) -> bool {
        let is_due = self.since_ns >= BEAT_EVERY.as_nanos() as f64;
        self.since_ns = round_ns + if is_due { 0.0 } else { self.since_ns };
        is_due
    }

    /// The newest beat, where the round may have had one.
    fn newest(&mut self, beat: Option<f64>) -> Option<f64> {
        self.newest = beat.or(self.newest);
        self.newest
    }
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
            let member = self.member;
            Running::start(self.conduct, &member.command, &member.contender, None, &member.job)
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
        self.member.expected.get(&self.tests[test]).map_or(0.0, |pace| pace.ns)
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
            let place = place.filter(|place| !member.alone.contains(place));
            place.map(|place| SampleSlices { slices, beat_ns: beats[place] })
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
