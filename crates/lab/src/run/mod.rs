//! A run: trials in interleaved blocks, until there are enough of them.
//!
//! Each block holds one trial of every contender, in an order drawn anew from the run's seed, so that
//! drift of the machine falls on all alike. After the first block, those contenders that can ([`turns`]) have their
//! trials side by side. Block 0 is warm-up, unless the run does without. The record is saved after every block, and
//! within one that is long: a crash loses seconds of work.

mod circumstances;
mod counting;
mod interleaved;
mod keep;
mod kept_databases;
mod one_trial;
mod plans;
mod stop;
mod sustain;
mod turns;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dyno_engine::proofs::Proofs;
use dyno_plan::Plan;
use dyno_protocol::Interval;
use dyno_record::{Ended, Failure, Run, TrialRecord, Writer};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use crate::content::Contents;
use crate::metronome::Metronome;
use crate::scratch::Scratch;
use crate::trial::{Servers, TrialOptions};

pub use circumstances::{can_fix_addresses, circumstances, under};
pub use counting::Counter;
pub use kept_databases::{KeptDatabases, Place};
pub use stop::{Stop, USEFUL_TRIALS};

/// Trials of each contender in which every operation is timed separately.
const LATENCY_TRIALS: u32 = 3;
/// The longest time that a record may be unsaved while trials end.
const UNSAVED: Duration = Duration::from_secs(10);
/// Failures in a row after which a contender is tried no more.
const MAX_FAILURES: u32 = 2;

/// Receives what happens in a run; every method may do nothing.
pub trait Observer {
    /// The files of a contender (by position) are about to be searched for plaintext, before the first block.
    fn proof_begins(&mut self, _contender: usize, _run: &Run) {}
    /// The transactions of a contender (by position) are about to be probed for anomalies, before the first block.
    fn probe_begins(&mut self, _contender: usize, _run: &Run) {}
    /// dyno is about to count the traffic between a contender (by position) and its server, before the first block.
    fn traffic_begins(&mut self, _contender: usize, _run: &Run) {}
    /// A block begins.
    fn block_begins(&mut self, _block: u32, _run: &Run) {}
    /// [`USEFUL_TRIALS`] of each contender take longer than the budget that was asked for; the schedule holds the
    /// budget as it is now.
    fn needs(&mut self, _time: Duration, _run: &Run) {}
    /// A trial of a contender (by position) begins.
    fn trial_begins(&mut self, _contender: usize, _run: &Run) {}
    /// A test (by position) begins.
    fn test_begins(&mut self, _test: usize, _run: &Run) {}
    /// Recent work of clients of the mix that runs.
    fn interval(&mut self, _interval: &Interval, _run: &Run) {}
    /// A trial has ended and is part of the record.
    fn trial_ends(&mut self, _trial: &TrialRecord, _run: &Run) {}
    /// A contender takes no further part.
    fn dropped(&mut self, _contender: usize, _failure: &Failure, _run: &Run) {}
    /// A warning for people.
    fn warn(&mut self, _message: &str) {}
}

/// The parts that a run needs besides its record.
pub struct Runner<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The folder of databases.
    pub scratch: &'a Scratch,
    /// The conditions of trials.
    pub conduct: &'a TrialOptions,
    /// The servers of those contenders that need one.
    pub servers: &'a mut Servers,
    /// The file to which the record is saved.
    pub file: &'a mut Writer,
    /// The known durability of contenders.
    pub proofs: &'a Proofs,
    /// Decides whether the samples so far are enough; the verdict defines it, not this crate. The slice says for each
    /// contender whether a trial of it failed.
    pub is_precise: &'a dyn Fn(&Run, &[bool]) -> bool,
    /// The rate at which operations arrive in the next trial of a contender (by position) in a test (by id); none where
    /// its clients begin one as soon as they are free. The verdict defines this too.
    pub next_rate: &'a dyn Fn(&Run, usize, &str) -> Option<f64>,
    /// The databases of the newest trials, where they are kept.
    pub left: Option<&'a mut KeptDatabases>,
    /// The interval at which runners report what clients of a mix do, where they can; whole seconds.
    pub every: Option<Duration>,
    /// Receives what happens.
    pub observer: &'a mut dyn Observer,
}

/// The moment of a trial in the run, and its kind.
#[derive(Debug, Clone, Copy)]
struct TrialSlot {
    block: u32,
    latency: bool,
    /// The counter of the runner's work; `None` in ordinary trials.
    counter: Option<Counter>,
    /// True if dyno looks at what its threads wait for, and asks for plans.
    watched: bool,
    /// In nanoseconds since the run began.
    began_ns: u64,
}

/// Facts that are known while a run goes on and stand in no trial.
struct State {
    began: Instant,
    /// Failures in a row, by contender.
    failures: Vec<u32>,
    /// True if contenders may take turns by now: what that needs is known.
    turns: bool,
    metronome: Metronome,
    /// The content of files that trials executed.
    contents: Contents,
}

impl State {
    fn when(&self, block: u32, latency: bool) -> TrialSlot {
        TrialSlot {
            block,
            latency,
            counter: None,
            watched: false,
            began_ns: nanoseconds(self.began.elapsed()),
        }
    }

    /// Those that have not failed too often.
    fn alive(&self) -> impl Iterator<Item = usize> {
        (0..self.failures.len()).filter(|&index| self.failures[index] < MAX_FAILURES)
    }
}

/// The result of one trial.
enum TrialStep {
    Done,
    Stopped,
}

impl Runner<'_> {
    /// Runs trials until `run.schedule` is fulfilled. The record is complete up to the last finished
    /// trial even when an error is returned.
    pub fn execute(&mut self, run: &mut Run) -> Result<()> {
        let mut state = State {
            began: Instant::now(),
            failures: vec![0; run.contenders.len()],
            turns: false,
            metronome: Metronome::new(&self.conduct.placement),
            contents: Contents::default(),
        };
        let mut stop = Stop::new(run);
        if run.schedule.turns && !run.schedule.warm_up {
            turns::apart_for_all(run, "without a warm-up nothing is known of its pace");
        }
        for block in u32::from(!run.schedule.warm_up).. {
            let block_began = Instant::now();
            self.observer.block_begins(block, run);
            let step = self.block(run, &mut state, block);
            run.elapsed_ns = nanoseconds(state.began.elapsed());
            let step = step.inspect_err(|_| {
                run.ended = Ended::Failed;
                self.save(run);
            })?;
            if let TrialStep::Stopped = step {
                run.ended = Ended::Interrupted;
                break;
            }
            stop.block_took(block_began.elapsed());
            if block == u32::from(!run.schedule.warm_up)
                && let Some(needed) = stop.extend(run, block)
            {
                self.observer.needs(needed, run);
            }
            if !state.alive().any(|index| run.contenders[index].named) {
                run.ended = Ended::Failed;
                break;
            }
            if block == 0 && run.schedule.turns {
                turns::decide(self.plan, run);
                state.turns = true;
            }
            let is_precise = || {
                let failed: Vec<bool> = state.failures.iter().map(|&failures| failures > 0).collect();
                (self.is_precise)(run, &failed)
            };
            if let Some(ended) = stop.decide(block, is_precise) {
                run.ended = ended;
                if let TrialStep::Done = self.latencies(run, &mut state)?
                    && let TrialStep::Done = self.counts(run, &mut state)?
                {
                    self.why(run, &mut state)?;
                }
                break;
            }
            self.save(run);
        }
        self.file.save(run)
    }

    /// One trial of each contender, in a random order; those that take turns have theirs side by side.
    fn block(&mut self, run: &mut Run, state: &mut State, block: u32) -> Result<TrialStep> {
        let mut random = block_order(run.schedule.seed, block);
        let mut order: Vec<usize> = state.alive().collect();
        order.shuffle(&mut random);
        let together: Vec<usize> = if state.turns { slicing(run, &order) } else { Vec::new() };
        let mut saved = Instant::now();
        for contender in order {
            let step = if !together.contains(&contender) {
                self.trial(run, state, state.when(block, false), contender)?
            } else if together.first() == Some(&contender) {
                self.side_by_side(run, state, block, &together, &mut random)?
            } else {
                continue;
            };
            if let TrialStep::Stopped = step {
                return Ok(step);
            }
            if saved.elapsed() > UNSAVED {
                run.elapsed_ns = nanoseconds(state.began.elapsed());
                self.save(run);
                saved = Instant::now();
            }
        }
        Ok(TrialStep::Done)
    }

    /// After the measured blocks, the trials in which every operation is timed separately.
    fn latencies(&mut self, run: &mut Run, state: &mut State) -> Result<TrialStep> {
        let trials = if run.schedule.latency { LATENCY_TRIALS } else { 0 };
        self.extra(run, state, trials, |state, block| state.when(block, true))
    }

    /// After those, the trials in which something around the runner counts.
    fn counts(&mut self, run: &mut Run, state: &mut State) -> Result<TrialStep> {
        let counts = run.schedule.counts;
        let counters = Counter::ALL.into_iter().filter(|counter| counts && counter.check().is_ok());
        for counter in counters {
            let when =
                |state: &State, block| TrialSlot { counter: Some(counter), ..state.when(block, false) };
            if let TrialStep::Stopped = self.extra(run, state, counting::PASSES, when)? {
                return Ok(TrialStep::Stopped);
            }
        }
        Ok(TrialStep::Done)
    }

    /// After all others, the trial in which dyno looks at what the threads wait for.
    fn why(&mut self, run: &mut Run, state: &mut State) -> Result<TrialStep> {
        let trials = u32::from(run.schedule.why);
        self.extra(run, state, trials, |state, block| TrialSlot { watched: true, ..state.when(block, false) })
    }

    /// Trials after the measured ones: `trials` blocks of them.
    fn extra(
        &mut self,
        run: &mut Run,
        state: &mut State,
        trials: u32,
        when: impl Fn(&State, u32) -> TrialSlot,
    ) -> Result<TrialStep> {
        let last = run.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        for block in last + 1..=last + trials {
            self.save(run);
            let kind = when(state, block);
            // Before they are shuffled: the order follows from the seed and those that take part.
            let mut order: Vec<usize> =
                state.alive().filter(|&contender| self.takes_part(kind, contender)).collect();
            order.shuffle(&mut block_order(run.schedule.seed, block));
            for contender in order {
                let when = when(state, block);
                if let TrialStep::Stopped = self.trial(run, state, when, contender)? {
                    run.ended = Ended::Interrupted;
                    return Ok(TrialStep::Stopped);
                }
            }
            run.elapsed_ns = nanoseconds(state.began.elapsed());
        }
        Ok(TrialStep::Done)
    }

    /// True if a contender has a trial of this kind.
    fn takes_part(&self, kind: TrialSlot, contender: usize) -> bool {
        let contender = &self.plan.contenders[contender];
        kind.counter.is_none_or(|counter| counter.takes(contender))
            && (!kind.watched || !contender.engine.harness)
    }

    /// Saves the record between trials. A failure is reported and the run goes on: what was saved before is
    /// still there, and space may be back by the next block.
    fn save(&mut self, run: &Run) {
        if let Err(error) = self.file.save(run) {
            self.observer.warn(&format!("{error:#}; the file keeps the trials saved before"));
        }
    }
}

/// Lets the file system come to rest, so that what one contender left to be written is not written
/// during the next one's trial. The database is removed first: no one needs it on the device.
fn sync_scratch(directory: &Path) {
    let parent = directory.parent().map(Path::to_owned);
    let _ = std::fs::remove_dir_all(directory);
    if let Some(folder) = parent {
        sync_file_system(&folder);
    }
}

/// Waits until the file system of a folder has written what was left to be written.
fn sync_file_system(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = nix::unistd::syncfs(&folder);
    }
}

/// Those of some contenders that take turns, in their order.
fn slicing(run: &Run, order: &[usize]) -> Vec<usize> {
    order.iter().copied().filter(|&index| run.contenders[index].apart.is_none()).collect()
}

/// The order in which a run's seed puts the trials of these contenders in a block, given in the order of their names.
/// Those that take turns are at the place of the first of them.
pub fn order_of_block(run: &Run, block: u32, contenders: &[usize]) -> Vec<usize> {
    let mut order = contenders.to_vec();
    order.shuffle(&mut block_order(run.schedule.seed, block));
    let is_extra = run.trials.iter().any(|trial| trial.block == block && trial.is_extra());
    if block == 0 || !run.schedule.turns || is_extra {
        return order;
    }
    let together = slicing(run, &order);
    let at_place = |&contender: &usize| match together.first() {
        Some(first) if *first == contender => together.clone(),
        _ if together.contains(&contender) => Vec::new(),
        _ => vec![contender],
    };
    order.iter().flat_map(at_place).collect()
}

fn block_order(seed: u64, block: u32) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::from(block));
    rng
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A seed for a run that names none: the time, which no one chose.
pub fn fresh_seed() -> Result<u64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // Small enough to be exact in every JSON reader.
    Ok(now.context("the system's clock is before 1970")?.as_nanos() as u64 % (1 << 53))
}
